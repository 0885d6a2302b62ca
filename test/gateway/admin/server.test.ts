import { chmodSync, chownSync, existsSync, lstatSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AdminServer } from '../../../gateway/admin/server.ts';
import type { Done } from '../../../gateway/supervisor/status.ts';
import { temporaryFolder, until } from '../../support/files.ts';
import { descriptorCount } from '../../support/processes.ts';
import { openRawClient, requestBytes } from '../../support/rawClient.ts';
import { FakeHost, keepingLog, statusOf } from './fakeHost.ts';
import { ADMIN_TOKEN, askAt, openAdmin } from './openAdmin.ts';

function adminServer(): AdminServer {
  const server = new AdminServer({ host: new FakeHost(), log: keepingLog().log });
  onTestFinished(() => server.close());
  return server;
}

const modeOf = (path: string): number => statSync(path).mode & 0o777;

describe('the Unix socket', () => {
  it('is open to its owner alone, in a folder that is made for it, whatever the mask', async () => {
    const before = process.umask(0o000);
    onTestFinished(() => void process.umask(before));
    const folder = join(temporaryFolder(), 'a', 'b');
    const path = join(folder, 'admin.sock');
    expect(await adminServer().open({ kind: 'unix', path })).toBe(`unix:${path}`);
    expect(lstatSync(path).isSocket()).toBe(true);
    expect([modeOf(path), modeOf(folder)]).toEqual([0o600, 0o700]);
    expect(process.umask()).toBe(0o000);
  });

  it('leaves the mode of a folder that is there', async () => {
    const folder = temporaryFolder();
    chmodSync(folder, 0o755);
    await adminServer().open({ kind: 'unix', path: join(folder, 'admin.sock') });
    expect([modeOf(folder), modeOf(join(folder, 'admin.sock'))]).toEqual([0o755, 0o600]);
  });

  it('that a killed gateway left behind is replaced', async () => {
    const folder = temporaryFolder();
    const path = join(folder, 'admin.sock');
    // Closing a listener removes its file; one that was renamed meanwhile stays, as after a SIGKILL.
    const dead = createServer();
    await new Promise<void>((done) => dead.listen(path, done));
    renameSync(path, join(folder, 'kept'));
    await new Promise((done) => dead.close(done));
    renameSync(join(folder, 'kept'), path);
    expect(lstatSync(path).isSocket()).toBe(true);

    const address = await adminServer().open({ kind: 'unix', path });
    expect((await askAt(address, '/healthz')).status).toBe(200);
  });

  it('of a gateway that lives is left alone', async () => {
    const { address } = await openAdmin('unix');
    const path = address.slice('unix:'.length);
    await expect(adminServer().open({ kind: 'unix', path })).rejects.toMatchObject({ code: 'EADDRINUSE' });
    expect((await askAt(address, '/healthz')).status).toBe(200);
  });

  it.runIf(process.getuid?.() === 0)('is not put into a folder that somebody else made where all may', async () => {
    const shared = join(temporaryFolder(), 'tmp');
    mkdirSync(shared);
    chmodSync(shared, 0o1777);
    const folder = join(shared, 'packgate-0-0123456789abcdef');
    mkdirSync(folder);
    chownSync(folder, 65_534, 65_534);
    const path = join(folder, 'admin.sock');
    await expect(adminServer().open({ kind: 'unix', path })).rejects.toThrow('belongs to another user');
    expect(existsSync(path)).toBe(false);
    chownSync(folder, 0, 0);
    await adminServer().open({ kind: 'unix', path });
  });

  it('is gone after close', async () => {
    const { address, server } = await openAdmin('unix');
    await server.close();
    expect(existsSync(address.slice('unix:'.length))).toBe(false);
  });
});

describe('a TCP listener', () => {
  it('without a token is not opened', async () => {
    const server = adminServer();
    await expect(server.open({ kind: 'tcp', host: '127.0.0.1', port: 0 })).rejects.toThrow('has no token');
  });
});

