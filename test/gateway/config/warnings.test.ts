import { describe, expect, it } from 'vitest';
import { TENANT_A, TENANT_B, warningsOf, withTenant } from './folder.ts';

describe('warnings', () => {
  it('are of a drain that no service keeps', async () => {
    expect(await warningsOf(withTenant('drain: 8001ms'))).toEqual([
      `packgate.yaml:5:5: tenants.${TENANT_A}.drain: warning: pack services end their calls 8 s after SIGTERM, however long they are given`,
    ]);
    expect(await warningsOf(withTenant('drain: 8s'))).toEqual([]);
  });

  it('are of deployments that no caller gets to', async () => {
    const yaml = `tokens: [{ env: TOKEN, tenants: [${TENANT_A}] }, { env: OTHER_TOKEN, tenants: [${TENANT_A}], deployment: bound }]
tenants:
  ${TENANT_A}:
    packs:
      main: { path: packs/a, default: true }
      bound: { path: packs/a }
      hosted: { path: packs/a, hosts: [h] }
      lost: { path: packs/a }
  ${TENANT_B}: { pack: packs/b }`;
    expect(await warningsOf(yaml)).toEqual([
      `packgate.yaml:8:7: tenants.${TENANT_A}.packs.lost: warning: nothing leads to it: no host, no deployment id, no token bound to it, and it is not the default`,
      `packgate.yaml:9:3: tenants.${TENANT_B}: warning: no token opens it`,
    ]);
  });

  it('are of programs that are not on PATH', async () => {
    const [warning, ...others] = await warningsOf(withTenant('node: no-such-node'));
    expect(warning).toContain('there is no "no-such-node" on PATH');
    expect(others).toEqual([]);
    const own = await warningsOf(withTenant('node: sh', 'env: { PATH: /nowhere }'));
    expect(own).toHaveLength(1);
  });
});
