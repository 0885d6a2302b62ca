import assert from 'node:assert/strict';

/** One answer as it came over the wire, its framing removed. */
export interface RawResponse {
  readonly status: number;
  /** Name (as sent) and value, in order, duplicates included. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
  /** What ended the body: its length, its last chunk, the end of the connection; `none` where there can be no body. */
  readonly framing: 'length' | 'chunked' | 'close' | 'none';
  /** The whole time from the request's last byte to the answer's, in milliseconds. */
  readonly tookMs: number;
}

/** The one value of a header, undefined when it is missing; a header sent twice fails the clause. */
export function headerOf(response: RawResponse, name: string): string | undefined {
  const values = response.headers.filter(([key]) => key.toLowerCase() === name.toLowerCase());
  assert.ok(values.length <= 1, `${name} is sent ${values.length} times`);
  return values[0]?.[1];
}

interface Parsed {
  readonly response: Omit<RawResponse, 'tookMs'>;
  /** Bytes used from the start of the buffer. */
  readonly used: number;
}

/**
 * The first answer in `bytes`, or undefined when more bytes are needed. Bytes that are no HTTP answer fail the clause.
 * `isHead`: the answer has no body whatever its headers say. `isEnded`: no more bytes will come.
 */
export function parseResponse(bytes: Buffer, isHead: boolean, isEnded: boolean): Parsed | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const [statusLine = '', ...lines] = bytes.subarray(0, headEnd).toString('latin1').split('\r\n');
  const status = Number(/^HTTP\/1\.[01] (\d{3})(?: |$)/.exec(statusLine)?.[1]);
  assert.ok(status >= 100, `not the start of an HTTP answer: ${statusLine}`);
  const headers = lines.map((line): readonly [string, string] => {
    const colon = line.indexOf(':');
    assert.ok(colon > 0, `not a header line: ${line}`);
    return [line.slice(0, colon), line.slice(colon + 1).trim()];
  });
  const first = (name: string): string | undefined => headers.find(([key]) => key.toLowerCase() === name)?.[1];

  const start = headEnd + 4;
  const done = (framing: RawResponse['framing'], body: Buffer, used: number): Parsed => ({
    response: { status, headers, body, framing },
    used,
  });
  if (isHead || status < 200 || status === 204 || status === 304) return done('none', Buffer.alloc(0), start);
  if (first('transfer-encoding')?.toLowerCase() === 'chunked') {
    const chunks = parseChunks(bytes, start);
    return chunks && done('chunked', chunks.body, chunks.end);
  }
  const announced = first('content-length');
  if (announced !== undefined) {
    assert.match(announced, /^\d+$/, 'content-length is no number');
    const end = start + Number(announced);
    return bytes.length < end ? undefined : done('length', bytes.subarray(start, end), end);
  }
  return isEnded ? done('close', bytes.subarray(start), bytes.length) : undefined;
}

function parseChunks(bytes: Buffer, start: number): { body: Buffer; end: number } | undefined {
  const parts: Buffer[] = [];
  let at = start;
  for (;;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(bytes.subarray(at, lineEnd).toString('latin1'), 16);
    assert.ok(size >= 0, 'a chunk has no size');
    const dataEnd = lineEnd + 2 + size;
    if (bytes.length < dataEnd + 2) return undefined;
    parts.push(bytes.subarray(lineEnd + 2, dataEnd));
    at = dataEnd + 2;
    if (size === 0) return { body: Buffer.concat(parts), end: at };
  }
}
