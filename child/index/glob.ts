/** A discovery pattern, ready to match paths relative to the pack's folder (E24). */
export interface Glob {
  /** The folder from which it is walked: everything before its first wildcard; empty for the pack's own folder. */
  readonly base: string;
  matches(path: string): boolean;
}

/** Compiles `**`, `*`, `?` and `{a,b}`; there is no negation. Forward slashes only. */
export function compileGlob(pattern: string): Glob {
  const parts = pattern.replace(/^\.\//, '').split('/');
  const wild = parts.findIndex((part) => /[*?{]/.test(part));
  const base = wild < 0 ? parts.slice(0, -1) : parts.slice(0, wild);
  const expression = new RegExp(`^${translate(parts.join('/'))}$`);
  return { base: base.join('/'), matches: (path) => expression.test(path) };
}

function translate(pattern: string): string {
  let out = '';
  let depth = 0;
  for (let at = 0; at < pattern.length; at += 1) {
    const char = pattern[at] ?? '';
    if (pattern.startsWith('**/', at)) {
      out += '(?:[^/]+/)*';
      at += 2;
    } else if (pattern.startsWith('**', at)) {
      out += '.*';
      at += 1;
    } else if (char === '*') out += '[^/]*';
    else if (char === '?') out += '[^/]';
    else if (char === '{') {
      depth += 1;
      out += '(?:';
    } else if (char === '}' && depth > 0) {
      depth -= 1;
      out += ')';
    } else if (char === ',' && depth > 0) out += '|';
    else out += char.replace(/[.+^$()|[\]\\{}]/, '\\$&');
  }
  return out + ')'.repeat(depth);
}