describe('slow and broken clients', () => {
  it('that never finish their request are cut after 10 s, and keep nobody else waiting', async () => {
    const { address } = await openAdmin('tcp', new FakeHost().add(statusOf('acme', 'crm')));
    const port = Number(new URL(address).port);
    const head = `POST /v1/deployments/acme/crm/stop HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${ADMIN_TOKEN}\r\n`;
    const slow = ['', head.slice(0, 30), head, `${head}Content-Length: 100\r\n\r\nabc`];
    const clients = await Promise.all(slow.map(() => openRawClient(port)));
    const begun = performance.now();
    for (const [at, client] of clients.entries()) if (slow[at]) client.send(slow[at]);
    expect((await askAt(address, '/healthz')).status).toBe(200);
    for (const client of clients) {
      expect(await client.readToEnd(15_000)).toMatch(/^HTTP\/1\.1 408 [\s\S]*"code":"request-timeout"/);
      client.close();
    }
    expect(performance.now() - begun).toBeGreaterThan(9_000);
  });

  it('that send no HTTP, or too long a head, get JSON', async () => {
    const { address } = await openAdmin('tcp');
    const port = Number(new URL(address).port);
    for (const [bytes, answer] of [
      ['nonsense\r\n\r\n', /^HTTP\/1\.1 400 [\s\S]*"code":"bad-request"/],
      [`GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, /^HTTP\/1\.1 431 [\s\S]*"code":"headers-too-large"/],
    ] as const) {
      const client = await openRawClient(port);
      client.send(bytes);
      expect(await client.readUntil(answer)).toMatch(answer);
      client.close();
    }
  });
});

describe('close', () => {
  it('does not wait for connections that are kept open, nor for half a request', async () => {
    const { address, server } = await openAdmin('tcp');
    const port = Number(new URL(address).port);
    const idle = await Promise.all(Array.from({ length: 10 }, () => openRawClient(port)));
    for (const client of idle) {
      client.send(requestBytes({ method: 'GET', target: '/healthz' }));
      await client.readUntil(/"ok"/);
    }
    const half = await openRawClient(port);
    half.send('GET /healthz HT');
    const begun = performance.now();
    await server.close();
    expect(performance.now() - begun).toBeLessThan(500);
    for (const client of [...idle, half]) await until('the connection is closed', client.isEnded);
    for (const client of [...idle, half]) client.close();
  });

  it('answers those who wait for an order', async () => {
    const host = new FakeHost().add(statusOf('acme', 'crm'));
    host.answer = () => ({ accepted: true, done: new Promise<Done>(() => undefined) });
    const { ask, server } = await openAdmin('tcp', host);
    const waiting = Array.from({ length: 20 }, () => ask('/v1/deployments/acme/crm/stop?wait=10m', { method: 'POST' }));
    await until('all orders are there', () => host.orders.length === 20);
    const begun = performance.now();
    await server.close();
    expect(performance.now() - begun).toBeLessThan(900);
    for (const { status, json } of await Promise.all(waiting)) {
      expect([status, json]).toEqual([202, { accepted: true, done: false }]);
    }
  });

  it('of one that was never opened, or a second one, is fine', async () => {
    const server = adminServer();
    await expect(server.close()).resolves.toBeUndefined();
    await expect(server.close()).resolves.toBeUndefined();
  });

  it('leaves no descriptor behind, 20 times', async () => {
    const before = descriptorCount(process.pid);
    for (let round = 0; round < 20; round += 1) {
      const { ask, server, address } = await openAdmin(round % 2 === 0 ? 'unix' : 'tcp');
      await ask('/v1/deployments');
      const lingering = connect(
        address.startsWith('unix:') ? { path: address.slice(5) } : { port: Number(new URL(address).port) },
      );
      await new Promise((done) => lingering.once('connect', done));
      const closed = new Promise((done) => lingering.once('close', done));
      lingering.resume().on('error', () => undefined);
      await server.close();
      await closed;
    }
    // Descriptors go a tick after their connections.
    await expect.poll(() => descriptorCount(process.pid)).toBeLessThanOrEqual(before);
  });
});
