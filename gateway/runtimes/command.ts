import { serviceArgs, serviceEnv } from './environment.ts';
import type { Runtime } from './runtime.ts';

/** Any program that keeps the process contract; its pack comes with an index. */
export const command: Runtime<'command'> = {
  // What runs there is not known: the more patient of the two known services is assumed (C34), …
  drainMarginMs: 3000,
  // … and the more careful one.
  keepsConnections: false,

  launch: (settings, { token, indexPath, hostEnv }) => {
    const [program = '', ...args] = settings.runtime.command;
    return {
      command: program,
      args: [...args, ...serviceArgs(settings, indexPath)],
      cwd: settings.path,
      env: serviceEnv(settings, token, hostEnv),
    };
  },

  index: () => undefined,
};
