import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { JsonObject } from '../../../shared/protocol/messages.ts';
import { troubleOf } from '../../config/files.ts';
import type { StandInOffer } from '../../dev/standIns/standIns.ts';
import { CommandError, UsageError } from '../command.ts';
import type { Io } from '../command.ts';
import { EXIT } from '../../../shared/process/contract.ts';
import { askForStandIns, loopAt, objectIn } from './devLoop.ts';
import type { Caller } from './info.ts';
import type { Called } from './message.ts';
import { placeOfCall } from './place.ts';
import { exchange } from './request.ts';
import type { CallRequest, Exchange } from './request.ts';
import { saveAs } from './savedFiles.ts';
import { makeSaveFolder, readFiles } from './standInsGiven.ts';
import type { GivenFile, StandInsGiven } from './standInsGiven.ts';
import { printable } from '../printable.ts';

/** What has to do with the stand-ins when a call is over. */
export interface Ended {
  /** For a person. */
  readonly lines: readonly string[];
  /** Something that was stored could not be had. */
  readonly hasFailed: boolean;
}

/** What stands in for a runtime during one call. */
export interface StandIns {
  /** What is called, with them in its context. */
  readonly called: Called;
  /** Says that the call is over, with the pause if it was answered by one. Never rejects. */
  readonly end: (pause: JsonObject | undefined) => Promise<Ended>;
}

export interface CallAhead {
  readonly caller: Caller;
  readonly called: Called;
  readonly timeoutMs: number;
  /** How long to wait for a listener. */
  readonly waitMs: number;
  /** Fires when the user wants to have it ended: then nothing is waited for. */
  readonly signal: AbortSignal;
}

/** A file that the call stored, and where it is to be had. */
interface StoredFile {
  readonly name: string;
  readonly size: number;
  readonly url: string;
}

/** Up to 32 MiB each way on this machine. */
const FILE_MS = 30_000;
const POLL_MS = 100;

/**
 * What `packgate dev` has for the call in place of a runtime: files and a wait token where the tool declares them. Only
 * where the call goes to a loop of this user; never in the place of what `--ctx` has. Undefined: there is nothing.
 * @throws {UsageError} when files are given or asked for, and there is no place for them.
 */
export async function openStandIns(given: StandInsGiven, ahead: CallAhead, io: Io): Promise<StandIns | undefined> {
  const { called } = ahead;
  const { file: pairs = [], files: folder, 'no-stand-ins': isOff = false } = given;
  const needsFiles = pairs.length > 0 || folder !== undefined;
  if (isOff && needsFiles) throw new UsageError('--no-stand-ins leaves no place for files', 'Leave one of them out.');
  if (isOff || called.kind !== 'tool') return undefined;
  const files = await readFiles(pairs, io);
  const hasOwn = 'toolFiles' in called.context;
  if (hasOwn && needsFiles) throw new UsageError('--ctx has toolFiles of its own', 'Leave --file and --files out.');
  const hasOwnWait = 'waitToken' in called.context;
  if (hasOwn && hasOwnWait) return undefined;
  const offer = await offerFor(ahead, called.id, needsFiles, io);
  if (ahead.signal.aborted) return undefined;
  if (offer === undefined && needsFiles) {
    const hint = '--file and --files need a tool of a pack that "packgate dev" serves.';
    throw new UsageError(`no packgate dev of yours serves that tenant at ${ahead.caller.place.text}`, hint);
  }
  if (offer === undefined) return undefined;
  if (offer.toolFiles === undefined && needsFiles) {
    throw new UsageError(`${printable(called.id)} has no use of files`, 'Its readsFiles and storesFiles say so.');
  }
  const target = folder === undefined ? undefined : await makeSaveFolder(folder, io);
  for (const one of files) await give(offer, one, io);
  return {
    called: { ...called, context: { ...contextOf(offer), ...called.context } },
    // One that is told to another address is not the loop's to tell.
    end: (pause) => end(offer, hasOwnWait ? undefined : pause, target, io),
  };
}

/** A key names the call's step (D7), without which nothing is stored; every invocation is a step of its own. */
function contextOf({ toolFiles, waitToken }: StandInOffer): JsonObject {
  return {
    ...(toolFiles && { toolFiles: { ...toolFiles }, idempotencyKey: randomUUID() }),
    ...(waitToken && { waitToken: { ...waitToken } }),
  };
}

async function offerFor(
  { caller: { place, tenant }, timeoutMs, waitMs, signal }: CallAhead,
  tool: string,
  isNeeded: boolean,
  { env }: Io,
): Promise<StandInOffer | undefined> {
  const owner = { tmpDir: env.TMPDIR ?? '/tmp', uid: process.getuid?.() ?? 0 };
  const end = performance.now() + waitMs;
  for (;;) {
    const loop = await loopAt(place, owner);
    const offer = loop && (await askForStandIns(loop, { tenant, tool, timeoutMs }));
    // Without files a call that has none is as good, and is prepared again while it waits.
    if (offer !== undefined || !isNeeded || signal.aborted || performance.now() >= end) return offer;
    await delay(POLL_MS);
  }
}

async function give({ call }: StandInOffer, { name, bytes }: GivenFile, io: Io): Promise<void> {
  const type = 'application/octet-stream';
  const url = `${call}/files/${encodeURIComponent(name)}`;
  const answer = await ask(url, { method: 'PUT', headers: { 'content-type': type }, body: bytes }, io);
  if (answer.kind === 'answer' && answer.status === 200) return;
  const hint = 'Stop packgate dev and start it again to have its files removed.';
  throw new CommandError(EXIT.failed, `packgate dev does not take the file ${printable(name)}`, hint);
}

async function end(
  { call }: StandInOffer,
  pause: JsonObject | undefined,
  folder: string | undefined,
  io: Io,
): Promise<Ended> {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ pause: pause ?? null });
  const told = objectIn(await ask(`${call}/over`, { method: 'POST', headers, body }, io));
  if (told === undefined) {
    return { lines: ['packgate: packgate dev does not answer any more'], hasFailed: folder !== undefined };
  }
  const lines = pause === undefined ? [] : ['  packgate dev shows what is posted there; no run goes on by it.'];
  let hasFailed = false;
  // Our own loop's words: it is of our version, or has no stand-ins.
  for (const { name, size, url } of told.files as readonly StoredFile[]) {
    const what = `stored ${printable(name)} (${size} bytes)`;
    if (folder === undefined) lines.push(`${what}: ${url}`);
    else {
      const saved = await save(url, name, folder, io);
      hasFailed ||= 'why' in saved;
      lines.push('why' in saved ? `packgate: ${what} is not saved: ${saved.why}` : `${what}: ${printable(saved.path)}`);
    }
  }
  return { lines, hasFailed };
}

async function save(
  url: string,
  name: string,
  folder: string,
  io: Io,
): Promise<{ readonly path: string } | { readonly why: string }> {
  const answer = await ask(url, { method: 'GET', headers: {} }, io);
  if (answer.kind !== 'answer' || answer.status !== 200) return { why: 'packgate dev has it no more' };
  try {
    return { path: await saveAs(folder, name, answer.body) };
  } catch (cause) {
    return { why: troubleOf(cause) };
  }
}

/** At an address that the loop gave us. */
function ask(url: string, request: Omit<CallRequest, 'path' | 'withinMs'>, io: Io): Promise<Exchange> {
  const { origin, pathname } = new URL(url);
  // A path that begins with `/calls` has no dots that a URL would take out, but for names, which were looked at.
  return exchange(placeOfCall({ url: origin }, undefined, io), { ...request, path: pathname, withinMs: FILE_MS });
}
