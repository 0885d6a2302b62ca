import { writeFileSync } from 'node:fs';

import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { serve } from '../../../child/serve/run.ts';
import { classifyLine, stringList } from '../../../shared/process/records.ts';
import { runChild, startChild, TOKEN } from '../support/child.ts';
import { indexOf, toolEntry } from '../support/folder.ts';
import type { Folder } from '../support/folder.ts';
import { ask } from '../support/http.ts';
import { anyIndex } from './indexes.ts';
import { makePropertyPack } from './pack.ts';

let folder: Folder;

beforeAll(() => {
  folder = makePropertyPack();
  folder.write('broken.ts', 'export default (input: => input;');
  folder.write('broken.mjs', 'export default (input) =');
});
afterAll(() => folder.remove());

/** What became of a start, by the lines that it wrote. */
interface Start {
  readonly code: number | null;
  readonly events: readonly string[];
  readonly problems: readonly string[];
}

/** Schemas that once ended a start with a stack instead of a line. */
const KNOWN = [
  { $id: 7, type: 'object' },
  { $id: '#', $ref: 'http://x/y' },
  { properties: { $id: { $id: null } } },
].map((input): [Buffer] => [
  Buffer.from(JSON.stringify(indexOf({ tools: [toolEntry('acme.a', 'echo.mjs', { input })] }))),
]);

/** Runs a whole start in this process, on an environment of its own, and stops it as soon as it listens. */
async function startHere(index: string): Promise<Start> {
  const lines: string[] = [];
  let stop = (): void => undefined;
  const code = await serve({
    args: ['--index', index, '--host', '127.0.0.1'],
    env: { KINDGI_PACK_SERVICE_TOKEN: TOKEN, PORT: '0', KINDGI_LOG_FORMAT: 'json', UNDECLARED: 'x' },
    cwd: folder.path,
    log: {
      write: (line) => {
        lines.push(line);
        if (line.includes('"event":"listening"')) setImmediate(stop);
      },
      isTerminal: false,
    },
    onStopSignal: (listener) => {
      stop = listener;
    },
    onLoopEmpty: () => () => undefined,
    buildDir: () => folder.file('build'),
    keptDir: undefined,
  });
  return { code, ...readLines(lines) };
}

function readLines(lines: readonly string[]): Pick<Start, 'events' | 'problems'> {
  const events = lines.map((line) => classifyLine(line.trim())).filter((line) => line.type === 'event');
  return {
    events: events.map(({ event }) => event),
    problems: events.flatMap(({ fields }) => stringList(fields.problems)),
  };
}

/** How a start may end: it served, or one line told everything that is wrong, each problem a text. */
function isInOrder({ code, events, problems }: Start): boolean {
  const lifecycle = events.filter((event) => event !== 'env-dropped' && event !== 'missing-env');
  if (code === 0) return lifecycle.join() === 'listening,draining,stopped';
  return code === 1 && lifecycle.join() === 'boot-failed' && problems.length > 0 && !problems.includes('');
}

test('C12 C13 E9: any file whatsoever as an index is served, or refused with its problems', async () => {
  const index = folder.file('any.json');
  const codes = new Set<number | null>();
  await fc.assert(
    fc.asyncProperty(anyIndex, async (bytes) => {
      writeFileSync(index, bytes);
      const start = await startHere(index);
      codes.add(start.code);
      expect(start).toSatisfy(isInOrder);
    }),
    { numRuns: 400, interruptAfterTimeLimit: 8_000, markInterruptAsFailure: false, examples: KNOWN },
  );
  expect(codes).toEqual(new Set([0, 1]));
});

test('C12 C13 C15: a real process says the same of each: it listens, or exits with 1 after one line', async () => {
  const [served, ...refused] = [
    '{"v":1,"packId":"a","packVersion":"1","artifactVersion":"1","tools":[],"guardrails":[]}',
    '',
    '\u0000\u0001',
    '\ufeff{}',
    '[]',
    `${'['.repeat(100_000)}`,
    '{"v":1,"tools":{"a":1},"guardrails":null}',
    '{"v":1,"packId":"a","packVersion":"1","artifactVersion":"1","guardrails":[],"tools":[{"id":"a","input":{},"output":{},"modulePath":"\\u0000"}]}',
  ];
  const options = { index: folder.write('real.json', served ?? '') };
  const child = await startChild(options);
  try {
    expect((await ask(child.port, { path: '/readyz' })).status).toBe(200);
  } finally {
    await child.stop();
  }
  for (const text of refused) {
    folder.write('real.json', text);
    const { code, records, stderr } = await runChild(options);
    const start = { code, ...readLines(stderr.trim().split('\n')) };
    expect(start).toSatisfy(isInOrder);
    // Nothing but records: no stack of a crash.
    expect(records).toHaveLength(stderr.trim().split('\n').length);
  }
});
