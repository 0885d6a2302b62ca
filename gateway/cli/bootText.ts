import type { Exit } from '../supervisor/process.ts';
import type { BootRecord } from '../supervisor/status.ts';
import { sinceText } from './amounts.ts';
import type { Look } from './overview.ts';
import { printable, printableLines } from './printable.ts';
import { stateText } from './stateText.ts';

/** One start, for people: what it was for, how it went and how long each step took, what went wrong, what was printed. */
export function bootLines(boot: BootRecord, { nowMs, paint }: Look): string[] {
  const { instance, cause, at, outcome, failure, exit, lastOutput } = boot;
  const lines = [
    [
      printable(instance),
      stateText(printable(outcome), paint),
      `for ${printable(cause)}`,
      `${sinceText(at, nowMs)} ago`,
      paint.faint(printable(`(${stepsText(boot)})`)),
    ].join('  '),
  ];
  if (failure !== undefined) {
    const [first = '', ...more] = printableLines(failure.message);
    lines.push(`  at ${printable(failure.step)}: ${paint.bad(printable(failure.code))}: ${first}`);
    lines.push(...more.map((line) => `    ${line}`));
    for (const problem of failure.problems) {
      const [head = '', ...rest] = printableLines(problem);
      lines.push(`  - ${head}`, ...rest.map((line) => `    ${line}`));
    }
  }
  if (exit !== undefined) lines.push(`  ${exitText(exit)}`);
  for (const output of lastOutput) lines.push(`  ${paint.faint('|')} ${printable(output)}`);
  return lines;
}

/** `queue 2 ms, index 0, launch 1, listen 61, ready 3, proof 9`. */
function stepsText({ steps }: BootRecord): string {
  if (steps.length === 0) return 'no step begun';
  return steps.map(({ step, ms }, at) => `${step} ${at === 0 ? `${Math.round(ms)} ms` : Math.round(ms)}`).join(', ');
}

function exitText(exit: Exit): string {
  switch (exit.kind) {
    case 'code':
      return `its process ended with exit code ${exit.code}`;
    case 'signal':
      return `its process was ended by ${printable(exit.signal)}`;
    case 'spawn-failed':
      return `its process could not be started: ${printable(exit.reason)}`;
  }
}
