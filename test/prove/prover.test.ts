import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../support/random.ts';
import { defineProver, EXIT, inScope, perform, runProver } from './prover.ts';
import type { Stage } from './prover.ts';

/** A prover whose run is given, and what it was run with. */
function proverOf(run: (values: { rounds: number; name: string }, stage: Stage) => Promise<readonly string[]>) {
  return defineProver({
    promise: 'Something holds.',
    options: { rounds: { default: 5, sets: 'how often' }, name: { default: 'a', sets: 'of what' } },
    run,
  });
}

async function runAsProgram(prover: ReturnType<typeof proverOf>, args: readonly string[], interrupt?: AbortSignal) {
  let [stdout, stderr] = ['', ''];
  const code = await runProver('it', prover, {
    args,
    stdout: (text) => (stdout += text),
    stderr: (text) => (stderr += text),
    interrupt: interrupt ?? new AbortController().signal,
  });
  return { code, stdout, stderr };
}

describe('a prover', () => {
  it('prints its settings and figures on stdout, its progress on stderr, and ends with 0 when it found nothing', async () => {
    const prover = proverOf(async ({ rounds, name }, { print, progress }) => {
      progress('half');
      print(`${rounds} of ${name}`);
      return [];
    });
    const { code, stdout, stderr } = await runAsProgram(prover, ['--rounds', '7']);
    expect(code).toBe(EXIT.holds);
    expect(stdout).toMatch(/^prove:it --rounds 7 --name a\n7 of a\nprove:it: holds \(.* s\)\n$/);
    expect(stderr).toBe('prove:it: half\n');
  });

  it('shows its findings and ends with 1; what it throws is one, and so is what cannot be cleared up', async () => {
    const found = await runAsProgram(
      proverOf(async () => ['this', 'that']),
      [],
    );
    expect(found.code).toBe(EXIT.finding);
    expect(found.stdout).toContain('FINDING: this\nFINDING: that\nprove:it: 2 findings');
    const broken = proverOf(async (_, { atEnd }) => {
      atEnd(() => Promise.reject(new Error('stuck')));
      throw new Error('lost');
    });
    expect(await perform(broken, {})).toEqual([
      expect.stringContaining('it broke off: Error: lost'),
      expect.stringContaining('it could not clear up: Error: stuck'),
    ]);
  });

  it('explains itself, and refuses what it does not know', async () => {
    const prover = proverOf(async () => ['it ran']);
    const help = await runAsProgram(prover, ['--help']);
    expect(help).toMatchObject({ code: EXIT.holds, stderr: '' });
    expect(help.stdout).toContain('--rounds       how often (default 5)');
    for (const args of [['--rounds', 'many'], ['--rounds', '-1'], ['--rounds'], ['--lap', '1'], ['extra']]) {
      expect(await runAsProgram(prover, args)).toMatchObject({ code: EXIT.usage, stdout: '' });
    }
  });

  it('undoes everything in reverse order, part by part', async () => {
    const undone: string[] = [];
    const prover = proverOf(async (_, stage) => {
      stage.atEnd(() => void undone.push('whole'));
      await inScope(stage, async (atEnd) => {
        atEnd(() => void undone.push('first'));
        atEnd(() => void undone.push('second'));
      });
      undone.push('after the part');
      return [];
    });
    expect(await perform(prover, {})).toEqual([]);
    expect(undone).toEqual(['second', 'first', 'after the part', 'whole']);
  });

  it('that is interrupted undoes everything, also what it starts before it has noticed', async () => {
    const interrupt = new AbortController();
    const undone: string[] = [];
    const prover = proverOf(async (_, stage) => {
      stage.atEnd(() => void undone.push('early'));
      interrupt.abort();
      await pause(50);
      await inScope(stage, async (atEnd) => {
        atEnd(() => void undone.push('late'));
        stage.signal.throwIfAborted();
      });
      return [];
    });
    const { code, stdout } = await runAsProgram(prover, [], interrupt.signal);
    expect(code).toBe(EXIT.interrupted);
    expect(stdout).not.toContain('holds');
    expect(undone).toEqual(['early', 'late']);
  });
});

describe('chance with a seed', () => {
  it('is the same for the same seed, another for another, and stays within its bounds', () => {
    const draw = (seed: number): number[] => {
      const { between } = seededRandom(seed);
      return Array.from({ length: 2_000 }, () => between(3, 6));
    };
    expect(draw(7)).toEqual(draw(7));
    expect(draw(7)).not.toEqual(draw(8));
    expect(new Set(draw(7))).toEqual(new Set([3, 4, 5, 6]));
    const { fraction, oneOf } = seededRandom(1);
    const mean = Array.from({ length: 10_000 }, fraction).reduce((sum, part) => sum + part) / 10_000;
    expect(mean).toBeGreaterThan(0.48);
    expect(mean).toBeLessThan(0.52);
    expect(() => oneOf([])).toThrow(RangeError);
  });
});
