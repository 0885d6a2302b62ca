import type { IncomingMessage } from 'node:http';

/**
 * The body of a request; undefined when it has more than `maxBytes`. What is over is taken and thrown away, so that the
 * answer is not lost to a connection that closes on a sender.
 */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    const piece = chunk as Buffer;
    bytes += piece.length;
    if (bytes <= maxBytes) chunks.push(piece);
    else chunks.length = 0;
  }
  return bytes <= maxBytes ? Buffer.concat(chunks) : undefined;
}
