import assert, { AssertionError } from 'node:assert/strict';
import { describe, expect, it } from 'vitest';
import { httpClause } from '../../../shared/conform/clause.ts';
import { NotLookedAt } from '../../../shared/conform/notLookedAt.ts';
import { outcomeOf } from '../../../shared/conform/outcome.ts';
import type { Outcome } from '../../../shared/conform/outcome.ts';
import { jsonReport } from '../../../gateway/cli/conform/jsonReport.ts';
import { junitReport } from '../../../gateway/cli/conform/junitReport.ts';
import { tableReport } from '../../../gateway/cli/conform/tableReport.ts';
import { tapReport } from '../../../gateway/cli/conform/tapReport.ts';
import { summaryOf, verdictsOf } from '../../../gateway/cli/conform/verdicts.ts';
import type { Verdicts } from '../../../gateway/cli/conform/verdicts.ts';
import { paintFor } from '../../../gateway/cli/paint.ts';

const clause = httpClause('A1/some', 'something # holds', () => Promise.resolve());

function outcome(run: () => void): Promise<Outcome> {
  return outcomeOf(clause, async () => run());
}

describe('what came of a clause', () => {
  it('is that it holds when nothing is thrown', async () => {
    expect(await outcome(() => undefined)).toEqual({ verdict: 'holds' });
  });

  it('is what was compared, with the words that say what it is', async () => {
    expect(await outcome(() => assert.equal(200, 421, 'status, with {}'))).toEqual({
      verdict: 'deviates',
      expected: '421',
      came: '200 (status, with {})',
      isCheck: true,
    });
    expect(await outcome(() => assert.deepEqual({ a: [1] }, { a: [2] }))).toMatchObject({
      expected: '{ a: [ 2 ] }',
      came: '{ a: [ 1 ] }',
    });
    expect(await outcome(() => assert.match('none', /^\d+$/, 'retry-after'))).toMatchObject({
      expected: '/^\\d+$/',
      came: "'none' (retry-after)",
    });
  });

  it("is the clause's own sentence and the reason, where nothing was compared", async () => {
    expect(await outcome(() => assert.ok(false, 'it listened'))).toMatchObject({
      expected: 'something # holds',
      came: 'it listened',
    });
    expect(await outcome(() => assert.fail('no end'))).toMatchObject({ came: 'no end' });
  });

  it('is a finding as well where the check did not come to its end, told apart from one by the check', async () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' });
    const thrown = await outcome(() => {
      throw refused;
    });
    expect(thrown).toEqual({
      verdict: 'deviates',
      expected: 'something # holds',
      came: 'connect ECONNREFUSED 127.0.0.1:1',
      isCheck: false,
    });
  });

  it('is that it was not looked at, and why', async () => {
    const skipped = await outcome(() => {
      throw new NotLookedAt('the pack has no tool x');
    });
    expect(skipped).toEqual({ verdict: 'skipped', reason: 'the pack has no tool x' });
  });

  it('is cut where a service sent very much', async () => {
    const long = await outcome(() => {
      throw new AssertionError({ message: 'x'.repeat(100_000) });
    });
    expect(long.verdict === 'deviates' ? long.came.length : 0).toBeLessThan(1_000);
  });
});

describe('reports', () => {
  const HOSTILE = 'a\u001b[2J\nb ]]> <b> & "c" \u0000 \ud800 \u009b';
  const came = { verdict: 'deviates', expected: '421', came: HOSTILE, isCheck: true } as const;
  const hostile: Verdicts = verdictsOf(
    'service \u001b]0;x\u0007',
    [
      {
        clause: httpClause('A2/holds', 'it holds', () => Promise.resolve()),
        outcome: { verdict: 'holds' },
        needs: [],
        ms: 3,
      },
      { clause, outcome: came, needs: ['conformance.echo'], ms: 1_234 },
      {
        clause: httpClause('A3/skipped', 'it is not seen', () => Promise.resolve()),
        outcome: { verdict: 'skipped', reason: 'no # \u001b[1m' },
        needs: [],
        ms: 0,
      },
    ],
    65_432,
  );

  it('put findings first, then what was not looked at', () => {
    expect(hostile.judged.map(({ clause: { id } }) => id)).toEqual(['A1/some', 'A3/skipped', 'A2/holds']);
    expect(summaryOf(hostile)).toBe('3 checks: 1 hold, 1 finding, 1 not looked at; 65.4 s');
  });

  it('contain nothing that a terminal would act on, whatever a service sent', () => {
    const paint = paintFor({ env: { NO_COLOR: '1' }, isTty: { stdin: true, stdout: true, stderr: true } });
    for (const report of [tableReport(hostile, paint), tapReport(hostile), jsonReport(hostile), junitReport(hostile)]) {
      expect(report).not.toMatch(/(?!\n)\p{Cc}/u);
    }
  });

  it('keep what came readable: JSON as it is, TAP and XML escaped', () => {
    const { checks } = JSON.parse(jsonReport(hostile)) as { checks: { came?: string }[] };
    expect(checks[0]?.came).toBe(HOSTILE);
    expect(tapReport(hostile)).toContain('not ok 1 - A1/some: something \\# holds\n');
    expect(tapReport(hostile)).toContain('ok 2 - A3/skipped: it is not seen # SKIP no ');
    expect(junitReport(hostile)).toContain(
      '<failure message="a?[2J&#10;b ]]&gt; &lt;b&gt; &amp; &quot;c&quot; ? ? ?">',
    );
  });
});
