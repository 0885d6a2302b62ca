import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { openFiles } from '../../../child/serve/files.ts';
import type { Files } from '../../../child/serve/files.ts';
import { StandIns } from '../../../gateway/dev/standIns/standIns.ts';
import type { StandInOffer } from '../../../gateway/dev/standIns/standIns.ts';
import type { ShelfBounds } from '../../../gateway/dev/standIns/shelf.ts';
import { systemClock } from '../../../gateway/clock.ts';
import { temporaryFolder, until } from '../../support/files.ts';
import { send } from '../../support/http.ts';
import type { Answer } from '../../support/http.ts';
import { descriptorCount } from '../../support/processes.ts';

const UUID = '3f2b8c1e-4a5d-4e6f-9a0b-1c2d3e4f5a6b';
const OTHER = '8d1c6c0e-0d3f-4c52-9c52-6a1f8f6f2b10';
const BOTH = { files: true, pauses: true };
const BOUNDS: ShelfBounds = { files: 100, bytes: 100_000, fileBytes: 60_000 };
const GRACE_MS = 10_000;

let folder: string;
let nowMs: number;
let events: unknown[][];
let standIns: StandIns;

async function open(bounds = BOUNDS): Promise<StandIns> {
  const opened = await StandIns.open({
    folder,
    bounds,
    clock: { ...systemClock, now: () => nowMs },
    onPaused: ({ tenantId, toolId }, pause, url) => void events.push(['paused', tenantId, toolId, pause, url]),
    onAnswered: ({ tenantId, toolId }, output) => void events.push(['answered', tenantId, toolId, output]),
  });
  onTestFinished(() => opened.close());
  return opened;
}

beforeEach(async () => {
  folder = join(temporaryFolder(), 'stand-ins');
  nowMs = 0;
  events = [];
  standIns = await open();
});

interface OneCall {
  readonly offer: Required<StandInOffer>;
  /** As a handler has them, in our own service. */
  readonly files: Required<Files>;
  readonly give: (name: string, bytes: string | Buffer, headers?: Record<string, string>) => Promise<Answer>;
  readonly over: (told?: object) => Promise<Answer>;
}

function startCall(tenantId = UUID, timeoutMs = 60_000, from = standIns): OneCall {
  const offer = from.offer({ tenantId, toolId: 'desk.tool', timeoutMs }, BOTH) as Required<StandInOffer>;
  const context = { toolFiles: offer.toolFiles, idempotencyKey: 'key' };
  const use = { storesFiles: true, readsFiles: true };
  const { files } = openFiles(context, use, new AbortController().signal);
  const path = new URL(offer.call).pathname;
  return {
    offer,
    files: files as Required<Files>,
    give: (name, body, headers = { 'content-type': 'text/plain' }) =>
      send(offer.call, { method: 'PUT', path: `${path}/files/${encodeURIComponent(name)}`, headers, body }),
    over: (told = {}) => send(offer.call, { method: 'POST', path: `${path}/over`, body: JSON.stringify(told) }),
  };
}

interface FileFacts {
  readonly id: string;
  readonly url: string;
}

async function idOf(stored: ReturnType<Required<Files>['store']>): Promise<string> {
  const answer = await stored;
  if ('notStored' in answer) throw new Error(`not stored: ${answer.notStored}`);
  return (answer.file as FileFacts).id;
}

function file(text: string, name = 'a.txt'): { bytes: string; type: string; name: string } {
  return { bytes: text, type: 'text/plain', name };
}

/** An address as it is, whatever is in it. */
function get(url: string, headers = {}): Promise<Answer> {
  return send(url, { path: url.slice(new URL(url).origin.length), headers });
}

function post(url: string, body: string): Promise<Answer> {
  return send(url, { method: 'POST', path: new URL(url).pathname, body });
}

describe('what is offered', () => {
  it('is what the tool declares, and for every call with secrets of its own', () => {
    const coming = { tenantId: UUID, toolId: 't', timeoutMs: 1 };
    expect(Object.keys(standIns.offer(coming, { files: false, pauses: false }))).toEqual(['call']);
    expect(Object.keys(standIns.offer(coming, { files: true, pauses: false }))).toEqual(['toolFiles', 'call']);
    expect(Object.keys(standIns.offer(coming, { files: false, pauses: true }))).toEqual(['waitToken', 'call']);
    const offers = [startCall().offer, startCall().offer];
    const secrets = offers.flatMap(({ toolFiles, waitToken, call }) => [toolFiles.token, waitToken.url, call]);
    expect(new Set(secrets).size).toBe(6);
    for (const url of secrets.filter((secret) => secret.startsWith('http')))
      expect(url).toMatch(/^http:\/\/127\.0\.0\.1:/);
  });
});

