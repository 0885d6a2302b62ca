import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../gateway/clock.ts';
import { OutputBudget } from '../../../gateway/supervisor/outputBudget.ts';
import { StderrReader } from '../../../gateway/supervisor/stderr.ts';

describe("reading a service's stderr", () => {
  it('takes the first listening line with a port, in either form, and no other', () => {
    let heard = 0;
    const reader = new StderrReader(
      () => (heard += 1),
      new OutputBudget(systemClock),
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
      new OutputBudget(systemClock),
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

  it('finds the line that tells the port, and the problems of one that does not start, behind any amount of noise', () => {
    for (const line of ['{"kind":"listening","port":8080}', '{"kind":"boot-failed","problems":["no such module x"]}']) {
      const shown: string[] = [];
      const budget = new OutputBudget(systemClock);
      const reader = new StderrReader(
        () => undefined,
        budget,
        ({ type }) => shown.push(type),
      );
      reader.push(Buffer.from(`${'noise\n'.repeat(20_000)}${line}\n${'noise\n'.repeat(10)}`));
      const { port, problems } = reader.said;
      expect(port ?? problems).toEqual(line.includes('8080') ? 8080 : ['no such module x']);
      expect(shown.length + budget.takeLastDropped()).toBe(20_011);
    }
  });
});
