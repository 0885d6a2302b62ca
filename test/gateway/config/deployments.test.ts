import { describe, expect, it } from 'vitest';
import { configurationOf, problemsOf, TENANT_A, warningsOf } from './folder.ts';

describe("a tenant's id", () => {
  it.each(['__proto__', 'constructor', 'a.b', 'toString', '../etc', '0042', '1e2', 'true'])(
    'may be %s, like any other',
    async (id) => {
      const { deployments, tokens } = await configurationOf(
        `tokens: [{ env: TOKEN, tenants: ['${id}'], deployment: constructor }]\n` +
          `tenants:\n  ${id}:\n    packs: { constructor: { path: packs/a, default: true }, __proto__: { path: packs/b, deploymentId: x } }`,
      );
      expect(deployments.map(({ tenantId, name }) => [tenantId, name])).toEqual([
        [id, 'constructor'],
        [id, '__proto__'],
      ]);
      expect(tokens).toMatchObject([{ tenants: [id], deployment: 'constructor' }]);
    },
  );

  it.each(['"a b"', '"ä"', '""', `"${'x'.repeat(129)}"`, '"a\\n"'])('may not be %s', async (id) => {
    const problems = await problemsOf(`tokens: [{ env: TOKEN }]\ntenants: { ${id}: { pack: packs/a } }`);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain('expected an id of 1 to 128 printable ASCII characters without blanks');
  });

  it('may not be the one that means no tenant', async () => {
    expect(
      await problemsOf(
        'tokens: [{ env: TOKEN }]\ntenants: { 00000000-0000-4000-8000-000000000000: { pack: packs/a } }',
      ),
    ).toEqual([
      'packgate.yaml:2:12: tenants.00000000-0000-4000-8000-000000000000: ' +
        `expected a tenant's id, got the id that means "no tenant"`,
    ]);
  });

  it('may not differ from another in the letter case of a UUID alone', async () => {
    const yaml = (a: string, b: string): string =>
      `tokens: [{ env: TOKEN }]\ntenants:\n  ${a}: { pack: packs/a }\n  ${b}: { pack: packs/a }`;
    const [problem, ...others] = await problemsOf(yaml(TENANT_A, TENANT_A.toUpperCase()));
    expect(problem).toMatch(/^packgate.yaml:4:3: .*expected every tenant once, .* in other letter case/);
    expect(others).toEqual([]);
    expect((await configurationOf(yaml('acme', 'ACME'))).deployments).toHaveLength(2);
  });

  it('that is no UUID is warned of', async () => {
    expect(await warningsOf('tokens: [{ env: TOKEN }]\ntenants: { acme: { pack: packs/a } }')).toEqual([
      'packgate.yaml:2:12: tenants.acme: warning: runtimes have UUIDs as tenant ids, and some pack services refuse any other',
    ]);
  });
});
