import type { Level } from '../../shared/log.ts';
import type { PackInfo } from '../../shared/protocol/messages.ts';
import { canonicalText } from '../index/canonical.ts';
import { BootFailure, locatePack } from '../serve/boot.ts';
import { findMissing } from '../serve/environment.ts';
import { createEvents } from '../serve/events.ts';
import { packInfo } from '../serve/pack.ts';
import { assembleService, openService } from '../serve/run.ts';
import { readServiceOptions } from './options.ts';
import type { ServiceOptions } from './options.ts';
import { WorkFolder } from './workFolder.ts';

export { BootFailure } from '../serve/boot.ts';
export type { ServiceOptions } from './options.ts';
export type { PackInfo } from '../../shared/protocol/messages.ts';

/** What `createPackService` is given. Relative paths are taken from the working folder. */
export type PackServiceOptions = ServiceOptions & {
  /** Takes each record, one line of JSON with its line end. Default: nobody does. */
  readonly log?: (line: string) => void;
  /** The least grave level that is recorded. Default: `info`. */
  readonly logLevel?: Level;
  /** Where modules built from TypeScript are kept and found again. Default: a temporary folder that goes with `close`. */
  readonly buildDir?: string;
} & (
    | {
        /** The index file. */
        readonly indexPath: string;
        /** The pack's folder. Default: the folder of the index file. */
        readonly moduleRoot?: string;
        readonly index?: undefined;
      }
    | {
        /** The index itself; its hash is that of its canonical text, which is what the indexer writes. */
        readonly index: object;
        /** The pack's folder. */
        readonly moduleRoot: string;
        readonly indexPath?: undefined;
      }
  );

/** A pack service in this process. Its pack is loaded; it serves from `listen` to `close`. */
export interface PackService {
  /** What `GET /v1/info` answers. */
  readonly info: PackInfo;
  /**
   * Starts to serve, once. Default: a free port of 127.0.0.1. Rejects with a `BootFailure` when the address is taken, and
   * may be called again then.
   */
  listen(port?: number, host?: string): Promise<{ readonly port: number }>;
  /** Refuses new calls, gives those under way up to 8 seconds, and ends. Called once more meanwhile, it cuts them off. */
  close(): Promise<void>;
}

/**
 * Loads a pack and makes a pack service of it, the same as `packgate-child serve` is, for tests and for programs that
 * serve a pack themselves. Several may live in one process. Its environment and its signals are not touched; a mistake of
 * the pack outside a call can end the process, as in any program. What Node keeps per process is shared: plain modules that
 * two services have in common are loaded once, `packgate/pack` resolves, and TypeScript turns source maps on.
 *
 * Throws a `BootFailure`, whose `problems` has one text per problem, when options, index or modules are not usable.
 */
export async function createPackService(options: PackServiceOptions): Promise<PackService> {
  const folder = new WorkFolder();
  try {
    return await assemble(options, folder);
  } catch (error) {
    folder.remove();
    throw error;
  }
}

async function assemble(options: PackServiceOptions, folder: WorkFolder): Promise<PackService> {
  const { index, indexPath, moduleRoot, env, log = () => undefined, logLevel = 'info', buildDir } = options;
  if ((index === undefined) === (indexPath === undefined)) {
    throw new BootFailure(['Expected either `index` or `indexPath`: one says what to serve, not both']);
  }
  const file = indexPath ?? folder.write('index.json', canonicalText(index));
  const settings = readServiceOptions(options, { index: file, moduleRoot, cwd: process.cwd() });
  const events = createEvents({ level: logLevel, levels: new Map(), format: 'json', write: log });
  const located = await locatePack(settings);
  const missingEnv = env === undefined ? [] : findMissing(env, located.index.env);
  const service = await assembleService(
    located,
    { settings, events, missingEnv },
    {
      buildDir: () => buildDir ?? folder.path(),
      keptDir: buildDir,
      onLoopEmpty,
    },
  );

  let state: 'loaded' | 'listening' | 'closed' = 'loaded';
  let opening: Promise<{ readonly port: number; readonly stopped: Promise<void> }> | undefined;
  let signalStop = (): void => undefined;
  return {
    info: packInfo(service.service.pack, missingEnv),
    async listen(port = 0, host = '127.0.0.1') {
      if (state !== 'loaded') throw new Error(`Expected a service that does not listen yet, got one that is ${state}`);
      state = 'listening';
      opening = openService(service, { port, host }, (listener) => (signalStop = listener));
      try {
        return { port: (await opening).port };
      } catch (error) {
        opening = undefined;
        if (state === 'listening') state = 'loaded';
        throw error;
      }
    },
    async close() {
      state = 'closed';
      const opened = await opening?.catch(() => undefined);
      signalStop();
      await opened?.stopped;
      folder.remove();
    },
  };
}

/** Only while modules load: one whose top-level await never settles would let the process end without a word. */
function onLoopEmpty(listener: () => void): () => void {
  process.once('beforeExit', listener);
  return () => process.off('beforeExit', listener);
}
