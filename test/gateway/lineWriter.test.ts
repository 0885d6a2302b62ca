import { spawn } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { LineWriter } from '../../gateway/lineWriter.ts';
import { temporaryFolder, until } from '../support/files.ts';

/** A pipe that does not block, and a reader that takes `bytes` every `everyMs`, or none at all. */
async function openPipe(script: string) {
  const folder = temporaryFolder();
  const fifo = join(folder, 'fifo');
  const out = join(folder, 'out');
  const reader = spawn('sh', [
    '-c',
    `mkfifo ${fifo} && exec 3<>${fifo} && : >${out} && echo open; ${script} <&3 >>${out}`,
  ]);
  await new Promise((resolve) => reader.stdout.once('data', resolve));
  const fd = openSync(fifo, constants.O_WRONLY | constants.O_NONBLOCK);
  onTestFinished(() => {
    reader.kill('SIGKILL');
    closeSync(fd);
  });
  return { fd, text: () => readFileSync(out, 'utf8') };
}

describe('writing lines to a descriptor', () => {
  it('keeps them whole and in order, whoever writes while something is written, and forgets none', async () => {
    const { fd, text } = await openPipe('exec cat');
    const lines: string[] = [];
    const add = (length: number): void => {
      const line = `${lines.length} ${'ä'.repeat(length)}\n`;
      lines.push(line);
      writer.write(line, Buffer.byteLength(line));
    };
    // One more line whenever something was written: from inside the writer's own step.
    const writer = new LineWriter(fd, () => {
      if (lines.length < 4_000) add(lines.length % 7);
    });
    for (let round = 0; round < 200; round += 1) {
      for (let line = 0; line < 10; line += 1) add((round * 37 + line * 101) % 3_000);
      await nextTurn();
    }
    await writer.close(10_000);
    await until('everything is read', () => text().length === lines.join('').length);
    expect(text()).toBe(lines.join(''));
    expect(writer.heldBytes).toBe(0);
  });

  it('closes when the time is up although nobody reads, and at once when there is nothing to write', async () => {
    const { fd } = await openPipe('exec sleep 60');
    const writer = new LineWriter(fd, () => undefined);
    const from = performance.now();
    await writer.close(10_000);
    expect(performance.now() - from).toBeLessThan(200);
    writer.write('x'.repeat(1_000_000), 1_000_000);
    const closing = performance.now();
    await writer.close(300);
    expect(performance.now() - closing).toBeGreaterThanOrEqual(290);
    expect(performance.now() - closing).toBeLessThan(600);
    expect(writer.heldBytes).toBeGreaterThan(500_000);
  });

  it('gives up what cannot be written: a descriptor whose reader has gone', async () => {
    const fd = openSync('/dev/full', 'w');
    onTestFinished(() => closeSync(fd));
    const writer = new LineWriter(fd, () => undefined);
    writer.write('a line\n', 7);
    await writer.close(10_000);
    expect(writer.heldBytes).toBe(0);
    writer.write('another\n', 8);
    expect(writer.heldBytes).toBe(0);
  });
});
