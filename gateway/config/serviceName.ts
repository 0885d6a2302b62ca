import { createHash } from 'node:crypto';
import { tenantKey } from '../../shared/protocol/tenantId.ts';

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';
const LENGTH = 20;

/**
 * Kindgi's name for the service of one deployment, with which the host of its endpoint begins (protocol G2): `kp-` and
 * the first 20 characters of the base32 of SHA-256 over `<tenantId>:<deploymentId>`. A UUID counts in lower case, so
 * that both spellings of one tenant have one name.
 */
export function serviceName(tenantId: string, deploymentId: string): string {
  const digest = createHash('sha256')
    .update(`${tenantKey(tenantId)}:${deploymentId}`)
    .digest();
  let name = '';
  let bits = 0;
  let bitCount = 0;
  for (const byte of digest) {
    bits = (bits << 8) | byte;
    bitCount += 8;
    while (bitCount >= 5 && name.length < LENGTH) {
      bitCount -= 5;
      name += ALPHABET.charAt((bits >> bitCount) & 31);
    }
    bits &= (1 << bitCount) - 1;
    if (name.length === LENGTH) break;
  }
  return `kp-${name}`;
}
