import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

import { CHILD_MAIN, startChild } from '../support/child.ts';
import { makeFolder } from '../support/folder.ts';
import { checkInvoke, post } from '../support/http.ts';
import { install, PACKAGE } from './nodes.ts';

const README = fileURLToPath(new URL('../../../child/README.md', import.meta.url));
const run = promisify(execFile);

/** The text of the README's sections on packs, from "Writing a pack" to the end of "Embedding". */
function sections(): string {
  const [, text = ''] =
    /\n## Writing a pack\n([\s\S]*?)\n## How a call goes\n/.exec(readFileSync(README, 'utf8')) ?? [];
  return text;
}

test('F1 F15: the pack and the program of the README are written, typed and run as it says', async () => {
  const folder = makeFolder();
  try {
    const files = [...sections().matchAll(/```(?:ts|js)\n\/\/ (\S+)\n([\s\S]*?)```/g)];
    for (const [, name = '', text = ''] of files) folder.write(name, text);
    expect(files.map(([, name]) => name)).toEqual([
      'kindgi.config.ts',
      'tools/greet.ts',
      'guardrails/polite.ts',
      'try.mjs',
    ]);

    const [, command = ''] = /```sh\n(.*)\n```/.exec(sections()) ?? [];
    const shell = command.replace('npx packgate-child', `"${process.execPath}" "${CHILD_MAIN}"`);
    await run('sh', ['-ec', shell], { cwd: folder.path });

    const index = folder.file('dist/index.json');
    const child = await startChild({ index, moduleRoot: folder.path });
    const check = await post(child.port, checkInvoke('acme.checks.polite', {}, { output: 'yes please' }));
    await child.stop();
    expect(check.json).toMatchObject({ result: { passed: true } });

    install(folder.path, 'packgate', PACKAGE);
    const { stdout } = await run(process.execPath, ['try.mjs'], { cwd: folder.path });
    const [, promised = ''] = /await answer\.text\(\)\); \/\/ (.*)\n/.exec(sections()) ?? [];
    expect(stdout.trim()).toBe(promised);

    const root = fileURLToPath(new URL('../../../', import.meta.url));
    install(folder.path, '@types/node', join(root, 'node_modules/@types/node'));
    const sources = ['tools/greet.ts', 'guardrails/polite.ts', 'try.mjs'].map((name) => folder.file(name));
    const options = ['--noEmit', '--strict', '--module', 'nodenext', '--allowJs', '--checkJs', '--types', 'node'];
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    await run(process.execPath, [tsc, ...options, ...sources], { cwd: folder.path });
  } finally {
    folder.remove();
  }
});
