import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';

import { runCommand, startChild, until } from './support/child.ts';
import type { Child } from './support/child.ts';
import { indexOf, makeFolder, toolEntry } from './support/folder.ts';
import type { Folder } from './support/folder.ts';
import { invoke, post } from './support/http.ts';

const children: Child[] = [];
let folder: Folder | undefined;

afterEach(async () => {
  await Promise.all(children.splice(0).map((child) => child.stop()));
  folder?.remove();
});

const INPUT = {
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 2, pattern: '^[a-zü]+$' },
    when: { type: ['string', 'null'], format: 'date', default: null },
    list: { type: 'array', items: { enum: [1, 'a'] }, uniqueItems: true },
  },
  required: ['name'],
  additionalProperties: false,
};
const MESSAGES = [{ name: 'ü' }, { name: 'üü' }, { when: 'never', other: 1 }, { name: 5, list: [2, 2] }, 'text'];

/** A pack of one tool, which gives back its input, and a build folder. */
function makePack(): { index: string; buildDir: string } {
  folder = makeFolder({
    'tools/same.mjs': 'export default (input) => input;\n',
    'index.json': indexOf({ tools: [toolEntry('acme.same', 'tools/same.mjs', { input: INPUT })] }),
  });
  return { index: folder.file('index.json'), buildDir: folder.file('built') };
}

async function start(index: string, buildDir: string): Promise<Child> {
  const child = await startChild({ index, env: { PACKGATE_BUILD_DIR: buildDir } });
  children.push(child);
  return child;
}

async function answers({ port }: Child): Promise<string[]> {
  const texts: string[] = [];
  for (const input of MESSAGES) texts.push((await post(port, invoke('acme.same', input))).text);
  return texts;
}

function filesOf(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

/** Changes what the kept functions say, and seals the file anew. */
function sayOtherwise(path: string): void {
  const code = readFileSync(path, 'utf8').replace(/^.*\n/, '').replaceAll('must have required', 'SHALL have required');
  writeFileSync(path, `${createHash('sha256').update(code).digest('hex')}\n${code}`);
}

describe('what a start compiled', () => {
  it('is kept in the build folder, and later starts answer the same to the byte (D17, D18, F13)', async () => {
    const { index, buildDir } = makePack();
    const first = await answers(await start(index, buildDir));
    expect(first.map((text) => (JSON.parse(text) as { kind: string }).kind)).toEqual([
      'error',
      'result',
      'error',
      'error',
      'error',
    ]);
    await until('the schemas are kept', () => filesOf(buildDir).some((name) => name.endsWith('.js')));
    const kept = filesOf(buildDir);

    expect(await answers(await start(index, buildDir))).toEqual(first);
    expect(filesOf(buildDir)).toEqual(kept);
  });

  it('is read by later starts: a file of ours that says otherwise is believed', async () => {
    const { index, buildDir } = makePack();
    await start(index, buildDir);
    await until('the schemas are kept', () => filesOf(buildDir).some((name) => name.endsWith('.js')));
    const path = `${buildDir}/${filesOf(buildDir)[0] ?? ''}`;
    sayOtherwise(path);
    const { text } = await post((await start(index, buildDir)).port, invoke('acme.same', {}));
    expect(text).toContain("SHALL have required property 'name'");
  });

  it('is there after indexing with the same build folder: the first start finds it', async () => {
    const buildDir = makePack().buildDir;
    const pack = makeFolder({
      'kindgi.config.mjs': "export default { pack: { id: 'acme', version: '1.0.0' } };\n",
      'tools/same.mjs': `export default ${JSON.stringify({ id: 'acme.same', input: INPUT, output: {} }).slice(0, -1)}, handler: (input) => input };\n`,
    });
    try {
      const index = pack.file('index.json');
      const args = ['index', '--pack-dir', pack.path, '--output', index, '--strict'];
      expect(await runCommand(args, { env: { PACKGATE_BUILD_DIR: buildDir } })).toMatchObject({ code: 0 });
      const kept = filesOf(buildDir);
      expect(kept).toEqual([expect.stringMatching(/^schemas-[0-9a-f]{32}\.js$/)]);
      sayOtherwise(`${buildDir}/${kept[0] ?? ''}`);
      const { text } = await post((await start(index, buildDir)).port, invoke('acme.same', {}));
      expect(text).toContain("SHALL have required property 'name'");
    } finally {
      pack.remove();
    }
  });

  it('is lost without harm when the build folder cannot be written, and that is said', async () => {
    const { index } = makePack();
    const child = await start(index, `${index}/built`);
    const record = await child.waitFor(({ message }) => String(message).includes('could not be kept'));
    expect(record).toMatchObject({ level: 'warn', subsystem: 'pack' });
    expect((await post(child.port, invoke('acme.same', { name: 'ab' }))).json).toMatchObject({ kind: 'result' });
  });
});