describe('files of a call', () => {
  it('are stored and read, told at its end, and to be had then', async () => {
    const call = startCall();
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    const stored = await call.files.store({ bytes, type: 'image/png', name: 'a.png' });
    const id = await idOf(Promise.resolve(stored));
    expect(stored).toEqual({ file: { id, name: 'a.png', type: 'image/png', size: 256 } });
    expect(await call.files.read(id)).toEqual({ bytes });
    expect(await call.files.store({ bytes: '', type: 'a/b', name: 'empty' })).toMatchObject({ file: { size: 0 } });
    const { files } = (await call.over()).json as { files: FileFacts[] };
    expect(files).toMatchObject([{ id, name: 'a.png', size: 256 }, { name: 'empty' }]);
    const { status, headers, body } = await get(files[0]?.url ?? '');
    expect([status, body]).toEqual([200, bytes]);
    expect(headers).toMatchObject({ 'content-type': 'application/octet-stream', 'content-disposition': 'attachment' });
  });

  it.each([
    '../../evil.sh',
    '/etc/passwd',
    '..\\x',
    'a/b',
    '%2e%2e',
    '..%2f',
    'größe €',
    '\u001b[31m',
    'a\nb',
    '__proto__',
  ])('may have any name, which is never a path: %j', async (name) => {
    const call = startCall();
    expect((await call.give(name, 'given')).status).toBe(200);
    expect(await call.files.read(name)).toEqual({ bytes: Buffer.from('given') });
    expect(await call.files.store(file('stored', name))).toMatchObject({ file: { name } });
    for (const entry of readdirSync(folder)) expect(entry).toMatch(/^[0-9a-f-]{36}$/);
    expect(readdirSync(folder)).toHaveLength(2);
    expect(readdirSync(join(folder, '..'))).toEqual(['stand-ins']);
  });

  it('are not read by what looks like a path', async () => {
    const call = startCall();
    const id = await idOf(call.files.store(file('mine')));
    for (const path of [
      `../stand-ins/${id}`,
      `./${id}`,
      '../../../../etc/passwd',
      `${id}/`,
      `${folder}/${id}`,
      `${id}\0`,
    ])
      expect(await call.files.read(path)).toEqual({ notRead: 'gone' });
  });

  it.each(['.', '..'])('cannot be given by the name %j, which no handler could read', async (name) => {
    expect(await startCall().give(name, 'x')).toMatchObject({ status: 400, json: { code: 'bad-name' } });
  });

  it('D37: of the same bytes are one file, also when both come at once', async () => {
    const ids = new Set<string>();
    for (let round = 0; round < 20; round += 1) {
      const call = startCall();
      const all = await Promise.all(['a', 'b', 'c'].map((name) => idOf(call.files.store(file('same', name)))));
      expect(new Set(all).size).toBe(1);
      ids.add(all[0] ?? '');
      expect((await call.over()).json.files).toHaveLength(1);
    }
    // In calls apart they are files apart.
    expect(ids.size).toBe(20);
  });

  it('D37: are ten at most, however fast they come; the eleventh meets the limit', async () => {
    const call = startCall();
    const answers = [];
    for (const round of [0, 1])
      answers.push(
        ...(await Promise.all(Array.from({ length: 6 }, (_, at) => call.files.store(file(`file ${round} ${at}`))))),
      );
    expect(answers.filter((answer) => 'file' in answer)).toHaveLength(10);
    expect(answers.filter((answer) => 'notStored' in answer)).toEqual([{ notStored: 'limit' }, { notStored: 'limit' }]);
    expect(await call.files.store(file('file 0 0'))).toHaveProperty('file');
    expect(readdirSync(folder)).toHaveLength(10);
  });

  it('D37: are not larger than the bound, given or stored', async () => {
    const call = startCall();
    const most = 'x'.repeat(BOUNDS.fileBytes);
    expect(await call.files.store(file(`${most}x`))).toEqual({ notStored: 'size' });
    expect(await call.give('large', `${most}x`)).toMatchObject({ status: 413, json: { code: 'size' } });
    expect(readdirSync(folder)).toEqual([]);
    expect(await call.files.store(file(most))).toHaveProperty('file');
  });

  it('D37: find no storage beside those of calls under way; what calls left behind makes room, that of the first to end first', async () => {
    const [first, second, third] = [startCall(), startCall(), startCall()];
    const half = (letter: string) => file(letter.repeat(45_000), letter);
    const [a, b] = [await idOf(first.files.store(half('a'))), await idOf(second.files.store(half('b')))];
    expect(await third.files.store(half('c'))).toEqual({ notStored: 'storage' });
    expect(await third.give('c', half('c').bytes)).toMatchObject({ status: 507, json: { code: 'storage' } });
    await second.over();
    await first.over();
    const c = await idOf(third.files.store(half('c')));
    expect(await third.files.read(b)).toEqual({ notRead: 'gone' });
    expect(await third.files.read(a)).toHaveProperty('bytes');
    expect(await third.files.read(c)).toHaveProperty('bytes');
    await until('the bytes are gone, too', () => readdirSync(folder).length === 2);
  });

  it('D39: that are too many at once are told to come again, without effect', async () => {
    const call = startCall();
    const { url, token } = call.offer.toolFiles;
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'a/b',
      'kindgi-file-name': 'x',
      'content-length': 9,
    };
    const slow = Array.from({ length: 8 }, () => {
      const one = request(url, { method: 'POST', headers, agent: false });
      one.on('error', () => undefined);
      one.write('half');
      return one;
    });
    await expect(
      until('there is no room', () =>
        call.files.store(file('x')).then(
          () => false,
          (error: unknown) => error as object,
        ),
      ),
    ).resolves.toMatchObject({ code: 'tool-files-busy', status: 503 });
    for (const one of slow) one.destroy();
    await until('there is', () =>
      call.files.store(file('x')).then(
        () => true,
        () => false,
      ),
    );
    expect((await call.over()).json.files).toHaveLength(1);
  });
});

