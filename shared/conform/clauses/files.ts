import assert from 'node:assert/strict';
import { HEADER } from '../../protocol/headers.ts';
import { invoke } from '../client/call.ts';
import { FileStore } from '../client/fileStore.ts';
import type { FileStoreRequest } from '../client/fileStore.ts';
import { errorOf, objectOf, outputOf } from '../client/message.ts';
import type { RawResponse } from '../client/response.ts';
import { processClause } from '../clause.ts';
import { withEntry } from '../packNeeds.ts';
import type { PackIndex, RunningService, StartOptions, Target } from '../service.ts';
import { serving } from './serving.ts';

const FILES = 'conformance.files';
const TOKEN = 'token-of-these-files';
const KEY = { idempotencyKey: 'a227f4cd-12ae-5689-8403-2a3aa8b27384' };
const BOTH = { storesFiles: true, readsFiles: true };

/** Every byte there is, and text that is more than ASCII in the name. */
const FILE = {
  base64: Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)).toString('base64'),
  type: 'image/png',
  name: "Größe 1+2 'a' /..\\ 日本.png",
};
const ENCODED_NAME = "Gr%C3%B6%C3%9Fe%201%2B2%20'a'%20%2F..%5C%20%E6%97%A5%E6%9C%AC.png";

/** The fields that the released indexers do not know are put into the index here, so that the pack's own bytes stay theirs. */
function declaring(flags: Readonly<Record<string, boolean>>): (index: PackIndex) => PackIndex {
  return (index) => withEntry(index, 'tools', FILES, (entry) => ({ ...entry, ...flags }));
}

interface Setting {
  readonly service: RunningService;
  readonly store: FileStore;
  /** Calls the tool with files. */
  readonly call: (input: object, ctx?: object, timeoutMs?: number) => Promise<RawResponse>;
}

/** A service of its own whose calls carry the files of a runtime stand-in. */
async function withFiles(
  target: Target,
  run: (setting: Setting) => Promise<void>,
  env: NonNullable<StartOptions['env']> = {},
): Promise<void> {
  await serving(target, { index: declaring(BOTH), env }, async (service) => {
    const store = await FileStore.open();
    const call: Setting['call'] = (input, ctx = KEY, timeoutMs = 20_000) =>
      invoke(service, FILES, input, {
        ctx: { toolFiles: { url: store.url, token: TOKEN }, ...ctx },
        headers: { [HEADER.timeoutMs]: String(timeoutMs) },
      });
    try {
      await run({ service, store, call });
    } finally {
      await store.close();
    }
  });
}

async function resultOf(answer: Promise<RawResponse>): Promise<Readonly<Record<string, unknown>>> {
  return objectOf(outputOf(await answer), 'output');
}

/** A header of a request, which must be there once. */
function headerOf({ headers }: FileStoreRequest, name: string): string {
  const values = headers.filter(([given]) => given.toLowerCase() === name).map(([, value]) => value);
  assert.equal(values.length, 1, `${name} is there once`);
  return values[0] ?? '';
}

