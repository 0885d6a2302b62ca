import { join } from 'node:path';

import type { Json } from '../../shared/protocol/messages.ts';
import { describeThrown } from '../cause.ts';
import { describeLoadFailure } from '../loadFailure.ts';
import { failedResult, isBag, unwrap } from '../modules/exports.ts';
import type { Bag } from '../modules/exports.ts';
import type { Loaded } from '../modules/load.ts';
import type { SchemaCompiler } from '../schemas.ts';
import { reservedChecks, shippedChecks } from './checks.ts';
import type { Candidate } from './discover.ts';
import { buildEntry } from './entries.ts';
import type { FileError, FileErrorCode, Warning } from './errors.ts';
import { entryProblems } from './judge.ts';
import type { Problem } from './judge.ts';
import { detectKind, KINDS, oneOf, pluralOf } from './kind.ts';
import type { Kind } from './kind.ts';
import type { SchemaLint } from './lint.ts';

/** An index entry with where it came from. */
export interface Collected {
  readonly kind: Kind;
  readonly id: string;
  readonly version: string | undefined;
  readonly path: string;
  readonly entry: Bag;
}

/** What one file gave: an item, or errors that keep it out of the index. */
export interface FileResult {
  readonly item?: Collected;
  readonly errors: readonly FileError[];
  readonly warnings: readonly Warning[];
}

export interface CollectContext {
  readonly packDir: string;
  readonly packId: string;
  readonly compiler: SchemaCompiler;
  readonly lint: SchemaLint;
}

/** Makes the index entry of one loaded file, or says all that is wrong with the file (E19, F1–F6). */
export async function collect(
  candidate: Candidate,
  { file, loaded }: { file: string; loaded: Loaded },
  context: CollectContext,
): Promise<FileResult> {
  const { path } = candidate;
  const error = (code: FileErrorCode, why: string, more: { field?: string; cause?: Json } = {}): FileError => ({
    code,
    message: `${path}: ${why}`,
    filePath: path,
    ...more,
  });
  const failed = (...errors: readonly FileError[]): FileResult => ({ errors, warnings: [] });

  if (!loaded.ok) {
    const { text: message, cause } = describeLoadFailure(loaded.error, { root: context.packDir, path });
    return failed({ code: 'file-import-failed', message, filePath: path, cause });
  }
  if (loaded.exports.default === undefined) {
    const why = `nothing is exported as default: export default { id, … }, or begin the name of a helper with "_"`;
    return failed(error('no-default-export', why));
  }
  const result = failedResult(loaded.exports.default);
  if (result !== undefined) {
    const { cause } = describeThrown(result.error, context.packDir);
    const why = `its default export is a failed Result: ${result.text}`;
    return failed(error('manifest-validation-failed', why, { cause }));
  }
  const value = unwrap(loaded.exports.default);
  const kind = detectKind(value);
  if (kind === undefined || !isBag(value)) return failed(error('ambiguous-kind', kindHint(value, candidate.kind)));
  if (candidate.isInDefaultFolder && kind !== candidate.kind) {
    const why = `expected ${oneOf(candidate.kind)} in ${pluralOf(candidate.kind)}/, found ${oneOf(kind)}: move it to ${pluralOf(kind)}/`;
    return failed(error('kind-mismatch', why));
  }

  const errors: FileError[] = [];
  /** One message for each code, whatever it has to tell. */
  const note = (code: FileErrorCode, problems: readonly Problem[]): void => {
    if (problems.length === 0) return;
    const field = problems.find((problem) => problem.field !== undefined)?.field;
    errors.push(error(code, problems.map(({ why }) => why).join('; '), field === undefined ? {} : { field }));
  };
  const checks = kind === 'guardrail' ? shippedChecks(value, loaded.exports) : [];
  note('reserved-check-id', reservedChecks(checks).map(reservedProblem));
  const built = await buildEntry(kind, value, { files: [file, join(context.packDir, path)], modulePath: path });
  note('zod-conversion-failed', built.misfits);
  const skipped = built.misfits.map(({ key }) => key);
  const judged = entryProblems(kind, { value, built: built.entry, skipped }, context.compiler);
  note('manifest-validation-failed', judged.problems);
  if (errors.length > 0 || judged.entry === undefined) return failed(...errors);

  const { entry } = judged;
  const item = { kind, id: String(entry.id), version: entry.version as string | undefined, path, entry };
  const unprefixed = checks.filter((id) => !id.startsWith(`${context.packId}.`));
  return {
    item,
    errors: [],
    warnings: [...unprefixed.map((id) => prefixWarning(path, id, context.packId)), ...context.lint(item)],
  };
}

function reservedProblem(id: string): Problem {
  const why = `"${id}" is a built-in check: name it (check: '${id}') to use it, or give your own check another id`;
  return { why, field: 'check' };
}

function prefixWarning(path: string, id: string, packId: string): Warning {
  const message = `${path}: check "${id}" could collide with one of another pack: begin its id with "${packId}."`;
  return { code: 'check-id-unprefixed', message, filePath: path, field: 'check' };
}

function kindHint(value: unknown, kind: Kind): string {
  const needs: Record<Kind, string> = {
    tool: '`handler` and `input`',
    guardrail: '`kind` and `action` with `on-violation`',
    agent: '`instructions` and `tools`',
    flow: '`nodes` and `edges`',
  };
  if (typeof value === 'function') {
    return `its default export is a bare function, which has no id and no schemas: ${oneOf(kind)} is an object with ${needs[kind]}`;
  }
  const others = KINDS.filter((other) => other !== kind).map((other) => `${oneOf(other)} has ${needs[other]}`);
  return `its default export is no primitive: ${oneOf(kind)} has ${needs[kind]} (${others.join(', ')})`;
}