describe('who may', () => {
  it('the token opens files until the call is over', async () => {
    const call = startCall();
    const id = await idOf(call.files.store(file('x')));
    await call.over();
    const refused = { code: 'tool-files-failed', status: 401 };
    await expect(call.files.read(id)).rejects.toMatchObject(refused);
    await expect(call.files.store(file('y'))).rejects.toMatchObject(refused);
    expect(await call.give('late', 'x')).toMatchObject({ status: 409 });
  });

  it('D40: and not past its deadline, when nobody said that it is over', async () => {
    const call = startCall(UUID, 5_000);
    nowMs = 5_000 + GRACE_MS - 1;
    const id = await idOf(call.files.store(file('x')));
    nowMs += 1;
    await expect(call.files.read(id)).rejects.toMatchObject({ status: 401 });
    await expect(call.files.store(file('y'))).rejects.toMatchObject({ status: 401 });
  });

  it('a wrong token, none, and the other secrets of the same call open nothing', async () => {
    const { offer } = startCall();
    const keys = [offer.call, offer.waitToken.url].map((url) => url.split('/').at(-1));
    for (const token of ['', 'wrong', `${offer.toolFiles.token}x`, offer.toolFiles.token.slice(1), ...keys]) {
      const headers = { authorization: `Bearer ${token}` };
      expect(await get(`${offer.toolFiles.url}/x`, headers)).toMatchObject({
        status: 401,
        json: { code: 'bad-token' },
      });
    }
    expect((await get(`${offer.toolFiles.url}/x`)).status).toBe(401);
    const origin = new URL(offer.call).origin;
    for (const key of [offer.toolFiles.token, keys[1], 'wrong']) {
      expect((await post(`${origin}/calls/${key}/over`, '{}')).status).toBe(404);
    }
    expect((await post(`${origin}/waits/${keys[0]}`, '1')).status).toBe(404);
    expect(events).toEqual([]);
  });

  it("another tenant's call does not find a file; a later one of the same tenant does, in any letter case", async () => {
    const call = startCall();
    const id = await idOf(call.files.store(file('x')));
    await call.give('given', 'x');
    expect(await startCall(OTHER).files.read(id)).toEqual({ notRead: 'gone' });
    await call.over();
    const next = startCall(UUID.toUpperCase());
    expect(await next.files.read(id)).toEqual({ bytes: Buffer.from('x') });
    // What was given was for that call.
    expect(await next.files.read('given')).toEqual({ notRead: 'gone' });
  });

  it('a request that is none is refused, and the next one is answered', async () => {
    const { offer, files } = startCall();
    const authorization = `Bearer ${offer.toolFiles.token}`;
    const path = new URL(offer.toolFiles.url).pathname;
    const type = { 'content-type': 'a/b' };
    for (const headers of [{ ...type }, { ...type, 'kindgi-file-name': '%' }, { 'kindgi-file-name': 'x' }]) {
      const answer = await send(offer.call, {
        method: 'POST',
        path,
        headers: { authorization, ...headers },
        body: 'x',
      });
      expect(answer.status).toBe(400);
    }
    expect((await get(`${offer.toolFiles.url}/%`, { authorization })).status).toBe(400);
    expect((await get(`${offer.call}/files/x`)).status).toBe(404);
    expect((await send(offer.call, { method: 'DELETE', path })).status).toBe(404);
    expect(await files.store(file('x'))).toHaveProperty('file');
  });
});

