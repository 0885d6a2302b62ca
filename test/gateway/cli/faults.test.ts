import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createStubPack } from '../../support/stubPack.ts';
import { temporaryFolder } from '../../support/files.ts';
import { packgate } from './output.ts';

/** The path of a configuration with a fault. */
function withFault(): string {
  const folder = temporaryFolder();
  const file = join(folder, 'packgate.json');
  const tenants = { acme: createStubPack(folder, 'pack').deployment() };
  const tokens = [{ sha256: 'ab'.repeat(32) }];
  writeFileSync(file, JSON.stringify({ listen: '127.0.0.1:0', tokens, tenants, faults: [{ fault: 'cut' }] }));
  return file;
}

it.each(['serve', 'check'])('%s refuses faults that it was not started for', async (command) => {
  const { code, stderr } = await packgate([command, '-c', withFault()]);
  expect([code, stderr]).toEqual([
    78,
    expect.stringContaining('faults: expected no faults in a process that was started without --allow-faults'),
  ]);
});

it('check takes them when told to', async () => {
  expect(await packgate(['check', '--allow-faults', '-c', withFault()])).toMatchObject({ code: 0 });
});

it('a trace without faults is wrong usage', async () => {
  const { code, stderr } = await packgate(['serve', '--fault-trace', 'trace.jsonl']);
  expect([code, stderr]).toEqual([2, expect.stringContaining('--fault-trace without --allow-faults')]);
});
