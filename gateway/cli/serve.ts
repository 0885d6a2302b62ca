import { EXIT } from '../../shared/process/contract.ts';
import { systemClock } from '../clock.ts';
import type { Configuration, ListenAddress } from '../config/configuration.ts';
import { listenText } from '../config/listen.ts';
import { load } from '../config/load.ts';
import { problemText, warningText } from '../config/problem.ts';
import { hasSeveralTenants, openGateway } from '../gateway.ts';
import { openLog } from '../log.ts';
import { drainWhenTold } from '../shutdown.ts';
import { CONFIG_OPTION, DEFAULT_CONFIG_FILE } from './command.ts';
import type { Command, Io } from './command.ts';

const STDERR = 2;

const NOT_ISOLATED =
  "all packs run as one user, so one tenant's pack can read another's environment in /proc: host only packs you trust";

/** `packgate serve`: hosts the tenants of a configuration until it is told to stop. */
export const serve: Command<typeof CONFIG_OPTION> = {
  name: 'serve',
  summary: 'Host the tenants of a configuration',
  usage: 'packgate serve [-c <file>]',
  options: CONFIG_OPTION,
  examples: [
    { line: 'packgate serve', does: 'host what packgate.yaml in this folder describes' },
    { line: 'packgate serve -c /etc/packgate/packgate.yaml', does: 'host what another file describes' },
  ],
  run: async (options, io) => hostFile(options.config ?? DEFAULT_CONFIG_FILE, io),
};

/** What a program that hosts a file may want otherwise than `serve`. */
export interface HostOptions {
  /** Instead of what the file says. */
  readonly listen?: ListenAddress;
  readonly stateDir?: string;
  readonly onListening?: (address: string) => void;
}

/** Hosts what `file` describes until a signal ends it. Resolves with the exit code; what went wrong has been said. */
export async function hostFile(file: string, io: Io, options: HostOptions = {}): Promise<number> {
  const loaded = await load(file, io);
  if ('problems' in loaded) {
    for (const problem of loaded.problems) io.stderr.write(`${problemText(problem)}\n`);
    return EXIT.badConfig;
  }
  const { warnings } = loaded;
  const configuration = {
    ...loaded.configuration,
    ...(options.listen !== undefined && { listen: options.listen }),
    ...(options.stateDir !== undefined && { stateDir: options.stateDir }),
  };
  const { logger, packLogger, flush } = openLog(STDERR);
  try {
    const { PATH, TZ, TMPDIR } = io.env;
    const deps = { clock: systemClock, log: logger, packLog: packLogger, hostEnv: { PATH, TZ, TMPDIR } };
    const gateway = await openGateway(configuration, deps);
    const stopped = drainWhenTold(gateway, io, systemClock, logger);
    for (const warning of warnings) logger.warn({ event: 'config-warning' }, warningText(warning));
    if (hasSeveralTenants(configuration)) logger.warn({ event: 'not-isolated' }, NOT_ISOLATED);
    const { address } = gateway;
    const deployments = configuration.deployments.length;
    logger.info({ event: 'listening', address, deployments, pid: process.pid }, `listening on ${address}`);
    options.onListening?.(address);
    return (await stopped) === 'signal' ? EXIT.ok : EXIT.failed;
  } catch (error) {
    io.stderr.write(`packgate: ${openProblem(error, configuration)}\n`);
    return EXIT.failed;
  } finally {
    flush();
  }
}

/** What kept the gateway from opening, and what to do about it. */
function openProblem(error: unknown, { listen }: Configuration): string {
  const { code, message } = error as NodeJS.ErrnoException;
  const where = listenText(listen);
  if (code === 'EADDRINUSE')
    return `cannot listen on ${where}: something listens there already. Stop it or change listen:.`;
  if (code === 'EACCES')
    return `cannot listen on ${where}: not permitted. Choose a port above 1023 or another path in listen:.`;
  if (code === 'EADDRNOTAVAIL') return `cannot listen on ${where}: this machine has no such address. Change listen:.`;
  return message;
}
