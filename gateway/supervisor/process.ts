import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import type { LaunchSpec } from '../runtimes/launchSpec.ts';
import { spawnProblem } from './spawnProblem.ts';
import { mayMeanNotExecuted, notExecuted, Opening, tethered } from './tether.ts';

/** How a process ended. */
export type Exit =
  | { readonly kind: 'code'; readonly code: number }
  | { readonly kind: 'signal'; readonly signal: string }
  /** It never ran: no such program, no permission, no process or descriptor left, … `reason` is for the operator. */
  | { readonly kind: 'spawn-failed'; readonly reason: string };

/** Where the bytes go that a process prints; both streams are always read, so that it never blocks on its output. */
export interface OutputSinks {
  readonly onStdout: (chunk: Buffer) => void;
  readonly onStderr: (chunk: Buffer) => void;
}

/** Starts a process; a seam, so that whoever starts one need not know who watches over it. */
export type Launch = (spec: LaunchSpec, sinks: OutputSinks) => PackProcess;

/** How long after a process's exit its last output may take to arrive. Whoever inherited its pipes may hold them for ever. */
const LAST_OUTPUT_MS = 300;

/** A process in a group of its own. */
export interface PackProcess {
  readonly pid: number | undefined;
  /** Where it was asked for; a pack service has none (H2). */
  readonly input: Writable | undefined;
  /** Settles at the process's exit, not at the end of its output. Never rejects. */
  readonly exited: Promise<Exit>;
  /** Settles after `exited`, when its last output has been read, or can be waited for no longer. */
  readonly finished: Promise<Exit>;
  /**
   * To the leader alone: a service hears of its drain once, not once for every process it started. After its exit:
   * nothing, since its number may be another's by then.
   */
  signal(signal: 'SIGTERM' | 'SIGINT' | 'SIGKILL'): void;
  /** SIGKILL for the whole group, also when its leader has gone. Once it has finished: nothing. */
  killGroup(): void;
}

export interface StartOptions {
  /**
   * Absolute path of a `setpriv` that can bind a process to the life of its parent; see `findTether`. Default: the
   * process does not notice when the gateway ends. The kernel ends it with the *thread* that started it: only the main
   * thread may start processes.
   */
  readonly tether?: string | undefined;
}

/**
 * Starts what a launch spec describes. The only place that starts or signals a process: in a group of its own, so that
 * the terminal's signals do not reach it and nothing it started is left behind; with exactly the given environment.
 *
 * With Node's own `spawn`, not execa 9.6.1: where no descriptor is left, execa throws before it listens to the child's
 * `error` event, which then ends the gateway (seen with EMFILE). None of what execa adds is used for a process that
 * lives long and whose output must not be collected.
 */
export function startProcess(spec: LaunchSpec, sinks: OutputSinks, options: StartOptions = {}): PackProcess {
  const { hasInput = false } = spec;
  const { tether } = options;
  const { command, args } = tether === undefined ? spec : tethered(spec, tether);
  let child: ChildProcess;
  try {
    child = spawn(command, [...args], {
      cwd: spec.cwd,
      env: { ...spec.env },
      detached: true,
      stdio: [hasInput ? 'pipe' : 'ignore', 'pipe', 'pipe'],
    });
  } catch (cause) {
    return unstarted(spec, cause as Error);
  }
  let isOver = false;
  const ended = new Promise<Exit | Error>((resolve) => {
    child.once('exit', (code, signal) => {
      isOver = true;
      resolve(exitOf(code, signal));
    });
    // Said instead of `exit` when there was no process to begin with; of a process it says that a signal did not reach it.
    child.on('error', (error) => child.pid === undefined && resolve(error));
  });
  // Neither is there when the descriptors for them could not be had.
  const streams = [child.stdout, child.stderr].filter((stream) => stream != null);
  const opening = new Opening();
  child.stdin?.on('error', ignore);
  child.stdout?.on('data', sinks.onStdout).on('error', ignore);
  child.stderr?.on('data', sinks.onStderr).on('error', ignore);
  if (tether !== undefined) child.stderr?.on('data', (chunk: Buffer) => opening.add(chunk));
  const exited = ended.then(async (end) => {
    if (end instanceof Error) return unexecuted(await spawnProblem(spec, end));
    if (end.kind !== 'code' || !mayMeanNotExecuted(end.code)) return end;
    const reason = await notExecuted(spec, end.code, async () => {
      await lastOutput(streams);
      return opening.text();
    });
    return reason === undefined ? end : unexecuted(reason);
  });
  let isFinished = false;
  const killGroup = (): void => {
    if (!isFinished) sendSignal(-(child.pid ?? 0), 'SIGKILL');
  };
  return {
    pid: child.pid,
    input: child.stdin ?? undefined,
    exited,
    finished: exited.then(async (exit) => {
      killGroup();
      isFinished = true;
      await lastOutput(streams);
      for (const stream of streams) stream.destroy();
      return exit;
    }),
    signal: (signal) => {
      if (!isOver) sendSignal(child.pid ?? 0, signal);
    },
    killGroup,
  };
}

/** SIGKILL for a process that another gateway left behind, or for the group it leads; never for `init` or this process. */
export function killLeftover(pid: number, withGroup: boolean): void {
  if (!Number.isSafeInteger(pid) || pid <= 1 || pid === process.pid) return;
  sendSignal(withGroup ? -pid : pid, 'SIGKILL');
}

function unstarted(spec: LaunchSpec, error: Error): PackProcess {
  const exit = spawnProblem(spec, error).then(unexecuted);
  return { pid: undefined, input: undefined, exited: exit, finished: exit, signal: ignore, killGroup: ignore };
}

function unexecuted(reason: string): Exit {
  return { kind: 'spawn-failed', reason };
}

function exitOf(code: number | null, signal: string | null): Exit {
  return signal !== null ? { kind: 'signal', signal } : { kind: 'code', code: code ?? 0 };
}

/** A process that is gone already, or a group that never was, is no error: it is what was wanted. */
function sendSignal(pid: number, signal: NodeJS.Signals): void {
  if (pid === 0) return;
  try {
    process.kill(pid, signal);
  } catch {
    // ESRCH
  }
}

async function lastOutput(streams: readonly Readable[]): Promise<void> {
  const ended = Promise.all(streams.map((stream) => endOf(stream)));
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, LAST_OUTPUT_MS);
  });
  await Promise.race([ended, patience]);
  clearTimeout(timer);
}

function endOf(stream: Readable): Promise<void> {
  return new Promise((resolve) => {
    if (stream.readableEnded || stream.destroyed) resolve();
    else stream.once('end', resolve).once('close', resolve);
  });
}

function ignore(): void {}
