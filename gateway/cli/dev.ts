import { EXIT } from '../../shared/process/contract.ts';
import { systemClock } from '../clock.ts';
import type { ListenAddress } from '../config/configuration.ts';
import { DEFAULT_INSPECT_PORT, DEFAULT_PORT, OPTIONS, readGiven, TOKEN_NAME } from '../dev/given.ts';
import type { HostedPack } from '../dev/hosted.ts';
import { InspectedChildren } from '../dev/inspect/children.ts';
import { Inspector } from '../dev/inspect/inspector.ts';
import { DevLoop } from '../dev/loop.ts';
import { lockPlaces } from '../dev/place.ts';
import { Prefixes } from '../dev/prefixes.ts';
import { DEV_EVENT } from '../dev/records.ts';
import { openTerminal } from '../dev/terminal.ts';
import { callLine, welcomeLines } from '../dev/welcome.ts';
import { openLog } from '../log.ts';
import { drainWhenTold } from '../shutdown.ts';
import { CommandError } from './command.ts';
import type { Command, Io, Values } from './command.ts';
import { hasColours, paintFor } from './paint.ts';

const STDOUT = 1;

/** `packgate dev`: serves the packs of a folder while they are written. */
export const dev: Command<typeof OPTIONS> = {
  name: 'dev',
  summary: 'Serve the packs of a folder while they are written',
  usage: 'packgate dev [folder…] [options]',
  options: OPTIONS,
  rest: { name: 'folder', help: 'where packs are looked for (default: here)' },
  examples: [
    { line: 'packgate dev', does: 'serve the packs in this folder; what is saved serves a moment later' },
    { line: 'packgate dev packs/billing packs/crm', does: 'only these two' },
    { line: 'packgate dev --tenant billing=acme', does: 'give the pack called billing a tenant of your own' },
    { line: 'packgate dev --inspect', does: 'with an address for a debugger that stays the same' },
    { line: `${TOKEN_NAME}=… packgate dev`, does: 'callers send this token, instead of one made for this run' },
  ],
  run: (options, io, _, folders) => develop(options, io, folders),
};

async function develop(options: Values<typeof OPTIONS>, io: Io, folders: readonly string[]): Promise<number> {
  const { roots, port, tenants, token, isTokenNew, python, inspect } = await readGiven(options, folders, io);
  const { PATH, TZ, TMPDIR } = io.env;
  const uid = process.getuid?.() ?? 0;
  const { stateDir, release } = await lockPlaces(roots, { tmpDir: TMPDIR ?? '/tmp', uid });
  const paint = paintFor(io);
  const prefixes = new Prefixes(hasColours(io));
  const isForPeople = io.isTty.stdout && options.json !== true;
  const terminal = isForPeople ? openTerminal(STDOUT, prefixes, paint) : undefined;
  const { logger, packLogger, flush } = terminal ?? openLog(STDOUT);
  const inspected = inspect && new InspectedChildren();
  let inspector: Inspector | undefined;
  const welcome = (pack: HostedPack): void => {
    const { tenantId: tenant, kind, name } = pack;
    prefixes.add(tenant, name);
    if (kind !== 'node' || inspector === undefined) return;
    const address = inspector.add(pack);
    logger.info({ event: DEV_EVENT.inspect, tenant, address }, `a debugger finds ${name} at ${address}`);
  };
  try {
    inspector = inspected && (await openInspector(inspected, inspect?.port));
    const loop = await withPort('--port', port, DEFAULT_PORT, (one) =>
      DevLoop.open({
        roots,
        stateDir,
        token,
        tenants,
        listen: loopback(one),
        host: { env: io.env, ...(python !== undefined && { python }) },
        hostEnv: { PATH, TZ, TMPDIR },
        uid,
        clock: systemClock,
        log: logger,
        packLog: packLogger,
        inspected,
        onFound: welcome,
        onFirstServed: ({ tenantId }, indexPath) =>
          void callLine(indexPath, tenantId, loop.address).then((line) => {
            if (line !== undefined) terminal?.print([`${prefixes.of(tenantId)}${paint.faint(line)}`]);
          }),
        onPaused: (tenantId, url) => terminal?.print([`${prefixes.of(tenantId)}  post its output as JSON to ${url}`]),
      }),
    );
    const draining = {
      close: async () => {
        // Without its debuggers what is stopped at a breakpoint goes on, and can end.
        await inspector?.close();
        await loop.close();
      },
      hurry: () => loop.hurry(),
    };
    // Without a terminal nobody can stop it but by a signal, and SIGHUP has nothing else to mean.
    const stopped = drainWhenTold(draining, io, systemClock, logger);
    terminal?.print(welcomeLines(loop.address, isTokenNew ? token : undefined, paint));
    await loop.start();
    const { address, adminAddress, packs } = loop;
    const facts = { event: DEV_EVENT.ready, address, adminAddress, packs, pid: process.pid };
    // Whoever started it is to know the token that was made for this run; one that it was given it knows.
    const made = isTokenNew ? { token } : {};
    if (terminal === undefined) logger.info({ ...facts, ...made }, `developing on ${address}`);
    if (packs.length === 0) logger.warn({ event: DEV_EVENT.none, roots }, `no pack yet in ${roots.join(', ')}`);
    for (const name of tenants.keys())
      if (!packs.includes(name)) logger.warn({ event: DEV_EVENT.none, name }, `no pack is called ${name} yet`);
    return (await stopped) === 'signal' ? EXIT.ok : EXIT.failed;
  } finally {
    await inspector?.close();
    await flush();
    await release();
  }
}

function openInspector(children: InspectedChildren, port: number | undefined): Promise<Inspector> {
  return withPort('--inspect-port', port, DEFAULT_INSPECT_PORT, (one) => Inspector.open(children, one));
}

/** On the port that was asked for, else on the usual one, else on one that is free. */
async function withPort<T>(
  option: string,
  asked: number | undefined,
  usual: number,
  open: (port: number) => Promise<T>,
): Promise<T> {
  try {
    return await open(asked ?? usual);
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE' && asked === undefined) return open(0);
    const hint = code === 'EADDRINUSE' ? `Stop what listens there, or leave ${option} out.` : `Try another ${option}.`;
    throw new CommandError(EXIT.failed, message, hint);
  }
}

function loopback(port: number): ListenAddress {
  return { kind: 'tcp', host: '127.0.0.1', port };
}
