import { expect, it } from 'vitest';
import { serviceName } from '../../../gateway/config/serviceName.ts';
import { TENANT_A } from './folder.ts';

it('is that of the example of protocol G2', () => {
  expect(serviceName(TENANT_A, 'dep-0001')).toBe('kp-3cucd7odz45ehmqamwqa');
});

it('is the same for both spellings of a UUID, and not for other ids', () => {
  expect(serviceName(TENANT_A.toUpperCase(), 'dep-0001')).toBe('kp-3cucd7odz45ehmqamwqa');
  expect(serviceName('acme', 'dep-0001')).not.toBe(serviceName('ACME', 'dep-0001'));
});

it('is a host label of one length', () => {
  for (let n = 0; n < 200; n += 1) expect(serviceName('t', `${n}`)).toMatch(/^kp-[a-z2-7]{20}$/);
});