/** Group D: files. */
export const files = [
  processClause(
    'D35/declared',
    'a handler gets `files` with what its tool declares, and `store` only with an idempotency key',
    async (target) => {
      const url = 'http://127.0.0.1:9/files';
      for (const [flags, can] of [
        [BOTH, ['read', 'store']],
        [{ storesFiles: true }, ['store']],
        [{ readsFiles: true }, ['read']],
        [{ storesFiles: false, readsFiles: false }, null],
        [{}, null],
      ] as const) {
        await serving(target, { index: declaring(flags) }, async (service) => {
          const ask = (ctx: object): Promise<Readonly<Record<string, unknown>>> =>
            resultOf(invoke(service, FILES, {}, { ctx: { ...ctx } }));
          const toolFiles = { url, token: TOKEN };
          assert.deepEqual(await ask({ toolFiles, ...KEY }), { can }, JSON.stringify(flags));
          const withoutKey = can === null ? null : can.filter((name) => name !== 'store');
          assert.deepEqual(await ask({ toolFiles }), { can: withoutKey }, `${JSON.stringify(flags)}, no key`);
          assert.deepEqual(await ask(KEY), { can: null }, `${JSON.stringify(flags)}, no files in the call`);
        });
      }
    },
    ['D34', 'E3'],
  ),

  processClause(
    'D36/store',
    'a file is sent as it is, with its type, its name percent-encoded and the token',
    async (target) => {
      await withFiles(target, async ({ store, call }) => {
        store.answerJson({ file: { id: 'f-1' } });
        await resultOf(call({ store: FILE }));
        const request = store.only();
        assert.deepEqual([request.method, request.target], ['POST', new URL(store.url).pathname]);
        assert.ok(request.body.equals(Buffer.from(FILE.base64, 'base64')), 'the bytes');
        assert.equal(headerOf(request, 'content-type'), FILE.type);
        assert.equal(headerOf(request, 'kindgi-file-name'), ENCODED_NAME);
        assert.equal(headerOf(request, 'authorization'), `Bearer ${TOKEN}`);
        assert.equal(headerOf(request, 'content-length'), '256');
      });
    },
    ['D40'],
  ),

  processClause(
    'D37/answers',
    'a handler is told what the runtime answered to a file',
    async (target) => {
      await withFiles(target, async ({ store, call }) => {
        for (const answer of [
          { file: { id: 'f-1', name: FILE.name, size: 256 } },
          { notStored: 'type' },
          { notStored: 'size' },
          { notStored: 'limit' },
          { notStored: 'storage' },
        ]) {
          store.answerJson(answer);
          assert.deepEqual(await resultOf(call({ store: FILE })), { answer });
        }
      });
    },
    ['D40'],
  ),

  processClause(
    'D38/read',
    'a file is asked for under the url by its id, percent-encoded, and comes as its bytes or as the reason why not',
    async (target) => {
      await withFiles(target, async ({ store, call }) => {
        const body = Buffer.from(FILE.base64, 'base64');
        store.answerWith({ status: 200, headers: { 'content-type': 'application/octet-stream' }, body });
        assert.deepEqual(await resultOf(call({ read: 'a/b ?#%ü' })), { answer: { base64: FILE.base64 } });
        const request = store.only();
        assert.deepEqual(
          [request.method, request.target],
          ['GET', `${new URL(store.url).pathname}/a%2Fb%20%3F%23%25%C3%BC`],
        );
        assert.equal(headerOf(request, 'authorization'), `Bearer ${TOKEN}`);
        assert.equal(request.body.length, 0);
        for (const notRead of ['rule', 'gone', 'changed', 'size']) {
          store.answerJson({ notRead });
          assert.deepEqual(await resultOf(call({ read: 'f-1' })), { answer: { notRead } });
        }
      });
    },
    ['D40'],
  ),

  processClause('D39/busy', 'a runtime without room is told as such, and asked once only', async (target) => {
    await withFiles(target, async ({ store, call }) => {
      store.answerWith({ status: 503, body: '{"error":"tool-files-busy"}' });
      for (const input of [{ store: FILE }, { read: 'f-1' }]) {
        const { failed, text } = await resultOf(call(input));
        assert.equal(failed, 'tool-files-busy');
        assert.ok(!String(text).includes(TOKEN), 'the token is in the error');
        store.only();
      }
    });
  }),

  processClause('D40/no-redirect', 'a redirect is not followed', async (target) => {
    await withFiles(target, async ({ store, call }) => {
      for (const status of [301, 302, 307, 308]) {
        store.answerWith({ status, headers: { location: `${store.url}/elsewhere` } });
        for (const input of [{ store: FILE }, { read: 'f-1' }]) {
          const { failed, text } = await resultOf(call(input));
          assert.ok(failed !== undefined, `status ${status} is no answer`);
          assert.ok(!String(text).includes(TOKEN), 'the token is in the error');
          store.only();
        }
      }
    });
  }),

  processClause('D40/dots', 'an id that a path could lose is refused without a request', async (target) => {
    await withFiles(target, async ({ store, call }) => {
      store.answerJson({ notRead: 'gone' });
      assert.deepEqual(await resultOf(call({ read: '...' })), { answer: { notRead: 'gone' } });
      for (const read of ['.', '..', '']) {
        assert.ok((await resultOf(call({ read }))).failed !== undefined, `"${read}"`);
      }
      assert.equal(store.only().target, `${new URL(store.url).pathname}/...`);
    });
  }),

  processClause('D40/deadline', 'at the deadline the request for files is given up', async (target) => {
    await withFiles(target, async ({ store, call }) => {
      store.answerWith('nothing');
      for (const input of [{ store: FILE }, { read: 'f-1' }]) {
        const before = store.abandoned;
        errorOf(await call(input, KEY, 400), 'deadline-exceeded', { toolId: FILES });
        await store.until('the request is given up', () => store.abandoned > before);
      }
    });
  }),

  processClause('D41/no-proxy', 'a proxy that the environment names is not given the token', async (target) => {
    const proxy = await FileStore.open();
    const { origin } = new URL(proxy.url);
    const env = { HTTP_PROXY: origin, http_proxy: origin, NODE_USE_ENV_PROXY: '1' };
    try {
      await withFiles(
        target,
        async ({ store, call }) => {
          store.answerJson({ file: { id: 'f-1' }, notRead: 'gone' });
          for (const input of [{ store: FILE }, { read: 'f-1' }]) {
            await resultOf(call(input));
            store.only();
          }
          assert.equal(proxy.requests.length, 0, 'requests through the proxy');
        },
        env,
      );
    } finally {
      await proxy.close();
    }
  }),

  processClause('D34/never-logged', 'nothing of a call that uses files is on stderr', async (target) => {
    await withFiles(target, async ({ service, store, call }) => {
      store.answerWith({ status: 500, body: 'no' });
      for (const input of [{ store: FILE }, { read: 'f-1' }, { read: '..' }]) {
        assert.ok((await resultOf(call(input))).failed !== undefined);
      }
      assert.equal(store.requests.length, 2, 'requests');
      service.process.signal('SIGTERM');
      await service.process.exit;
      const said = service.process.lines().join('\n');
      assert.ok(!said.includes(TOKEN), 'the token');
      assert.ok(!said.includes(store.url), 'the url');
    });
  }),
];