describe('pauses', () => {
  it('are told with their address, shown there, and answered there once, whenever', async () => {
    const call = startCall(UUID, 5_000);
    const { url } = call.offer.waitToken;
    await call.over({ pause: { v: 2, kind: 'pause', name: 'the manager', timeoutMs: 5 } });
    await call.over({ pause: { name: 'again' } });
    expect(events).toEqual([['paused', UUID, 'desk.tool', { name: 'the manager', timeoutMs: 5 }, url]]);
    nowMs = 3_600_000;
    const { headers, text } = await get(url);
    expect(headers['content-type']).toMatch(/^text\/plain/);
    expect(text).toMatch(/^desk\.tool waits for "the manager"\./);
    expect(await post(url, '{"approved":')).toMatchObject({ status: 400, json: { code: 'no-json' } });
    expect((await post(url, JSON.stringify('x'.repeat(2 ** 20)))).status).toBe(413);
    expect(await post(url, '{"approved":true}')).toMatchObject({ status: 200, json: { taken: true } });
    expect(await post(url, '{"approved":false}')).toMatchObject({ status: 409, json: { code: 'answered' } });
    expect(events.slice(1)).toEqual([['answered', UUID, 'desk.tool', { approved: true }]]);
  });

  it('may be answered before they are told', async () => {
    const call = startCall();
    expect((await post(call.offer.waitToken.url, 'null')).status).toBe(200);
    expect(events).toEqual([['answered', UUID, 'desk.tool', null]]);
  });

  it.each([{}, { pause: null }, { pause: 7 }, []])('are none when the call ended otherwise: %j', async (told) => {
    const call = startCall();
    await call.over(told);
    expect((await post(call.offer.waitToken.url, '1')).status).toBe(404);
    expect((await get(call.offer.waitToken.url)).status).toBe(404);
    expect(events).toEqual([]);
  });
});

describe('at the end', () => {
  it('nothing is left, also in the middle of an upload, five times of five', async () => {
    await standIns.close();
    const before = descriptorCount(process.pid);
    for (let round = 0; round < 5; round += 1) {
      const one = await open();
      const call = startCall(UUID, 60_000, one);
      await call.files.store(file('x'));
      const { url, token } = call.offer.toolFiles;
      const headers = {
        authorization: `Bearer ${token}`,
        'content-type': 'a/b',
        'kindgi-file-name': 'x',
        'content-length': 9,
      };
      const half = request(url, { method: 'POST', headers, agent: false });
      const cut = new Promise((resolve) => half.once('error', resolve));
      half.write('half');
      await new Promise((resolve) => half.once('socket', (socket) => socket.once('connect', resolve)));
      await one.close();
      await cut;
      expect(existsSync(folder)).toBe(false);
      await expect(get(`${url}/x`)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    }
    await until('no descriptor is left', () => descriptorCount(process.pid) <= before);
  });

  it('what a loop that was killed left behind goes when the next one opens', async () => {
    await standIns.close();
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'left'), 'x');
    await open();
    expect(readdirSync(folder)).toEqual([]);
  });

  it('a thousand calls later the oldest is forgotten, and its files may go', async () => {
    const oldest = startCall();
    await oldest.files.store(file('x'.repeat(60_000)));
    for (let count = 0; count < 1_000; count += 1) startCall();
    await expect(oldest.files.store(file('y'))).rejects.toMatchObject({ status: 401 });
    expect((await oldest.over()).status).toBe(404);
    expect(await startCall().files.store(file('z'.repeat(60_000)))).toHaveProperty('file');
  });
});
