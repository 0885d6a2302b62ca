import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Io } from '../../../../gateway/cli/command.ts';
import { temporaryFolder } from '../../../support/files.ts';
import type { Outcome } from '../output.ts';
import { fakeGateway, result } from './fakeGateway.ts';

describe('files for a loop that is not there', () => {
  /** At a gateway that answers, and is no loop. */
  async function invoke(argv: readonly string[], io: Partial<Io> = {}): Promise<{ outcome: Outcome; calls: number }> {
    const gateway = await fakeGateway(result(1));
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'a.txt'), 'x');
    const env = { PACKGATE_TOKEN: 'a-token-of-enough-characters', TMPDIR: folder };
    const outcome = await gateway.invoke(['t', '--file', 'a=a.txt', ...argv], { cwd: folder, env, ...io });
    return { outcome, calls: gateway.seen.length };
  }

  it('are wrong usage, also after a wait, and nothing is sent', async () => {
    for (const argv of [[], ['--wait', '300ms']]) {
      const { outcome, calls } = await invoke(argv);
      expect(outcome).toMatchObject({ code: 2, stderr: expect.stringContaining('no packgate dev of yours') as string });
      expect(calls).toBe(0);
    }
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ])('are not waited for any longer after %s', async (signal, code) => {
    const begun = performance.now();
    const { outcome, calls } = await invoke(['--wait', '60s'], {
      onSignal: (name, listener) => void (name === signal && setImmediate(listener)),
    });
    expect(outcome).toMatchObject({ code, stdout: '', stderr: expect.stringMatching(/^cancelled: /) as string });
    expect(calls).toBe(0);
    expect(performance.now() - begun).toBeLessThan(20_000);
  });
});
