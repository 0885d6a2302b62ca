#!/usr/bin/env node
import { isatty } from 'node:tty';
import { EXIT } from '../shared/process/contract.ts';
import { runProgram } from './cli/program.ts';

for (const stream of [process.stdout, process.stderr]) {
  // Whoever read our output has gone (`packgate check | head`): nothing to tell anybody, and no reason to die.
  stream.on('error', () => undefined);
}

try {
  const code = await runProgram(process.argv.slice(2), {
    env: process.env,
    cwd: process.cwd(),
    stdout: process.stdout,
    stderr: process.stderr,
    stdin: () => process.stdin,
    isTty: { stdin: isatty(0), stdout: isatty(1), stderr: isatty(2) },
    onSignal: (signal, listener) => void process.on(signal, listener),
    onUncaught: (listener) => void process.on('uncaughtException', listener),
  });
  // A pipe takes 64 KiB at a time, and the exit waits for nothing.
  await new Promise((done) => process.stdout.write('', done));
  process.exit(code);
} catch (error) {
  const text = error instanceof Error ? error : new Error(String(error));
  const isDebug = (process.env.PACKGATE_DEBUG ?? '') === '1';
  process.stderr.write(
    isDebug
      ? `${text.stack ?? text.message}\n`
      : `packgate: internal error: ${text.message.replaceAll(/\s+/g, ' ')} (PACKGATE_DEBUG=1 shows where)\n`,
  );
  process.exit(EXIT.failed);
}
