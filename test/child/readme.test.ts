import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

import { CHILD_MAIN } from './support/child.ts';
import { makeFolder } from './support/folder.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The shell blocks of the README, with its port and its temporary file replaced by ones that are free. */
function blocks(port: number, index: string): string[] {
  const readme = readFileSync(`${ROOT}/child/README.md`, 'utf8');
  return [...readme.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, text = '']) =>
    text
      .replaceAll('8080', String(port))
      .replaceAll('/tmp/calls.json', index)
      .replaceAll('node dist/child/main.js', `exec "${process.execPath}" "${CHILD_MAIN}"`)
      .replace('exec ', ''),
  );
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

test('the commands of the README do what it says', async () => {
  const folder = makeFolder();
  const [serve = '', calls = ''] = blocks(await freePort(), folder.file('calls.json'));
  const service = spawn('sh', ['-ec', serve], { cwd: ROOT, stdio: ['ignore', 'ignore', 'pipe'] });
  const exit = once(service, 'exit');
  try {
    await new Promise<void>((resolve, reject) => {
      service.stderr.on('data', (text: Buffer) => text.includes('"listening"') && resolve());
      void exit.then(() => reject(new Error('it ended before it listened')));
    });
    const { stdout } = await promisify(execFile)('sh', ['-ec', calls], { cwd: ROOT });
    expect(stdout).toContain('"packId":"calls"');
    expect(stdout).toContain('{"v":2,"kind":"result","output":{"message":"hi"}}');
    expect(calls).toContain('# {"v":2,"kind":"result","output":{"message":"hi"}}');
  } finally {
    service.kill('SIGTERM');
    expect((await exit)[0]).toBe(0);
    folder.remove();
  }
});
