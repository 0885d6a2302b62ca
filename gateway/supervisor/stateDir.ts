import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { tenantKey } from '../../shared/protocol/tenantId.ts';

/** Where a deployment keeps what it is served from. */
export interface DeploymentFolder {
  readonly path: string;
  /** A folder per build: index and copy of the code. */
  readonly buildsDir: string;
  /** What our Node pack service and indexer make of sources; named by content, so that all builds share it. */
  readonly bundleDir: string;
  /** Which build is served. */
  readonly servingPath: string;
}

/** A folder per deployment, named by a hash: an id may hold anything that means something to a file system. */
export function deploymentFolder(stateDir: string, tenantId: string, name: string): DeploymentFolder {
  const hash = createHash('sha256')
    .update(`${tenantKey(tenantId)}\0${name}`)
    .digest('hex')
    .slice(0, 24);
  const path = join(stateDir, 'deployments', hash);
  return {
    path,
    buildsDir: join(path, 'builds'),
    bundleDir: join(path, 'build'),
    servingPath: join(path, 'serving.json'),
  };
}
