import { ENV } from '../../shared/process/contract.ts';
import { indexerEnv, serviceArgs, serviceEnv } from './environment.ts';
import type { Runtime } from './runtime.ts';

/** Our own Node pack service. */
export const node: Runtime<'node'> = {
  // It ends what is left 8 s after SIGTERM (C32).
  drainMarginMs: 1000,
  keepsConnections: true,

  launch: (settings, { token, indexPath, childProgram, hostEnv, buildDir }) => ({
    command: settings.runtime.node,
    args: [childProgram, 'serve', ...serviceArgs(settings, indexPath)],
    cwd: settings.path,
    env: serviceEnv(settings, token, hostEnv, { [ENV.buildDir]: buildDir }),
  }),

  index: (settings, { outputPath, childProgram, hostEnv, buildDir }) => ({
    command: settings.runtime.node,
    args: [childProgram, 'index', '--pack-dir', settings.path, '--output', outputPath, '--json'],
    cwd: settings.path,
    env: indexerEnv(settings, hostEnv, { [ENV.buildDir]: buildDir }),
  }),
};
