import type { Logger } from 'pino';
import { findTether } from './findTether.ts';
import { createMark, forgetMark, MARK_NAME, noteMark } from './mark.ts';
import { startProcess } from './process.ts';
import type { Exit, Launch, PackProcess } from './process.ts';

/**
 * Knows every group by its number. At the end of its input, which is the end of the gateway however it ended, it kills
 * those that are left, then whatever bears the gateway's mark: what left its group, and what was being started in the
 * very moment. It looks several times, because who is being started bears the mark only once it runs. A shell, because
 * it is there and takes one megabyte; only the end of its input ends it.
 */
const SCRIPT = `
trap '' TERM INT HUP
mark=$1
groups=' '
pauses='0 0.05 0.1 0.2 0.3'
while read -r change group; do
  case $change in
    +) groups="$groups$group " ;;
    -) case $groups in *" $group "*) groups="\${groups%% $group *} \${groups#* $group }" ;; esac ;;
    .) pauses=0 ;;
  esac
done
for group in $groups; do kill -KILL "-$group"; done
for pause in $pauses; do
  sleep "$pause" || sleep 1
  for file in $(grep -lsF -- "$mark" /proc/[0-9]*/environ); do
    pid=\${file#/proc/}
    kill -KILL "\${pid%/environ}"
  done
done
`;

/** A watchdog that was ended, or could not be started, is tried again, but not in a loop. */
const RESTART_MS = 1_000;

export interface WatchdogOptions {
  /** The gateway's own PATH, where `sh` and `setpriv` are looked for. */
  readonly path: string | undefined;
  /** Where the mark of this gateway is noted for the next one; see `sweepLeftovers`. */
  readonly stateDir: string;
  readonly log: Logger;
}

/**
 * Sees to it that no process outlives the gateway: a gateway that is killed with SIGKILL cannot tell anyone. In front, a
 * process that knows every group; beside it the parent-death signal of the leaders; behind both the next gateway, which
 * knows this one's mark.
 *
 * Safety: every group that `launch` started and that has not finished is known to the watchdog while it runs. `launch`
 * must be called on the main thread: the parent-death signal comes at the end of the thread that started a process.
 */
export class Watchdog {
  readonly #log: Logger;
  readonly #path: string | undefined;
  readonly #stateDir: string;
  readonly #mark = createMark();
  readonly #groups = new Set<number>();
  #tether: string | undefined;
  #process: PackProcess | undefined;
  #restart: NodeJS.Timeout | undefined;
  #isClosed = false;
  #hasWarned = false;

  constructor({ path, stateDir, log }: WatchdogOptions) {
    this.#path = path;
    this.#stateDir = stateDir;
    this.#log = log;
  }

  /** Starts a process in a group of its own that is guarded until it has finished. */
  readonly launch: Launch = (spec, sinks) => {
    const marked = { ...spec, env: { ...spec.env, [MARK_NAME]: this.#mark } };
    const launched = startProcess(marked, sinks, { tether: this.#tether });
    const { pid } = launched;
    if (pid !== undefined) {
      this.#groups.add(pid);
      this.#tell(`+ ${pid}`);
      void launched.finished.then(() => {
        this.#groups.delete(pid);
        this.#tell(`- ${pid}`);
      });
    }
    return launched;
  };

  /** To be called once, before the first `launch`. What cannot be had is said and gone without. Never rejects. */
  async open(): Promise<void> {
    try {
      noteMark(this.#stateDir, this.#mark);
    } catch (err) {
      const text = 'the mark of this gateway cannot be noted: the next one will not find what this one leaves behind';
      this.#log.warn({ event: 'mark-not-noted', err }, text);
    }
    this.#tether = await findTether(this.#path);
    if (this.#tether === undefined) {
      const text = 'no setpriv that can bind a process to its parent in PATH: the watchdog alone ends what is left';
      this.#log.info({ event: 'no-tether' }, text);
    }
    this.#start();
  }

  /** The gateway ends by itself, and everything it started has; what left its group on the way is ended here. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#restart);
    this.#tell('.');
    this.#process?.input?.end();
    await this.#process?.exited;
    forgetMark(this.#stateDir, this.#mark);
  }

  #start(): void {
    const silent = { onStdout: () => undefined, onStderr: () => undefined };
    const env = this.#path === undefined ? {} : { PATH: this.#path };
    const args = ['-c', SCRIPT, 'packgate-watchdog', `${MARK_NAME}=${this.#mark}`];
    const watchdog = startProcess({ command: 'sh', args, cwd: '/', env, hasInput: true }, silent);
    this.#process = watchdog;
    for (const group of this.#groups) this.#tell(`+ ${group}`);
    void watchdog.exited.then((exit) => {
      if (!this.#isClosed) this.#lost(exit);
    });
  }

  /** It was ended, or could not be started, which may be for a moment only: no descriptor or no process left. */
  #lost(exit: Exit): void {
    // Where there never was one, it is not said again every second.
    if (exit.kind !== 'spawn-failed' || !this.#hasWarned) {
      const text = 'no watchdog: until there is one, processes may outlive a gateway that is killed with SIGKILL';
      this.#log.warn({ event: 'watchdog-ended', exit }, text);
    }
    this.#hasWarned = exit.kind === 'spawn-failed';
    this.#restart = setTimeout(() => this.#start(), RESTART_MS).unref();
  }

  #tell(line: string): void {
    this.#process?.input?.write(`${line}\n`);
  }
}
