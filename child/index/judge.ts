import type { Json } from '../../shared/protocol/messages.ts';
import { validate } from '../../shared/protocol/validate.ts';
import { isBag } from '../modules/exports.ts';
import type { Bag } from '../modules/exports.ts';
import type { Schema, SchemaCompiler } from '../schemas.ts';
import { flowProblems } from './flow/flowProblems.ts';
import { issueWords } from './issueWords.ts';
import type { Kind } from './kind.ts';

/** Something wrong with an entry; `field` where it is one field's. */
export interface Problem {
  readonly why: string;
  readonly field?: string;
}

export interface Judged {
  /** The entry as a reader of the index will see it; undefined when it cannot be written at all. */
  readonly entry: Bag | undefined;
  readonly problems: readonly Problem[];
}

/**
 * Judges an entry of an index (E3–E6, F6). `value` is the primitive it was built from; what `skipped` names was found
 * wrong before.
 */
export function entryProblems(
  kind: Kind,
  { value, built, skipped }: { value: Bag; built: Bag; skipped: readonly string[] },
  compiler: SchemaCompiler,
): Judged {
  const plain = throughJson(built);
  if ('why' in plain) return { entry: undefined, problems: [plain] };
  const { entry } = plain;
  const problems: Problem[] = [];
  for (const issue of validate(kind, entry)) {
    const field = /^\/([^/]+)/.exec(issue.instancePath)?.[1] ?? issue.params?.missingProperty;
    if (typeof field !== 'string') problems.push({ why: issueWords([issue]) });
    else if (!skipped.includes(field)) problems.push({ why: issueWords([issue]), field });
  }
  if (kind === 'tool') {
    for (const field of ['input', 'output']) {
      if (typeof entry[field] === 'boolean') problems.push({ why: `/${field} must be an object`, field });
    }
  }
  // The whole flow as it was exported: a field that the index leaves out may be a mistyped one.
  if (kind === 'flow' && problems.length === 0) {
    const flow = throughJson(value);
    if ('why' in flow) problems.push(flow);
    else problems.push(...flowProblems(flow.entry).map((why) => ({ why })));
  }
  if (kind === 'guardrail' && entry.configSchema !== undefined) problems.push(...configProblems(entry, compiler));
  return { entry, problems };
}

/** A guardrail's config has to fit its schema already here, not at every evaluation; a missing one is `{}`. */
function configProblems({ config = {}, configSchema }: Bag, compiler: SchemaCompiler): Problem[] {
  const checker = compiler.exact(configSchema as Schema);
  if (!checker.ok) return [{ why: `configSchema does not compile: ${checker.error.message}`, field: 'configSchema' }];
  const misfits = isBag(config) ? checker.check(config) : [];
  if (misfits.length === 0) return [];
  return [{ why: `config does not fit configSchema: ${issueWords(misfits)}`, field: 'config' }];
}

/** What is judged and written is exactly what a reader will see. */
function throughJson(value: Bag): { readonly entry: Bag } | Problem {
  try {
    return { entry: JSON.parse(JSON.stringify(value)) as Record<string, Json> };
  } catch (error) {
    // In the words of JSON.stringify, which go over several lines for a circle.
    const words = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    return { why: `it holds what JSON cannot: ${words.replaceAll(/\s*\n\s*/g, ' ')}` };
  }
}
