import { createHash } from 'node:crypto';

/** Of our own, so that no other v5 id comes out the same. */
const NAMESPACE = Buffer.from('6f1d3b0a8c5e4f7792d04b6a1e9c83f5', 'hex');

/** The tenant of a pack in development: the same id for the same folder, every time. A UUID of version 5 (RFC 9562). */
export function tenantOf(path: string): string {
  const bytes = createHash('sha1').update(NAMESPACE).update(path).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x50;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
