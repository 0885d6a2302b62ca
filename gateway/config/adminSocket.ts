import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { MAX_SOCKET_PATH_BYTES } from './listen.ts';

const NAME = 'admin.sock';

/**
 * The admin side's socket where none is configured: `admin.sock` in `stateDir`. A path that the kernel has no room for
 * is replaced by one in a folder of the user's own below `tmpDir`, the same for the same `stateDir`.
 */
export function defaultAdminSocket(stateDir: string, tmpDir: string, uid: number): string {
  const path = join(stateDir, NAME);
  if (Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES) return path;
  const digest = createHash('sha256').update(stateDir).digest('hex').slice(0, 16);
  return join(tmpDir, `packgate-${uid}-${digest}`, NAME);
}
