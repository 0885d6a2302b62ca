import { BUILT_IN_CHECKS } from '../../shared/protocol/indexSchema.ts';
import { issueText, validate } from '../../shared/protocol/validate.ts';
import type { Json } from '../../shared/protocol/messages.ts';
import { failedResult, isBag, unwrap } from '../modules/exports.ts';
import type { Bag } from '../modules/exports.ts';
import type { Loaded } from '../modules/load.ts';
import type { Schema, SchemaCompiler } from '../schemas.ts';
import { describeThrown } from '../cause.ts';
import type { Candidate } from './discover.ts';
import { buildEntry, ConversionError } from './entries.ts';
import type { FileError, FileErrorCode, Warning } from './errors.ts';
import { flowProblems } from './flowCheck.ts';
import { detectKind, KINDS, pluralOf } from './kind.ts';
import type { Kind } from './kind.ts';

/** An index entry with where it came from. */
export interface Collected {
  readonly kind: Kind;
  readonly id: string;
  readonly version: string | undefined;
  readonly path: string;
  readonly entry: Bag;
}

/** What one file gave. */
export type FileResult =
  | { readonly ok: true; readonly item: Collected; readonly warnings: readonly Warning[] }
  | { readonly ok: false; readonly error: FileError };

export interface CollectContext {
  readonly packDir: string;
  readonly packId: string;
  readonly compiler: SchemaCompiler;
}

/** Makes the index entry of one loaded file, or says what is wrong with the file (E19, F1–F6). */
export async function collect(
  candidate: Candidate,
  { file, loaded }: { file: string; loaded: Loaded },
  context: CollectContext,
): Promise<FileResult> {
  const { path } = candidate;
  const failed = (code: FileErrorCode, why: string, more: { field?: string; cause?: Json } = {}): FileResult => ({
    ok: false,
    error: { code, message: `${path}: ${why}`, filePath: path, ...more },
  });

  if (!loaded.ok) {
    const { text, cause } = describeThrown(loaded.error, context.packDir);
    return failed('file-import-failed', text, { cause });
  }
  if (!('default' in loaded.exports)) {
    return failed('no-default-export', 'nothing is exported as default; a helper beside primitives begins with `_`');
  }
  const result = failedResult(loaded.exports.default);
  if (result !== undefined) {
    const { cause } = describeThrown(result.error, context.packDir);
    return failed('manifest-validation-failed', `its default export is a failed Result: ${result.text}`, { cause });
  }
  const value = unwrap(loaded.exports.default);
  const kind = detectKind(value);
  if (kind === undefined || !isBag(value)) return failed('ambiguous-kind', kindHint(value, candidate.kind));
  if (candidate.isInDefaultFolder && kind !== candidate.kind) {
    const why = `expected a ${candidate.kind} in ${pluralOf(candidate.kind)}/, found a ${kind}: move it to ${pluralOf(kind)}/`;
    return failed('kind-mismatch', why);
  }
  if (kind === 'guardrail' && isBag(value.check) && BUILT_IN_CHECKS.has(String(value.check.id))) {
    const id = String(value.check.id);
    const why = `"${id}" is a built-in check: name it (check: '${id}') to use it, or give your own check another id`;
    return failed('reserved-check-id', why, { field: 'check' });
  }

  let entry: Bag;
  try {
    // Through JSON: what is judged and written is exactly what a reader will see.
    entry = JSON.parse(JSON.stringify(await buildEntry(kind, value, { file, modulePath: path }))) as Bag;
  } catch (error) {
    if (error instanceof ConversionError) {
      return failed('zod-conversion-failed', `\`${error.field}\`: ${error.message}`, { field: error.field });
    }
    return failed(
      'manifest-validation-failed',
      `it holds what JSON cannot: ${describeThrown(error, context.packDir).text}`,
    );
  }
  const problem = entryProblem(kind, entry, context);
  if (problem !== undefined) return failed('manifest-validation-failed', problem.why, problem.at);

  const item = { kind, id: String(entry.id), version: entry.version as string | undefined, path, entry };
  return { ok: true, item, warnings: warningsOf(item, value, context) };
}

function kindHint(value: unknown, kind: Kind): string {
  if (typeof value === 'function') return 'its default export is a bare function, which has no id and no schemas';
  const needs: Record<Kind, string> = {
    tool: '`handler` and `input`',
    guardrail: '`kind` and `action` with `on-violation`',
    agent: '`instructions` and `tools`',
    flow: '`nodes` and `edges`',
  };
  const others = KINDS.filter((other) => other !== kind).map((other) => `a ${other} has ${needs[other]}`);
  return `its default export is no primitive: a ${kind} has ${needs[kind]} (${others.join(', ')})`;
}

interface Problem {
  readonly why: string;
  readonly at: { readonly field?: string };
}

function entryProblem(kind: Kind, entry: Bag, { compiler }: CollectContext): Problem | undefined {
  const issues = validate(kind, entry);
  const [first] = issues;
  if (first !== undefined) {
    const field = /^\/([^/]+)/.exec(first.instancePath)?.[1] ?? first.params?.missingProperty;
    return { why: issueText(issues), at: typeof field === 'string' ? { field } : {} };
  }
  if (kind === 'flow') {
    const problems = flowProblems(entry.nodes as unknown[], entry.edges as unknown[]);
    if (problems.length > 0) return { why: problems.join('; '), at: {} };
  }
  if (kind === 'guardrail' && entry.configSchema !== undefined) {
    const checker = compiler.exact(entry.configSchema as Schema);
    const misfits = checker.ok ? checker.check(entry.config ?? {}) : [];
    if (misfits.length > 0)
      return { why: `config does not fit configSchema: ${issueText(misfits)}`, at: { field: 'config' } };
  }
  return undefined;
}

function warningsOf({ kind, entry, path }: Collected, value: Bag, { packId, compiler }: CollectContext): Warning[] {
  const warnings: Warning[] = [];
  const shipped = kind === 'guardrail' && isBag(value.check) ? entry.checkId : undefined;
  if (typeof shipped === 'string' && !shipped.startsWith(`${packId}.`)) {
    const message = `${path}: check "${shipped}" could collide with one of another pack: begin its id with "${packId}."`;
    warnings.push({ code: 'check-id-unprefixed', message, filePath: path, field: 'check' });
  }
  for (const field of ['input', 'output', 'configSchema']) {
    if (kind === 'agent' || kind === 'flow' || entry[field] === undefined) continue;
    const checker = compiler.exact(entry[field] as Schema);
    if (checker.ok) continue;
    const message = `${path}: \`${field}\` does not compile, so every call will fail: ${checker.error.message}`;
    warnings.push({ code: 'schema-does-not-compile', message, filePath: path, field });
  }
  return warnings;
}
