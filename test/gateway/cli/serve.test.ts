import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { HOST_ENV, makeFolder, withTenant } from '../config/folder.ts';
import { packgate } from './output.ts';

/** An address that something listens on. */
async function takenPort(): Promise<number> {
  const server = createServer();
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

it.each([
  ['listen', (port: number) => `listen: 127.0.0.1:${port}`],
  [
    'admin.listen',
    (port: number) =>
      `listen: 127.0.0.1:0\nadmin: { listen: "127.0.0.1:${port}", token: { sha256: "${'ab'.repeat(32)}" } }`,
  ],
])('serve that finds its %s taken says which, and ends with 1', async (key, yaml) => {
  const port = await takenPort();
  const cwd = makeFolder({ 'packgate.yaml': `${yaml(port)}\n${withTenant()}` });
  const outcome = await packgate(['serve', '-c', join(cwd, 'packgate.yaml')], { cwd, env: HOST_ENV });
  expect(outcome).toEqual({
    code: 1,
    stdout: '',
    stderr: `packgate: cannot listen on 127.0.0.1:${port}: something listens there already. Stop it or change ${key}:.\n`,
  });
});
