import { describeThrown } from '../cause.ts';
import { serialise } from './json.ts';
import { errorOutcome, verdictOutcome } from './message.ts';
import type { Outcome } from './message.ts';
import type { Pack } from './pack.ts';
import type { ParsedRequest } from './request.ts';

export type CheckMessage = Extract<ParsedRequest, { kind: 'check-invoke' }>;

/** Runs a guardrail's check: its config is judged as sent, then `evaluate(config, trace, {abortSignal})` (D23–D26). Never rejects. */
export async function runCheck(
  pack: Pack,
  { checkId, config, trace }: CheckMessage,
  { signal }: { signal: AbortSignal },
): Promise<Outcome> {
  const subject = { checkId };
  const found = pack.checks.get(checkId);
  if (found === undefined) return errorOutcome('check-not-in-pack', `No check "${checkId}" in this pack`, subject);

  if (found.config?.ok === false) {
    const { error } = found.config;
    const { cause } = describeThrown(error, pack.root);
    const message = `The config schema of check "${checkId}" does not compile: ${error.message}`;
    return errorOutcome('input-validation-failed', message, subject, { cause });
  }
  const issues = found.config?.check(config) ?? [];
  const [first] = issues;
  if (first !== undefined) {
    // The runtime shows only code and message of a check's error, so this text carries the first issue (D20).
    const place = first.instancePath === '' ? '' : ` at ${first.instancePath}`;
    const message = `Check "${checkId}" config failed validation${place}: ${first.message}`;
    return errorOutcome('input-validation-failed', message, subject, { issues });
  }

  const { check } = found;
  if (!check.ok) {
    const where = `Module ${found.entry.modulePath} of check "${checkId}"`;
    return errorOutcome('check-shape-invalid', `${where} has no check: ${check.why}`, subject);
  }
  try {
    const { call } = check;
    return checkVerdict(pack, checkId, await call(config, trace, { abortSignal: signal }));
  } catch (thrown) {
    const { text, cause } = describeThrown(thrown, pack.root);
    return errorOutcome('handler-throw', `Check "${checkId}" threw: ${text}`, subject, { cause });
  }
}

/** A bare boolean is a verdict, too (D26). */
function checkVerdict({ verdict }: Pack, checkId: string, returned: unknown): Outcome {
  const subject = { checkId };
  const json = serialise(typeof returned === 'boolean' ? { passed: returned } : returned);
  if (!json.ok) {
    const message = `The verdict of check "${checkId}" cannot be sent as JSON: ${json.why}`;
    return errorOutcome('output-validation-failed', message, subject);
  }
  const issues = verdict.ok ? verdict.check(json.value) : [];
  if (issues.length === 0) return verdictOutcome(json.text);
  const message = `The verdict of check "${checkId}" must be a boolean or an object with a boolean \`passed\``;
  return errorOutcome('output-validation-failed', message, subject, { issues });
}
