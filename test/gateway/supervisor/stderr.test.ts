import { describe, expect, it } from 'vitest';
import { StderrReader } from '../../../gateway/supervisor/stderr.ts';

describe("reading a service's stderr", () => {
  it('takes the first listening line with a port, in either form, and no other', () => {
    let heard = 0;
    const reader = new StderrReader(
      () => (heard += 1),
      () => true,
      () => undefined,
    );
    reader.push(
      Buffer.from('{"kind":"progress"}\n{not json\n{"kind":"listening","port":"80"}\n{"kind":"listening","port":0}\n'),
    );
    expect(reader.said.port).toBeUndefined();
    const record = {
      time: 't',
      level: 'info',
      subsystem: 'pack',
      message: 'm',
      event: 'listening',
      kind: 'listening',
      port: 8080,
    };
    reader.push(Buffer.from(`${JSON.stringify(record)}\n{"kind":"listening","port":9090}\n`));
    expect([reader.said.port, heard]).toEqual([8080, 1]);
  });

  it("keeps the problems of a boot-failed line, and does not take a handler's record for the service's", () => {
    const reader = new StderrReader(
      () => undefined,
      () => true,
      () => undefined,
    );
    const forged = {
      time: 't',
      level: 'info',
      subsystem: 'pack.tool',
      message: 'm',
      event: 'boot-failed',
      problems: ['forged'],
    };
    reader.push(Buffer.from(`${JSON.stringify(forged)}\n`));
    expect(reader.said.problems).toEqual([]);
    reader.push(Buffer.from('{"kind":"boot-failed","problems":["no such module x"]}\n'));
    expect(reader.said).toMatchObject({ problems: ['no such module x'], refusedConfig: false });
  });
});
