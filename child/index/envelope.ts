import { INDEX_VERSION } from '../../shared/protocol/indexSchema.ts';
import { validate } from '../../shared/protocol/validate.ts';
import type { Collected } from './collect.ts';
import type { PackConfig } from './judgeConfig.ts';
import { compare } from './discover.ts';
import { PackError } from './errors.ts';
import type { FileError } from './errors.ts';
import { issueWords } from './issueWords.ts';
import { KINDS, pluralOf } from './kind.ts';
import type { Kind } from './kind.ts';

/** The index as it will be written. */
export type Envelope = Readonly<Record<string, unknown>> & Readonly<Record<`${Kind}s`, readonly unknown[]>>;

/** Takes out the later ones of primitives that are there twice; `items` are in path order (E20). */
export function withoutDuplicates(items: readonly Collected[]): { kept: Collected[]; errors: FileError[] } {
  const kept: Collected[] = [];
  const errors: FileError[] = [];
  for (const item of items) {
    const first = kept.find((other) => isDuplicate(other, item));
    if (first === undefined) {
      kept.push(item);
      continue;
    }
    const name = `${item.kind} ${item.id}${item.version === undefined ? '' : `@${item.version}`}`;
    const message = `${item.path}: ${name} is already in ${first.path}; give it another id or version`;
    errors.push({ code: 'manifest-validation-failed', message, filePath: item.path });
  }
  return { kept, errors };
}

function isDuplicate(first: Collected, later: Collected): boolean {
  if (first.kind !== later.kind || first.id !== later.id) return false;
  if (later.kind === 'guardrail') return true;
  return first.version === undefined || later.version === undefined || first.version === later.version;
}

/** The envelope of a pack's entries, sorted by id, judged against the index schema (E1, E11, E15). Throws a `PackError`. */
export function buildEnvelope(
  config: PackConfig,
  items: readonly Collected[],
  { artifactVersion, publishedAt }: { artifactVersion: string; publishedAt: string },
): Envelope {
  const entriesOf = (kind: Kind): unknown[] =>
    items
      .filter((item) => item.kind === kind)
      .sort((left, right) => compare(left.id, right.id))
      .map(({ entry }) => entry);
  const lists = Object.fromEntries(KINDS.map((kind) => [pluralOf(kind), entriesOf(kind)])) as Record<
    `${Kind}s`,
    unknown[]
  >;
  const envelope = {
    v: INDEX_VERSION,
    packId: config.id,
    packVersion: config.version,
    artifactVersion,
    publishedAt,
    ...(config.env === undefined ? {} : { env: config.env }),
    ...lists,
  };
  const issues = validate('index', envelope);
  if (issues.length > 0) {
    throw new PackError('manifest-validation-failed', `The index would not be valid: ${issueWords(issues)}`);
  }
  return envelope;
}
