import assert from 'node:assert/strict';
import { stringList } from '../../process/records.ts';
import type { ServiceProcess, StartOptions, Target } from '../service.ts';
import { eventsOf, isEvent } from './lines.ts';
import type { Fields } from './lines.ts';

/** The fields of the event that a start has to fail with; a service that listens instead fails the clause at once. */
export async function failureOf(process: ServiceProcess, name: 'boot-failed' | 'config-invalid'): Promise<Fields> {
  const line = await process.line((candidate) => isEvent(name)(candidate) || isEvent('listening')(candidate));
  assert.ok(line.type === 'event' && line.event === name, `it listens and says nothing of ${name}`);
  return line.fields;
}

/** Starts a process that must not come up: exit 1 after one line of this name, whose problems are returned. */
export async function problemsOf(
  target: Target,
  event: 'boot-failed' | 'config-invalid',
  options: StartOptions,
): Promise<string[]> {
  const started = await target.start(options);
  try {
    const fields = await failureOf(started, event);
    assert.deepEqual(await started.exit, { code: 1, signal: null });
    assert.equal(eventsOf(started, event).length, 1, `lines of ${event}`);
    assert.deepEqual(eventsOf(started, 'listening'), [], 'it listened');
    const problems = stringList(fields.problems);
    assert.ok(problems.length > 0 && problems.every((problem) => problem !== ''), 'problems are texts');
    return problems;
  } finally {
    await started.stop();
  }
}

/** The arguments without one option and its value. */
export function withoutOption(args: readonly string[], name: string): string[] {
  const at = args.indexOf(name);
  assert.ok(at >= 0, `${name} is among the arguments`);
  return args.filter((_, index) => index !== at && index !== at + 1);
}
