import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { stringify } from 'yaml';
import { load } from '../../../gateway/config/load.ts';
import { problemText } from '../../../gateway/config/problem.ts';
import { CONFIGURATION_SCHEMA } from '../../../gateway/config/schema.ts';
import type { Schema } from '../../../gateway/config/schema.ts';
import { UNSUPPORTED } from '../../../gateway/config/unsupported.ts';
import { HOST_ENV, makeFolder, TENANT_A, TENANT_B } from './folder.ts';

/** Every name of the schema, and some that it must cope with. */
function namesIn(schema: Schema): string[] {
  const parts = [...Object.values(schema.properties ?? {}), schema.items, schema.additionalProperties];
  const nested = parts.flatMap((part) => (typeof part === 'object' ? namesIn(part) : []));
  return [...Object.keys(schema.properties ?? {}), ...nested];
}

const name = fc.constantFrom(
  ...new Set(namesIn(CONFIGURATION_SCHEMA)),
  ...UNSUPPORTED.gateway,
  ...UNSUPPORTED.deployment,
  '__proto__',
  'constructor',
  'a.b',
  '',
  '/~01',
  TENANT_A,
  TENANT_A.toUpperCase(),
  TENANT_B,
);
const leaf = fc.oneof(
  fc.constantFrom('8s', 'never', '64MiB', 'packs/a', 'packs/nope', 'TOKEN', 'node', 'command', 'strict', 'a.example:1'),
  fc.constantFrom<unknown>(true, false, null, 0, 1, -1, 1.5, 1e300, '', TENANT_A, 'fd:3'),
  fc.string({ unit: 'binary' }),
  fc.double(),
);
const value = fc.letrec<{ any: unknown }>((tie) => ({
  any: fc.oneof(
    { depthSize: 'medium', withCrossShrink: true },
    leaf,
    fc.array(tie('any'), { maxLength: 4 }),
    fc.dictionary(name, tie('any'), { maxKeys: 6 }),
  ),
})).any;

const folder = makeFolder();

async function outcomeOf(text: string): Promise<string> {
  await writeFile(join(folder, 'packgate.yaml'), text);
  const loaded = await load('packgate.yaml', { env: HOST_ENV, cwd: folder });
  if ('configuration' in loaded) return 'configuration';
  expect(loaded.problems.length).toBeGreaterThan(0);
  for (const problem of loaded.problems)
    expect(problemText(problem)).toMatch(/^packgate\.yaml:\d+:\d+: .*expected .*, got ./s);
  return 'problems';
}

/** A configuration with something in the right places, so that the deeper checks are reached. */
const plausible = fc.record(
  {
    tokens: fc.oneof(fc.constant([{ env: 'TOKEN' }]), fc.array(value, { maxLength: 3 })),
    tenants: fc.dictionary(
      name,
      fc.oneof(
        fc.record(
          { pack: fc.constantFrom('packs/a', 'packs/nope'), idle: value, env: value, hosts: value },
          { requiredKeys: ['pack'] },
        ),
        fc.record({
          packs: fc.dictionary(
            name,
            fc.record({ path: fc.constant('packs/a'), default: value, command: value }, { requiredKeys: ['path'] }),
          ),
        }),
        value,
      ),
      { minKeys: 1, maxKeys: 3 },
    ),
    defaults: value,
    listen: value,
    bodies: value,
  },
  { requiredKeys: ['tokens', 'tenants'] },
);

it('any data gives problems or a configuration, never an exception', { timeout: 60_000 }, async () => {
  const outcomes = new Set<string>();
  await fc.assert(
    fc.asyncProperty(fc.oneof(value, plausible), async (data) => {
      outcomes.add(await outcomeOf(stringify(data)));
    }),
    { numRuns: 300, examples: [[{ tokens: [{ env: 'TOKEN' }], tenants: { acme: { pack: 'packs/a' } } }]] },
  );
  expect(outcomes).toEqual(new Set(['configuration', 'problems']));
});

it('any text gives problems or a configuration, never an exception', { timeout: 60_000 }, async () => {
  const piece = fc.constantFrom(
    'tokens',
    'tenants',
    ': ',
    '\n',
    '  ',
    '- ',
    '{',
    '}',
    '[',
    ']',
    '&a ',
    '*a',
    '!t ',
    '"',
    "'",
    '|',
    '? ',
    '#',
    '%',
    '---',
    '\t',
    'x',
    '<<',
    '@',
  );
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.array(piece).map((pieces) => pieces.join('')),
      ),
      async (text) => {
        expect(['configuration', 'problems']).toContain(await outcomeOf(text));
      },
    ),
    { numRuns: 300 },
  );
});

it('any text as the file of a tenant gives problems that name it or a configuration', { timeout: 60_000 }, async () => {
  const main = { tokens: [{ env: 'TOKEN' }], tenantsDir: 'tenants.d' };
  const cwd = makeFolder({ 'packgate.yaml': stringify(main), 'tenants.d/x.yaml': '' });
  const settings = fc.record({
    pack: fc.constant('../packs/a'),
    idle: value,
    recycle: value,
    hosts: value,
    packs: value,
  });
  const text = fc.oneof(fc.string({ unit: 'binary' }), value.map(stringify), settings.map(stringify));
  const outcomes = new Set<string>();
  await fc.assert(
    fc.asyncProperty(text, async (written) => {
      await writeFile(join(cwd, 'tenants.d/x.yaml'), written);
      const loaded = await load('packgate.yaml', { env: HOST_ENV, cwd });
      const texts = 'problems' in loaded ? loaded.problems.map(problemText) : [];
      expect(texts.filter((line) => !/^tenants\.d\/x\.yaml:\d+:\d+: /.test(line))).toEqual([]);
      expect('problems' in loaded).toBe(texts.length > 0);
      outcomes.add('problems' in loaded ? 'problems' : 'configuration');
    }),
    { numRuns: 200, examples: [['pack: ../packs/a']] },
  );
  expect(outcomes).toEqual(new Set(['configuration', 'problems']));
});

it('a secret in the wrong place is never repeated', { timeout: 60_000 }, async () => {
  const secret = 'Zq7-hunter2-Zq7';
  const hidden = fc.constantFrom<unknown>(
    secret,
    [secret],
    { sha256: secret },
    { file: { x: secret } },
    `${secret} ${secret}`,
  );
  await fc.assert(
    fc.asyncProperty(fc.boolean(), hidden, hidden, async (isListed, token, env) => {
      const data = {
        tokens: isListed ? [token] : token,
        tenants: { [TENANT_A]: { pack: 'packs/a', env: { A: env, B: secret, C: 5 } } },
      };
      await writeFile(join(folder, 'packgate.yaml'), stringify(data));
      const loaded = await load('packgate.yaml', { env: HOST_ENV, cwd: folder });
      expect('problems' in loaded).toBe(true);
      expect(JSON.stringify(loaded)).not.toContain(secret);
    }),
    { numRuns: 60 },
  );
});
