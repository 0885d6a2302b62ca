import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { openFiles } from '../../../child/serve/files.ts';
import type { CallFiles, Files } from '../../../child/serve/files.ts';
import { FileStore } from '../../../shared/conform/client/fileStore.ts';

const TOKEN = 'token-of-the-files';
const BOTH = { storesFiles: true, readsFiles: true };
const PNG = { bytes: Uint8Array.of(0, 255, 10, 13), type: 'image/png', name: 'a b.png' };

let store: FileStore;
beforeEach(async () => {
  store = await FileStore.open();
});
afterEach(() => store.close());

function open(toolFiles: unknown, signal = new AbortController().signal, use = BOTH): CallFiles {
  return openFiles({ toolFiles, idempotencyKey: 'key-1' }, use, signal);
}

function filesAt(url = store.url): Required<Files> {
  return open({ url, token: TOKEN }).files as Required<Files>;
}

/** The error of a promise that must reject; in nothing of it is the token, nor the place it is for. */
async function errorOf(promise: Promise<unknown>): Promise<Error & { code?: string; status?: number }> {
  const error = await promise.then(
    () => expect.fail('it did not fail'),
    (thrown: unknown) => thrown as Error,
  );
  const told = `${error.stack} ${JSON.stringify(error, Object.getOwnPropertyNames(error))} ${String(error.cause)}`;
  expect(told).not.toContain(TOKEN);
  expect(told).not.toContain('127.0.0.1');
  return error;
}

/** A server that handles raw sockets, for answers that an HTTP library would not give. */
async function rawServer(onData: (text: string, write: (answer: string) => void, end: () => void) => void) {
  const server: Server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (data: Buffer) => {
      onData(
        data.toString('latin1'),
        (answer) => void socket.write(answer),
        () => socket.end(),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = (): Promise<void> => new Promise((resolve) => server.close(() => resolve()));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/files`, close };
}

describe('what is sent', () => {
  test('D36: a store has these headers and no others, in any case the token once', async () => {
    store.answerJson({ file: { id: 'f' } });
    await filesAt().store({ ...PNG, name: 'naïve/€ 1.png' });
    const { headers, body } = store.only();
    const host = new URL(store.url).host;
    expect(Object.fromEntries(headers)).toEqual({
      Authorization: `Bearer ${TOKEN}`,
      'Content-Type': 'image/png',
      'Kindgi-File-Name': 'na%C3%AFve%2F%E2%82%AC%201.png',
      'Content-Length': '4',
      Host: host,
      Connection: 'close',
    });
    expect(headers).toHaveLength(6);
    expect([...body]).toEqual([0, 255, 10, 13]);
  });

  test('D38: a read has nothing but the token', async () => {
    store.answerJson({ notRead: 'gone' });
    await filesAt().read('id-1');
    const { headers } = store.only();
    expect(headers.map(([name]) => name).sort()).toEqual(['Authorization', 'Connection', 'Host']);
  });

  test('D36: a text is sent as UTF-8, an empty file as no bytes, a type with its parameters', async () => {
    store.answerJson({ file: {} });
    await filesAt().store({ bytes: 'größe', type: 'text/plain; charset=utf-8', name: 'x' });
    expect(store.only().body.toString('utf8')).toBe('größe');
    await filesAt().store({ bytes: '', type: 'text/plain', name: 'x' });
    expect(store.only().headers).toContainEqual(['Content-Length', '0']);
  });

  test('D38: the id goes before a query of the url, and a path segment stays one', async () => {
    store.answerJson({ notRead: 'gone' });
    for (const [url, id, target] of [
      [`${store.url}?a=b`, 'x/y', '/v1/tool-files/x%2Fy?a=b'],
      [`${store.url}#part`, '%2e%2e', '/v1/tool-files/%252e%252e'],
      [store.url, '..\\..', '/v1/tool-files/..%5C..'],
      [new URL(store.url).origin, 'x', '/x'],
    ] as const) {
      await filesAt(url).read(id);
      expect(store.only().target).toBe(target);
    }
  });

  test('D40: user info in the url is not sent', async () => {
    store.answerJson({ notRead: 'gone' });
    await filesAt(store.url.replace('//', '//user:secret@')).read('x');
    expect(store.only().headers).toContainEqual(['Authorization', `Bearer ${TOKEN}`]);
  });

  test('D40: over https nothing is sent in the clear', async () => {
    let seen = '';
    const server = await rawServer((text, _write, end) => {
      seen += text;
      end();
    });
    try {
      const error = await errorOf(filesAt(server.url.replace('http:', 'https:')).read('x'));
      expect(error).toMatchObject({ code: 'tool-files-failed' });
      expect(seen.charCodeAt(0)).toBe(0x16);
      expect(seen).not.toContain(TOKEN);
    } finally {
      await server.close();
    }
  });

  test.each([
    ['bytes', { ...PNG, bytes: 5 }],
    ['bytes', { ...PNG, bytes: [1, 2] }],
    ['type', { ...PNG, type: 'image/png\r\nX-More: 1' }],
    ['type', { ...PNG, type: 'größe' }],
    ['type', { ...PNG, type: '' }],
    ['name', { ...PNG, name: '' }],
    ['name', { ...PNG, name: '\ud800' }],
    ['name', { bytes: '', type: 'a/b' }],
    ['bytes', undefined],
  ])('D36: a wrong `%s` is told at once, without a request', async (argument, file) => {
    const error = await errorOf(filesAt().store(file as never));
    expect(error).toBeInstanceOf(TypeError);
    expect(error.message).toContain(`\`${argument}\``);
    expect(store.requests).toEqual([]);
  });

  test.each(['', '.', '..', '\udfff', 7, undefined])('D40: the id %j is refused without a request', async (id) => {
    expect(await errorOf(filesAt().read(id as string))).toBeInstanceOf(TypeError);
    expect(store.requests).toEqual([]);
  });
});

