import { PassThrough } from 'node:stream';
import type { Io } from '../../../gateway/cli/command.ts';
import { runProgram } from '../../../gateway/cli/program.ts';

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `packgate` with these arguments inside this process. */
export async function packgate(argv: readonly string[], io: Partial<Io> = {}): Promise<Outcome> {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const isTty = { stdin: false, stdout: false, stderr: false };
  const silent = { onSignal: () => undefined, onUncaught: () => undefined };
  const code = await runProgram(argv, { env: {}, cwd: '/', stdout, stderr, isTty, ...silent, ...io });
  return { code, stdout: textOf(stdout), stderr: textOf(stderr) };
}

function textOf(stream: PassThrough): string {
  return String((stream.read() as Buffer | null) ?? '');
}
