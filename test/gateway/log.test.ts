import { spawn } from 'node:child_process';
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openLog } from '../../gateway/log.ts';
import { until } from '../support/files.ts';

/** A pipe whose reader takes nothing until it is told to; what it then has read is in a file. */
function slowReader() {
  const folder = mkdtempSync(join(tmpdir(), 'packgate-log-'));
  const [fifo, out] = [join(folder, 'fifo'), join(folder, 'out')];
  writeFileSync(out, '');
  const script = `mkfifo ${fifo}; echo made; exec 3<>${fifo}; read go; exec cat <&3 > ${out}`;
  const reader = spawn('sh', ['-c', script], { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => {
    reader.kill('SIGKILL');
    rmSync(folder, { recursive: true });
  });
  return {
    open: async () => {
      await new Promise((resolve) => reader.stdout.once('data', resolve));
      return openSync(fifo, 'r+');
    },
    startReading: () => void reader.stdin.write('go\n'),
    text: () => readFileSync(out, 'utf8'),
  };
}

describe("the gateway's log", () => {
  it('keeps its own records although a noisy pack has filled it, drops and counts the rest', async () => {
    const reader = slowReader();
    const { logger, packLogger } = openLog(await reader.open());
    for (let line = 0; line < 20_000; line += 1) packLogger.info({ output: 'n'.repeat(300) }, 'pack output');
    for (let line = 0; line < 100; line += 1) logger.error({ event: 'start-failed', line }, 'start failed');
    reader.startReading();
    await until('the count of dropped lines', () => reader.text().includes('log-dropped'), 20_000);
    const records = reader
      .text()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const own = records.filter(({ event }) => event === 'start-failed');
    expect(own.map(({ line }) => line)).toEqual(Array.from({ length: 100 }, (_, line) => line));
    const shown = records.filter(({ message }) => message === 'pack output').length;
    expect(shown).toBeGreaterThan(1000);
    const dropped = records
      .filter(({ event }) => event === 'log-dropped')
      .reduce((sum, { lines }) => sum + Number(lines), 0);
    expect(shown + dropped).toBe(20_000);
  });
});
