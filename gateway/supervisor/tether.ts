import type { LaunchSpec } from '../runtimes/launchSpec.ts';
import { obstacle } from './spawnProblem.ts';

/** What `setpriv`, `env` and shells end with when they cannot execute what they were told to. */
const NOT_EXECUTED: readonly number[] = [126, 127];
/** What a shell ends with that was handed something else than a script. */
const NOT_UNDERSTOOD = 2;

/** Most of the first output that is kept to see why a program was not executed. */
const OPENING_BYTES = 512;

/**
 * A launch spec whose process gets SIGKILL when its parent ends. `setpriv`, the tether, replaces itself by the program:
 * the process, its number, its group and its environment are the program's.
 */
export function tethered(spec: LaunchSpec, tether: string): LaunchSpec {
  return { ...spec, command: tether, args: ['--pdeathsig', 'KILL', '--', spec.command, ...spec.args] };
}

/** Whether an exit code may mean that a program was not executed at all. */
export function mayMeanNotExecuted(code: number): boolean {
  return code === NOT_UNDERSTOOD || NOT_EXECUTED.includes(code);
}

/**
 * Why the program of `spec` was not executed, when that is what its exit code meant; undefined: it was. Who executes it
 * (a tether, `#!/usr/bin/env`, a shell that was handed no script) runs, fails, and ends with a code, so that its start
 * looks like a success. `opening`: the first that was printed on stderr; asked for only when looking does not tell.
 */
export async function notExecuted(
  spec: LaunchSpec,
  code: number,
  opening: () => Promise<string>,
): Promise<string | undefined> {
  const reason = await obstacle(spec);
  if (reason !== undefined || !NOT_EXECUTED.includes(code)) return reason;
  const said = /^setpriv: (.*)$/m.exec(await opening())?.[1];
  return said === undefined ? undefined : `${spec.command} cannot be started: ${said}`;
}

/** The first bytes of a stream. */
export class Opening {
  #bytes: Buffer = Buffer.alloc(0);

  add(chunk: Buffer): void {
    const room = OPENING_BYTES - this.#bytes.length;
    if (room > 0) this.#bytes = Buffer.concat([this.#bytes, chunk.subarray(0, room)]);
  }

  text(): string {
    return this.#bytes.toString('utf8');
  }
}
