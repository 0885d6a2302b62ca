import { indexerEnv, serviceArgs, serviceEnv } from './environment.ts';
import type { Runtime } from './runtime.ts';

const MODULE = ['-m', 'kindgi.pack'];

const PYTHON_ENV = {
  // Packs may be read-only or shared: nothing is written into their folders.
  PYTHONDONTWRITEBYTECODE: '1',
  // What a handler prints is shown when it is printed.
  PYTHONUNBUFFERED: '1',
};

/** The released Python pack service, `python -m kindgi.pack`. */
export const python: Runtime<'python'> = {
  // It cancels what is left 2 s after the 8 s of its drain and then unwinds (C32).
  drainMarginMs: 3000,
  // It leaves Nagle's algorithm on: every later call on a connection would stall for 44 ms.
  keepsConnections: false,

  launch: (settings, { token, indexPath, hostEnv }) => ({
    command: settings.runtime.python,
    args: [...MODULE, 'serve', ...serviceArgs(settings, indexPath)],
    cwd: settings.path,
    env: serviceEnv(settings, token, hostEnv, PYTHON_ENV),
  }),

  index: (settings, { outputPath, hostEnv }) => ({
    command: settings.runtime.python,
    args: [...MODULE, 'index', '--pack-dir', settings.path, '--output', outputPath, '--json'],
    cwd: settings.path,
    env: indexerEnv(settings, hostEnv, PYTHON_ENV),
  }),
};
