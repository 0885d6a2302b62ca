import { join } from 'node:path';
import { findRealServices } from '../support/realServices.ts';
import { packDir } from './pack.ts';

const DIST = process.env.PACKGATE_TEST_DIST ?? join(import.meta.dirname, '..', '..', 'dist');
const CHILD = join(DIST, 'child', 'main.js');
const OURS = {
  service: [process.execPath, CHILD, 'serve'],
  indexer: [process.execPath, CHILD, 'index'],
  hosting: { runtime: 'node' },
};

/** Names of the targets, as deviations use them. */
export const DIRECT = ['our child', 'our child (TypeScript)', 'real Python', 'real Node'] as const;
export type DirectName = (typeof DIRECT)[number];
export type TargetName = DirectName | `${DirectName} through the gateway`;

/** A pack service program and the conformance pack in its language. */
export interface Program {
  readonly name: DirectName;
  /** The pack's folder. */
  readonly packDir: string;
  /** Command and first arguments of the service. */
  readonly service: readonly string[];
  /** Command and first arguments of the indexer. */
  readonly indexer: readonly string[];
  /** Settings of a deployment that is run by it. */
  readonly hosting: Readonly<Record<string, unknown>>;
}

/** The program of a target, or why it is not to be had. */
export function programOf(name: DirectName): Program | { readonly reason: string } {
  const real = findRealServices();
  switch (name) {
    case 'our child':
      return { name, packDir: packDir('conformance-js'), ...OURS };
    case 'our child (TypeScript)':
      return { name, packDir: packDir('conformance-ts'), ...OURS };
    case 'real Python':
      if (!real.isFound) return real;
      return {
        name,
        packDir: packDir('conformance-python'),
        service: [real.python, '-m', 'kindgi.pack', 'serve'],
        indexer: [real.python, '-m', 'kindgi.pack', 'index'],
        hosting: { runtime: 'python', python: real.python },
      };
    case 'real Node':
      if (!real.isFound) return real;
      return {
        name,
        packDir: packDir('conformance-js'),
        service: real.nodeService,
        indexer: real.nodeIndexer,
        hosting: { runtime: 'command', command: real.nodeService },
      };
  }
}
