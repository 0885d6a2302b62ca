#!/usr/bin/env node
// A pack service that does as a test says: the program behind `fakePackService()`. A gateway starts it as it starts any
// other (runtime `command`), so it is a process of its own; `--control` names the socket of the test's side.
import { readFileSync } from 'node:fs';
import { ENV, EXIT } from '../../../shared/process/contract.ts';
import { Control } from './control.ts';
import { FakeService } from './service.ts';

function argument(name: string): string {
  const at = process.argv.indexOf(name);
  return at < 0 ? '' : (process.argv[at + 1] ?? '');
}

const token = process.env[ENV.token] ?? '';
// As every service does, so that nothing it might be made to print can hold it (C6).
delete process.env[ENV.token];

const service = new FakeService({
  index: readFileSync(argument('--index')),
  token,
  tenantId: process.env[ENV.tenantId],
  maxConcurrency: Number(process.env[ENV.maxConcurrency] ?? '32'),
  control: new Control(argument('--control')),
  say: (line) => void process.stderr.write(`${line}\n`),
  exit: (code) => process.exit(code),
  die: () => void process.kill(process.pid, 'SIGKILL'),
});
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => service.drain());
try {
  await service.open(Number(process.env[ENV.port] ?? '8080'), argument('--host'));
} catch (error) {
  process.stderr.write(`${JSON.stringify({ kind: 'boot-failed', problems: [String(error)] })}\n`);
  process.exit(EXIT.failed);
}
