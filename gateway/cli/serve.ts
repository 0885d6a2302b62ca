import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Logger } from 'pino';
import { EXIT } from '../../shared/process/contract.ts';
import { systemClock } from '../clock.ts';
import type { Configuration, ListenAddress } from '../config/configuration.ts';
import { listenText } from '../config/listen.ts';
import { load } from '../config/load.ts';
import type { Loaded } from '../config/load.ts';
import { problemText, warningText } from '../config/problem.ts';
import { hasSeveralTenants, openGateway } from '../gateway.ts';
import { openLog } from '../log.ts';
import { Reconfiguration } from '../reconfigure.ts';
import { drainWhenTold } from '../shutdown.ts';
import { CONFIG_OPTION, DEFAULT_CONFIG_FILE, UsageError } from './command.ts';
import type { Command, Io, Options } from './command.ts';

const STDERR = 2;

const NOT_ISOLATED =
  "all packs run as one user, so one tenant's pack can read another's environment in /proc: host only packs you trust";

const FAULTS_ON_ORDER =
  'calls and starts are made to fail as faults: of the configuration says: this serves no real caller';

const OPTIONS = {
  ...CONFIG_OPTION,
  'allow-faults': { type: 'boolean', help: 'for tests of a runtime: take the faults: of the configuration' },
  'fault-trace': { type: 'string', value: 'file', help: 'at the end, write there which call met which fault' },
} as const satisfies Options;

/** `packgate serve`: hosts the tenants of a configuration until it is told to stop. */
export const serve: Command<typeof OPTIONS> = {
  name: 'serve',
  summary: 'Host the tenants of a configuration',
  usage: 'packgate serve [-c <file>] [--allow-faults [--fault-trace <file>]]',
  options: OPTIONS,
  examples: [
    { line: 'packgate serve', does: 'host what packgate.yaml in this folder describes' },
    { line: 'packgate serve -c /etc/packgate/packgate.yaml', does: 'host what another file describes' },
    { line: 'kill -HUP <pid>', does: 'read it again; so does every change of its files' },
  ],
  run: async (options, io) => {
    const { config = DEFAULT_CONFIG_FILE, 'allow-faults': allowFaults = false, 'fault-trace': faultTrace } = options;
    if (faultTrace !== undefined && !allowFaults) {
      throw new UsageError('--fault-trace without --allow-faults', 'There are no faults to be traced then.');
    }
    return hostFile(config, io, { allowFaults, ...(faultTrace !== undefined && { faultTrace }) });
  },
};

/** What a program that hosts a file may want otherwise than `serve`. */
export interface HostOptions {
  /** Instead of what the file says. */
  readonly listen?: ListenAddress;
  readonly stateDir?: string;
  readonly onListening?: (address: string) => void;
  /** Takes the configuration's faults on order. Default: refuses a configuration that has some. */
  readonly allowFaults?: boolean;
  /** A file that gets the trace of the faults at the end. Default: none. */
  readonly faultTrace?: string;
}

/** Hosts what `file` describes until a signal ends it. Resolves with the exit code; what went wrong has been said. */
export async function hostFile(file: string, io: Io, options: HostOptions = {}): Promise<number> {
  const { env, cwd } = io;
  const { listen, stateDir, allowFaults = false, faultTrace } = options;
  const pipes = new Map<string, string>();
  const read = (): Promise<Loaded> =>
    load(file, {
      env,
      cwd,
      pipes,
      allowFaults,
      ...(listen && { listen }),
      ...(stateDir !== undefined && { stateDir }),
    });
  const loaded = await read();
  if ('problems' in loaded) {
    for (const problem of loaded.problems) io.stderr.write(`${problemText(problem)}\n`);
    return EXIT.badConfig;
  }
  const { configuration, warnings } = loaded;
  const { logger, packLogger, flush } = openLog(STDERR);
  try {
    // Now, so that a file that cannot be written is known before a call is served.
    if (faultTrace !== undefined) await writeFile(resolve(cwd, faultTrace), '');
    const { PATH, TZ, TMPDIR } = env;
    const gateway = await openGateway(configuration, {
      clock: systemClock,
      log: logger,
      packLog: packLogger,
      hostEnv: { PATH, TZ, TMPDIR },
      reread: () => reconfiguration.reread(),
    });
    const warnOfNeighbours = warnerOfNeighbours(logger);
    const reconfiguration = new Reconfiguration({
      gateway: {
        apply: (next) => {
          warnOfNeighbours(next);
          return gateway.apply(next);
        },
        indexChanged: (path) => gateway.indexChanged(path),
      },
      configuration,
      read,
      clock: systemClock,
      log: logger,
    });
    const draining = {
      close: () => {
        reconfiguration.close();
        return gateway.close();
      },
      hurry: () => gateway.hurry(),
    };
    // From a terminal SIGHUP says that the terminal is gone, and with it whoever could stop the gateway.
    const reload = io.isTty.stdin ? undefined : () => void reconfiguration.reread();
    const stopped = drainWhenTold(draining, io, systemClock, logger, reload);
    for (const warning of warnings) logger.warn({ event: 'config-warning' }, warningText(warning));
    warnOfNeighbours(configuration);
    if (configuration.faults !== undefined) {
      logger.warn({ event: 'faults-on-order', rules: configuration.faults.length }, FAULTS_ON_ORDER);
    }
    reconfiguration.open();
    const { address, adminAddress } = gateway;
    const deployments = configuration.deployments.length;
    const record = { event: 'listening', address, adminAddress, deployments, pid: process.pid };
    logger.info(record, `listening on ${address}`);
    options.onListening?.(address);
    const reason = await stopped;
    if (faultTrace !== undefined) await writeFile(resolve(cwd, faultTrace), gateway.faultTrace());
    return reason === 'signal' ? EXIT.ok : EXIT.failed;
  } catch (error) {
    io.stderr.write(`packgate: ${openProblem(error, configuration)}\n`);
    return EXIT.failed;
  } finally {
    await flush();
  }
}

/** Says once that tenants are not kept from each other, as soon as there are several. */
function warnerOfNeighbours(log: Logger): (configuration: Configuration) => void {
  let isSaid = false;
  return (configuration) => {
    if (isSaid || !hasSeveralTenants(configuration)) return;
    isSaid = true;
    log.warn({ event: 'not-isolated' }, NOT_ISOLATED);
  };
}

/** What kept the gateway from opening, and what to do about it. */
function openProblem(error: unknown, { listen, admin }: Configuration): string {
  const { code, message } = error as NodeJS.ErrnoException;
  const isAdmin = isAbout(error, admin.listen) && !isAbout(error, listen);
  const [key, address] = isAdmin ? ['admin.listen', admin.listen] : ['listen', listen];
  const where = listenText(address);
  if (code === 'EADDRINUSE')
    return `cannot listen on ${where}: something listens there already. Stop it or change ${key}:.`;
  if (code === 'EACCES')
    return `cannot listen on ${where}: not permitted. Choose a port above 1023 or another path in ${key}:.`;
  if (code === 'EADDRNOTAVAIL') return `cannot listen on ${where}: this machine has no such address. Change ${key}:.`;
  return message;
}

/** Whether an error of listening is about this address, as far as it says. */
function isAbout(error: unknown, listen: ListenAddress): boolean {
  const { address, port } = error as { address?: unknown; port?: unknown };
  // Not by the host: the error has the address that a name was found to be.
  if (listen.kind === 'tcp') return port === listen.port;
  return listen.kind === 'unix' && address === listen.path;
}
