import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Configuration } from '../../../gateway/config/configuration.ts';
import { changesBetween } from '../../../gateway/config/changes.ts';
import { load } from '../../../gateway/config/load.ts';
import { problemText } from '../../../gateway/config/problem.ts';
import { configurationOf, HOST_ENV, makeFolder, problemsOf, TENANT_A, withTenant } from './folder.ts';

async function loadAllowed(...faults: readonly string[]) {
  const yaml = `${withTenant()}\nfaults:\n${faults.map((fault) => `  - { ${fault} }\n`).join('')}`;
  return load('packgate.yaml', { env: HOST_ENV, cwd: makeFolder({ 'packgate.yaml': yaml }), allowFaults: true });
}

async function allowed(...faults: readonly string[]): Promise<Configuration> {
  const loaded = await loadAllowed(...faults);
  if ('problems' in loaded) throw new Error(loaded.problems.map(problemText).join('\n'));
  return loaded.configuration;
}

async function problemsWith(...faults: readonly string[]): Promise<string[]> {
  const loaded = await loadAllowed(...faults);
  return 'problems' in loaded ? loaded.problems.map(problemText) : [];
}

describe('faults in a configuration', () => {
  it('are refused, by name, where the process was not started for them', async () => {
    expect(await problemsOf(`${withTenant()}\nfaults: [{ fault: '421' }, { fault: cut }]`)).toEqual([
      'packgate.yaml:5:1: faults: expected no faults in a process that was started without --allow-faults, got 2 faults. ' +
        'Remove them where real callers are served',
    ]);
    expect(await problemsOf(`${withTenant()}\nfaults: []`)).toHaveLength(1);
  });

  it('are not there where none are written: the hot path has nothing to look at', async () => {
    expect(await configurationOf(withTenant())).not.toHaveProperty('faults');
  });

  it('are read, with 421 as a number or a text', async () => {
    const { faults } = await allowed(
      'fault: 421',
      `tenant: ${TENANT_A.toUpperCase()}, tool: a.b, nth: 3, fault: '503'`,
      'every: 5, fault: late, ms: 200',
      'probability: 0.25, seed: 9, fault: half-answer',
      'probability: 1, fault: never-ready',
    );
    expect(faults).toEqual([
      { pick: { kind: 'all' }, fault: '421', ms: 0 },
      { tenant: TENANT_A, tool: 'a.b', pick: { kind: 'nth', n: 3 }, fault: '503', ms: 0 },
      { pick: { kind: 'every', n: 5 }, fault: 'late', ms: 200 },
      { pick: { kind: 'probability', p: 0.25, seed: 9 }, fault: 'half-answer', ms: 0 },
      { pick: { kind: 'probability', p: 1, seed: 1 }, fault: 'never-ready', ms: 0 },
    ]);
  });

  it('of the README are good', async () => {
    const readme = readFileSync('README.md', 'utf8');
    const yaml = /```yaml\n(faults:\n[^`]*)```/.exec(readme)?.[1] ?? '';
    const cwd = makeFolder({ 'packgate.yaml': `${withTenant()}\n${yaml}` });
    const loaded = await load('packgate.yaml', { env: HOST_ENV, cwd, allowFaults: true });
    expect(loaded).toMatchObject({
      warnings: [],
      configuration: { faults: [{ fault: '503' }, { fault: 'late' }, { fault: 'cut' }] },
    });
  });

  it('that make no sense are problems, all at once, each with its place', async () => {
    expect(
      await problemsWith(
        'fault: 502',
        'nth: 1',
        'nth: 1, every: 2, fault: cut',
        'fault: late',
        'fault: cut, ms: 5',
        'tool: a.b, fault: never-ready',
        'fault: cut, probability: 2',
        'fault: cut, nht: 1',
      ),
    ).toEqual([
      expect.stringMatching(
        /^packgate\.yaml:6:14: faults\[0\]\.fault: expected one of 421, 503, .*, got the number 502$/,
      ),
      expect.stringMatching(/^packgate\.yaml:7:5: faults\[1\]\.fault: expected one of 421, .*, got nothing$/),
      'packgate.yaml:8:5: faults[2]: expected at most one of nth, every and probability, got nth and every',
      'packgate.yaml:9:5: faults[3].ms: expected how late, in milliseconds, got nothing',
      'packgate.yaml:10:19: faults[4].ms: expected no ms for cut, got one',
      'packgate.yaml:11:7: faults[5].tool: expected no tool: never-ready is a fault of a start, got one',
      expect.stringContaining('faults[6].probability: expected a number from 0 to 1, got the number 2'),
      expect.stringContaining('faults[7].nht: expected a known key, got "nht". Did you mean "nth"?'),
    ]);
  });

  it('may be anything: problems or a configuration come of it, never an exception', async () => {
    const keys = fc.constantFrom(
      'tenant',
      'tool',
      'nth',
      'every',
      'probability',
      'seed',
      'fault',
      'ms',
      '__proto__',
      'x',
    );
    const leaf = fc.oneof(
      fc.constantFrom<unknown>('421', 421, 'late', 'cut', 'never-ready', 0, 1, 0.5, -1, 1e300, null, true, TENANT_A),
      fc.string(),
    );
    const rule = fc.oneof(fc.dictionary(keys, leaf, { maxKeys: 6 }), leaf);
    const cwd = makeFolder();
    let good = 0;
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.array(rule, { maxLength: 3 }), leaf), async (faults) => {
        writeFileSync(join(cwd, 'packgate.yaml'), `${withTenant()}\nfaults: ${JSON.stringify(faults)}`);
        const loaded = await load('packgate.yaml', { env: HOST_ENV, cwd, allowFaults: true });
        const found = 'problems' in loaded ? loaded.problems.length : 1;
        if ('configuration' in loaded) good += 1;
        expect(found).toBeGreaterThan(0);
      }),
      { numRuns: 300 },
    );
    expect(good).toBeGreaterThan(0);
  });

  it('for a tenant that is not hosted are probably a mistake', async () => {
    const { warnings } = await loadAllowed('tenant: nobody, fault: cut');
    expect(warnings.map(({ text }) => text)).toContain('there is no tenant "nobody"');
  });

  it('take effect at the next start only', async () => {
    const [before, after] = [await allowed('fault: cut'), await allowed('fault: 421')];
    expect(changesBetween(before, { ...after, stateDir: before.stateDir, admin: before.admin }).needsRestart).toEqual([
      'faults',
    ]);
  });
});
