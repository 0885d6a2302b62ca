const SECRET_KEY = /(?:authorization|cookie|token|password|passwd|secrets?|apikey|privatekey|passphrase|credentials?)$/;
const MAX_DEPTH = 8;

/**
 * A copy of `value` that JSON can hold and that shows no secret (C27): fields with a telling name are replaced, tokens
 * and passwords inside strings are masked, depth over 8 and cycles become marks. Never throws, whatever pack code passes.
 */
export function redact(value: unknown): unknown {
  return copy(value, []);
}

function copy(value: unknown, parents: readonly object[]): unknown {
  switch (typeof value) {
    case 'string':
      return mask(value);
    case 'number':
    case 'boolean':
    case 'undefined':
      return value;
    case 'bigint':
      return String(value);
    case 'function':
    case 'symbol':
      return undefined;
    case 'object':
      return value === null ? null : copyObject(value, parents);
  }
}

function copyObject(value: object, parents: readonly object[]): unknown {
  if (parents.includes(value)) return '[cycle]';
  if (parents.length > MAX_DEPTH) return '[too deep]';
  const line = [...parents, value];
  try {
    if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
    if (value instanceof Error) return copyError(value);
    if (Array.isArray(value)) return value.map((item) => copy(item, line) ?? null);
    if ('toJSON' in value && typeof value.toJSON === 'function') return copy((value.toJSON as () => unknown)(), line);
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, isSecretKey(key) ? '[redacted]' : copy(item, line)]),
    );
  } catch {
    return '[unreadable]';
  }
}

function copyError(error: Error): unknown {
  return { name: error.name, message: mask(error.message), stack: mask(error.stack ?? '') };
}

function isSecretKey(key: string): boolean {
  return SECRET_KEY.test(key.toLowerCase().replaceAll(/[-_]/g, ''));
}

function mask(text: string): string {
  if (!/kgi_|bearer |:\/\//i.test(text)) return text;
  return text
    .replaceAll(/\bkgi_[a-z0-9]+_[A-Za-z0-9_-]+/g, 'kgi_[redacted]')
    .replaceAll(/\b(bearer) +[A-Za-z0-9._~+/=-]+/gi, '$1 [redacted]')
    .replaceAll(/(:\/\/[^\s/:@]*):[^\s/@]+@/g, '$1:***@');
}
