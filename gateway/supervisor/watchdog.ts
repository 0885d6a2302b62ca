import type { Logger } from 'pino';
import { startProcess } from './process.ts';
import type { Launch, PackProcess } from './process.ts';

/**
 * Knows every group by its number; at the end of its input, which is the end of the gateway however it ended, it kills
 * those that are left. A shell, because it is there and takes one megabyte.
 */
const SCRIPT = `
groups=' '
while read -r change group; do
  case $change in
    +) groups="$groups$group " ;;
    -) case $groups in *" $group "*) groups="\${groups%% $group *} \${groups#* $group }" ;; esac ;;
  esac
done
for group in $groups; do kill -KILL "-$group"; done
`;

/** A watchdog that was ended is replaced, but not in a loop. */
const RESTART_MS = 1_000;

/**
 * Sees to it that no process outlives the gateway: a gateway that is killed with SIGKILL cannot tell anyone, and a
 * parent-death signal reaches only the leaders of the groups.
 *
 * Safety: every group that `launch` started and that has not finished is known to the watchdog while it runs.
 */
export class Watchdog {
  readonly #log: Logger;
  readonly #path: string | undefined;
  readonly #groups = new Set<number>();
  #process: PackProcess | undefined;
  #isClosed = false;

  /** `path`: the gateway's own PATH, where `sh` is looked for. */
  constructor(path: string | undefined, log: Logger) {
    this.#path = path;
    this.#log = log;
  }

  /** Starts a process in a group of its own that is guarded until it has finished. */
  readonly launch: Launch = (spec, sinks) => {
    const launched = startProcess(spec, sinks);
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

  open(): void {
    const silent = { onStdout: () => undefined, onStderr: () => undefined };
    const env = this.#path === undefined ? {} : { PATH: this.#path };
    this.#process = startProcess({ command: 'sh', args: ['-c', SCRIPT], cwd: '/', env }, silent, { hasInput: true });
    for (const group of this.#groups) this.#tell(`+ ${group}`);
    void this.#process.exited.then((exit) => {
      if (this.#isClosed) return;
      const text = 'no watchdog: until there is one, processes outlive a gateway that is killed with SIGKILL';
      this.#log.warn({ event: 'watchdog-ended', exit }, text);
      // Where there is no shell now, there will be none in a second.
      if (exit.kind !== 'spawn-failed') setTimeout(() => !this.#isClosed && this.open(), RESTART_MS).unref();
    });
  }

  /** The gateway ends by itself, and everything it started has. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#process?.input?.end();
    await this.#process?.exited;
  }

  #tell(line: string): void {
    this.#process?.input?.write(`${line}\n`);
  }
}
