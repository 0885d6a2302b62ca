import { expect, it } from 'vitest';
import { tenantOf } from '../../../gateway/dev/tenant.ts';
import { isUuid } from '../../../shared/protocol/tenantId.ts';

it('a folder has the same tenant every time, another folder another one, and each is a UUID of version 5', () => {
  const ids = ['/packs/a', '/packs/b', '/packs/ä', ''].map(tenantOf);
  expect(new Set(ids).size).toBe(4);
  for (const id of ids) expect([isUuid(id), id[14], '89ab'.includes(id[19] ?? '')]).toEqual([true, '5', true]);
  // As any other implementation makes it; somebody has written it down.
  expect(ids[0]).toBe('19d94ce3-375c-5250-9295-47a089b6b315');
});
