import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { ENV, EXIT } from '../../shared/process/contract.ts';
import { stopBuilder } from '../modules/builder.ts';
import type { OnLoopEmpty } from '../modules/load.ts';
import { Admission } from './admission.ts';
import { BootFailure, importPack, locatePack } from './boot.ts';
import type { LocatedPack } from './boot.ts';
import { serveUntilStopped } from './drain.ts';
import type { OnStopSignal } from './drain.ts';
import { dropUndeclared, findMissing } from './environment.ts';
import { createEvents } from './events.ts';
import type { Events } from './events.ts';
import { readLogSettings } from './logSettings.ts';
import type { LogTarget } from './logSettings.ts';
import { preparePack, schemaProblems } from './pack.ts';
import type { Pack } from './pack.ts';
import type { PackIndex } from './packIndex.ts';
import { createPackServer, hashToken } from './server.ts';
import type { Service } from './server.ts';
import { readServeSettings } from './settings.ts';
import type { ServeSettings } from './settings.ts';

/** What a pack service gets from its process. */
export interface ServeProcess {
  readonly args: readonly string[];
  /** The process's own environment: token and undeclared names are taken out of it before pack code is loaded. */
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly log: LogTarget;
  readonly onStopSignal: OnStopSignal;
  readonly onLoopEmpty: OnLoopEmpty;
  /** The folder for what is built from TypeScript. */
  readonly buildDir: () => string;
  /** The same folder when it outlives the process: later starts find there what this one worked out. */
  readonly keptDir: string | undefined;
}

/** The whole life of a pack service process, in the protocol's order (C11). Resolves with its exit code. */
export async function serve(host: ServeProcess): Promise<number> {
  const { env } = host;
  const log = readLogSettings(env, host.log);
  const events = createEvents(log.settings);
  if (log.problems.length > 0) return reportConfig(events, log.problems);
  const read = readServeSettings(host.args, env, host.cwd);
  if ('problems' in read) return reportConfig(events, read.problems);
  const { settings } = read;
  delete env[ENV.token];

  try {
    const located = await locatePack(settings);
    const { index } = located;
    if (settings.envFilter === 'on') reportDropped(events, dropUndeclared(env, index.env));
    const missingEnv = findMissing(env, index.env);
    if (missingEnv.length > 0) reportMissing(events, settings, index, missingEnv);

    const service = await assembleService(located, { settings, events, missingEnv }, host);
    await stopBuilder();
    const { stopped } = await openService(service, settings, host.onStopSignal);
    await stopped;
    return EXIT.ok;
  } catch (error) {
    if (!(error instanceof BootFailure)) throw error;
    events.write('error', 'boot-failed', 'The pack service could not start', { problems: error.problems });
    return EXIT.failed;
  }
}

/**
 * Loads a pack and makes its server, which does not listen yet. Nothing of the process is read or changed here, so that
 * several services may live in one. Throws a `BootFailure`.
 */
export async function assembleService(
  located: LocatedPack,
  { settings, events, missingEnv }: { settings: ServeSettings; events: Events; missingEnv: readonly string[] },
  host: Pick<ServeProcess, 'buildDir' | 'keptDir' | 'onLoopEmpty'>,
): Promise<AssembledService> {
  const { index, root } = located;
  const pack = await preparePack(index, { root, modules: await importPack(located, host), keptDir: host.keptDir });
  for (const problem of schemaProblems(pack)) events.log.warn(problem);
  const { envCheck, maxConcurrency, tenant, token } = settings;
  const admission = new Admission({ maxConcurrency, missingEnv: envCheck === 'strict' ? missingEnv : [] });
  const service: Service = { pack, admission, events, tokenHash: hashToken(token), tenant, missingEnv };
  return { service, server: createPackServer(service) };
}

/** A service whose pack is loaded, and its server. */
export interface AssembledService {
  readonly service: Service;
  readonly server: Server;
}

/** Listens, and says so. `stopped` resolves when a stop signal was obeyed. Throws a `BootFailure`. */
export async function openService(
  { server, service: { pack, admission, events } }: AssembledService,
  address: Pick<ServeSettings, 'host' | 'port'>,
  onStopSignal: OnStopSignal,
): Promise<{ readonly port: number; readonly stopped: Promise<void> }> {
  const port = await listen(server, address, events);
  // The signals are listened to before anybody learns that the service is up (C37).
  const stopped = serveUntilStopped({ server, admission, events }, onStopSignal);
  const { packId, artifactVersion } = pack.index;
  events.write('info', 'listening', `Listening on port ${port}`, { port, packId, artifactVersion });
  const timer = setTimeout(() => void keepSchemas(pack, events), KEEP_AFTER_MS).unref();
  void stopped.finally(() => clearTimeout(timer));
  return { port, stopped };
}

/** How long after the start: the calls that waited for it come first. */
const KEEP_AFTER_MS = 1_000;

/** A start that could not keep anything works all the same; the next one is only slower than it could be. */
async function keepSchemas(pack: Pack, events: Events): Promise<void> {
  try {
    await pack.keepSchemas();
  } catch (error) {
    events.log.warn('The compiled schemas could not be kept for the next start', { error });
  }
}

function listen(server: Server, { host, port }: Pick<ServeSettings, 'host' | 'port'>, events: Events): Promise<number> {
  return new Promise((resolve, reject) => {
    server.on('error', (error: NodeJS.ErrnoException) => {
      // A connection that could not be accepted, for want of file descriptors, must not end the others.
      if (server.listening) return events.log.error('A connection could not be accepted', { error });
      const hint = error.code === 'EADDRINUSE' ? ' (another process has it; PORT=0 picks a free one)' : '';
      const address = `${host ?? 'any address'}, port ${port}`;
      reject(new BootFailure([`Cannot listen on ${address}: ${error.code ?? error.message}${hint}`]));
    });
    server.listen({ port, host }, () => resolve((server.address() as AddressInfo).port));
  });
}

function reportConfig(events: Events, problems: readonly string[]): number {
  events.write('error', 'config-invalid', 'The configuration of the pack service is not usable', { problems });
  return EXIT.failed;
}

function reportDropped(events: Events, names: readonly string[]): void {
  if (names.length === 0) return;
  const message = `${names.length} undeclared variables are kept from the pack: ${names.join(', ')}`;
  events.write('warn', 'env-dropped', message, { names });
}

function reportMissing(events: Events, settings: ServeSettings, index: PackIndex, names: readonly string[]): void {
  const { envCheck: check } = settings;
  const effect = check === 'strict' ? 'calls are refused until they are set' : 'serving all the same';
  const { packId, artifactVersion } = index;
  const message = `Required variables have no value: ${names.join(', ')}; ${effect}`;
  events.write('warn', 'missing-env', message, { check, names, packId, artifactVersion });
}