describe('what comes back', () => {
  test('D37: the answer is handed on as it is', async () => {
    const answer = { file: { id: 'f', more: [1, null] }, ofTheFuture: true };
    store.answerJson(answer);
    expect(await filesAt().store(PNG)).toEqual(answer);
  });

  test('D38: a file that is JSON comes as its bytes, because its type says so', async () => {
    const headers = { 'content-type': 'Application/Octet-Stream; a=b' };
    store.answerWith({ status: 200, headers, body: '{"notRead":"gone"}' });
    expect(await filesAt().read('x')).toEqual({ bytes: Buffer.from('{"notRead":"gone"}') });
  });

  test.each([
    [200, 'application/json', '{"file":"x"}'],
    [200, 'application/json', '{no JSON'],
    [200, 'application/json', '[]'],
    [200, 'text/html', '<p>'],
    [200, '', ''],
    [204, 'application/json', ''],
    [302, 'application/json', '{"file":{}}'],
    [401, 'application/json', '{"error":"x"}'],
    [500, 'application/json', '{"file":{}}'],
  ])('D40: %i of type "%s" with %s is a failure, of a store and of a read', async (status, type, body) => {
    store.answerWith({ status, headers: { 'content-type': type, location: store.url }, body });
    expect(await errorOf(filesAt().store(PNG))).toMatchObject({ name: 'FilesError', code: 'tool-files-failed' });
    expect(await errorOf(filesAt().read('x'))).toMatchObject({ name: 'FilesError', code: 'tool-files-failed' });
    expect(store.requests).toHaveLength(2);
  });

  test('D38: half a file is no file', async () => {
    const server = await rawServer((_text, write, end) => {
      write('HTTP/1.1 200 OK\r\ncontent-type: application/octet-stream\r\ncontent-length: 10\r\n\r\nhalf');
      end();
    });
    try {
      expect(await errorOf(filesAt(server.url).read('x'))).toMatchObject({ code: 'tool-files-failed' });
    } finally {
      await server.close();
    }
  });

  test('D39: a runtime that has no room may say so before it has read the bytes', async () => {
    const server = await rawServer((_text, write) => {
      write('HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n');
    });
    try {
      const bytes = new Uint8Array(20_000_000);
      const error = await errorOf(filesAt(server.url).store({ ...PNG, bytes }));
      expect(error).toMatchObject({ code: 'tool-files-busy', status: 503 });
    } finally {
      await server.close();
    }
  });

  test('D40: a runtime that is not there is a failure that does not name its place', async () => {
    const { url } = store;
    await store.close();
    const error = await errorOf(filesAt(url).read('x'));
    expect(error).toMatchObject({ code: 'tool-files-failed', message: expect.stringContaining('ECONNREFUSED') });
    store = await FileStore.open();
  });
});

