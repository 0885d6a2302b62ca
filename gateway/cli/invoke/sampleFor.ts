import { EXIT } from '../../../shared/process/contract.ts';
import { CommandError } from '../command.ts';
import type { Io } from '../command.ts';
import type { WrittenGateway } from './config.ts';
import { indexPaths, inputSchemaOf, namedIndex } from './packIndex.ts';
import { askInfo } from './info.ts';
import type { Caller } from './info.ts';
import { tenantOfCall } from './place.ts';
import { reach, unreachable } from './reach.ts';
import { sampleOf } from './sample.ts';
import type { Sample } from './sample.ts';
import { printable } from '../printable.ts';

/** An index is built at a deployment's first start, which this waits for. */
const START_MS = 120_000;

export interface SampleSource {
  /** `--index`. */
  readonly index: string | undefined;
  /** `--tenant`. */
  readonly tenant: string | undefined;
  readonly config: WrittenGateway | undefined;
  /** Who asks the gateway where it has to build the index first. */
  readonly caller: () => Promise<Caller>;
  readonly waitMs: number;
}

/**
 * An input for the tool, made from its schema in the index.
 * @throws {CommandError} when no index is found, or it does not have the tool.
 */
export async function sampleFor(
  tool: { readonly id: string; readonly version: string | undefined },
  { index, tenant, config, caller, waitMs }: SampleSource,
  { cwd }: Io,
): Promise<Sample> {
  if (index !== undefined) {
    const schema = await inputSchemaOf(tool, namedIndex(index, cwd));
    if (schema !== undefined) return sampleOf(schema);
    throw new CommandError(EXIT.failed, `${printable(index)} has no tools, or is not there`, 'Name another index.');
  }
  const hint = 'Name its index with --index FILE; "packgate-child index" makes one.';
  if (config === undefined) throw new CommandError(EXIT.failed, 'there is no configuration that names the pack', hint);
  const id = tenantOfCall(tenant, config);
  const found = await inputSchemaOf(tool, indexPaths(id, config));
  if (found !== undefined) return sampleOf(found);
  // The gateway builds it when somebody asks what the pack has.
  const asker = await caller();
  const answer = await reach(() => askInfo(asker, START_MS), waitMs);
  if (answer.kind === 'unreachable') throw unreachable(asker.place, answer);
  const built = await inputSchemaOf(tool, indexPaths(id, config));
  if (built !== undefined) return sampleOf(built);
  throw new CommandError(EXIT.failed, `no index of the pack of tenant ${printable(id)} is found`, hint);
}
