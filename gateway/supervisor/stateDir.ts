import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { tenantKey } from '../../shared/protocol/tenantId.ts';

/** Where a deployment's built index and bundles go. */
export interface DeploymentFolder {
  readonly indexPath: string;
  readonly buildDir: string;
}

/** A folder per deployment, named by a hash: an id may hold anything that means something to a file system. */
export function deploymentFolder(stateDir: string, tenantId: string, name: string): DeploymentFolder {
  const hash = createHash('sha256')
    .update(`${tenantKey(tenantId)}\0${name}`)
    .digest('hex')
    .slice(0, 24);
  const folder = join(stateDir, 'deployments', hash);
  return { indexPath: join(folder, 'index.json'), buildDir: join(folder, 'build') };
}

/** Creates it for its owner alone; packs of other users must not write what is served. */
export async function prepareFolder(folder: DeploymentFolder): Promise<void> {
  await mkdir(folder.buildDir, { recursive: true, mode: 0o700 });
}
