import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { afterAllTests } from '../../support/atEnd.ts';
import { temporaryFolder } from '../../support/files.ts';
import { installPacked } from '../../support/packedProject.ts';

const EXAMPLE = fileURLToPath(new URL('../../example-421', import.meta.url));
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** The test in the README, to be pasted. */
function exampleOfReadme(): string {
  const text = /```ts\n(import [^`]*'packgate\/testing'[^`]*)```/.exec(
    readFileSync(join(ROOT, 'README.md'), 'utf8'),
  )?.[1];
  if (text === undefined) throw new Error('the README has no example for packgate/testing');
  return text;
}

describe('the example project, which has packgate from its tarball', () => {
  const atEnd = afterAllTests();
  let project: string;

  beforeAll(() => {
    const folder = temporaryFolder(atEnd);
    project = join(folder, 'project');
    cpSync(EXAMPLE, project, { recursive: true });
    writeFileSync(join(project, 'readme.spec.ts'), exampleOfReadme());
    installPacked(project, folder, ['vitest', '@types/node', 'typescript']);
  });

  const run = (program: string, ...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
      cwd: project,
      encoding: 'utf8',
      env: { PATH: process.env.PATH, HOME: project, NO_COLOR: '1' },
    });
    return { status, output: `${stdout}${stderr}` };
  };

  it('passes with vitest, and so does the test in the README', { timeout: 120_000 }, () => {
    const { status, output } = run(join('node_modules', 'vitest', 'vitest.mjs'), 'run');
    expect({ status, output }).toMatchObject({ status: 0, output: expect.stringMatching(/Tests +10 passed/) });
  });

  it("passes with Node's own runner", { timeout: 120_000 }, () => {
    const { status, output } = run('--test', 'tenantMismatch.node.js');
    expect({ status, output }).toMatchObject({ status: 0, output: expect.stringMatching(/pass 3\n/) });
  });

  it('type-checks with no newer lib than ES2022', { timeout: 120_000 }, () => {
    const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
    expect(run(tsc, '-p', 'tsconfig.json')).toEqual({ status: 0, output: '' });
    // Of our own types and all that they need, everything; those of vitest do not stand it.
    expect(run(tsc, '-p', 'tsconfig.strict.json')).toEqual({ status: 0, output: '' });
  });
});