describe('how long it lasts', () => {
  test.each(['deadline-exceeded', 'cancelled'])('D40: a call that ends as %s gives its request up', async (reason) => {
    store.answerWith('nothing');
    const call = new AbortController();
    const { files } = open({ url: store.url, token: TOKEN }, call.signal);
    const failed = errorOf(files?.read?.('x') as Promise<unknown>);
    await store.until('it was asked', () => store.requests.length === 1);
    call.abort(reason);
    expect(await failed).toMatchObject({ code: 'tool-files-ended', message: expect.stringContaining(reason) });
    await store.until('it was given up', () => store.abandoned === 1);
    expect(await errorOf(files?.store?.(PNG) as Promise<unknown>)).toMatchObject({ code: 'tool-files-ended' });
    expect(store.requests).toHaveLength(1);
  });

  test('D40: after the answer nothing more is sent, and nobody hears of a request that nobody waited for', async () => {
    store.answerWith('nothing');
    const unheard = vi.fn<(reason: unknown) => void>();
    process.on('unhandledRejection', unheard);
    try {
      const call = open({ url: store.url, token: TOKEN });
      void call.files?.store?.(PNG);
      await store.until('it was asked', () => store.requests.length === 1);
      call.close();
      await store.until('it was given up', () => store.abandoned === 1);
      expect(await errorOf(call.files?.read?.('x') as Promise<unknown>)).toMatchObject({ code: 'tool-files-ended' });
      expect(store.requests).toHaveLength(1);
      expect(unheard).not.toHaveBeenCalled();
    } finally {
      process.off('unhandledRejection', unheard);
    }
  });
});

describe('who gets some', () => {
  const place = { url: 'https://runtime.example/files', token: TOKEN };
  const { signal } = new AbortController();

  test.each([
    ['a tool that declares nothing', { toolFiles: place, idempotencyKey: 'k' }, {}, undefined],
    ['a call without a place', { idempotencyKey: 'k' }, BOTH, undefined],
    ['a tool that does both', { toolFiles: place, idempotencyKey: 'k' }, BOTH, ['read', 'store']],
    ['a call without a key', { toolFiles: place }, BOTH, ['read']],
    ['a call with an empty key', { toolFiles: place, idempotencyKey: '' }, { storesFiles: true }, []],
  ])('D35: %s', (_name, ctx, use, expected) => {
    const { files } = openFiles(ctx, { storesFiles: false, readsFiles: false, ...use }, signal);
    expect(files && Object.keys(files).sort()).toEqual(expected);
  });

  test.each([
    null,
    'https://runtime.example',
    { url: place.url },
    { token: TOKEN },
    { ...place, url: 'file:///etc/passwd' },
    { ...place, url: 'https://' },
    { ...place, url: 7 },
    { ...place, token: 'two words' },
    { ...place, token: 'a\r\nX: 1' },
    { ...place, token: '' },
  ])('D35: a place that nothing can be sent to is none: %j', (toolFiles) => {
    expect(open(toolFiles).files).toBeUndefined();
  });

  test('D40: nothing that can be looked at holds the token', () => {
    const { files } = open(place);
    expect(JSON.stringify({ files, ...files })).not.toContain(TOKEN);
    expect(Object.isFrozen(files)).toBe(true);
  });
});
