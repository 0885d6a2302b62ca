import { MAX_TIMEOUT_MS, DEFAULT_TIMEOUT_MS } from '../../../shared/protocol/limits.ts';
import { parseDurationMs } from '../../config/units.ts';
import { UsageError } from '../command.ts';
import type { Arguments, Io, Options, Values } from '../command.ts';
import { CONTEXT_OPTIONS, readContext } from './context.ts';
import { readJson, readObject } from './input.ts';
import type { Called, CallFacts, Foreign } from './message.ts';
import { CALL_PLACE_OPTIONS, sendableTenant } from './place.ts';
import { STAND_IN_OPTIONS } from './standInsGiven.ts';

/** All options of `packgate invoke`. */
export const CALL_OPTIONS = {
  ...CALL_PLACE_OPTIONS,
  'as-tenant': { type: 'string', value: 'id', help: 'send this tenant instead of the own one, to see the 421' },
  as: { type: 'string', value: 'header|context|both', help: 'where --as-tenant is sent (default: both)' },
  check: { type: 'string', value: 'id', help: 'call this guardrail check; the argument is the trace it judges' },
  'check-config': { type: 'string', value: 'json', help: 'its configuration: JSON, @file or - (default: {})' },
  'tool-version': { type: 'string', value: 'version', help: 'the version of the tool (default: its only one)' },
  timeout: { type: 'string', value: 'duration', help: "the call's deadline (default: 120s)" },
  wait: { type: 'string', value: 'duration', help: 'how long to wait for a gateway that does not listen yet' },
  ...CONTEXT_OPTIONS,
  ...STAND_IN_OPTIONS,
  sample: { type: 'boolean', help: "make the input from the tool's schema, print it, and call with it" },
  index: { type: 'string', value: 'file', help: 'the index with that schema (default: the one that is served)' },
  'dry-run': { type: 'boolean', help: 'with --sample: only print it' },
  list: { type: 'boolean', help: 'print what the pack has' },
  complete: { type: 'boolean', help: "print the tool ids that begin with the argument, for a shell's completion" },
} as const satisfies Options;

type Given = Values<typeof CALL_OPTIONS>;

/** What a check has no use of. */
const TOOL_OPTIONS = [
  'ctx',
  'env',
  'secret',
  'connection',
  'file',
  'files',
  'no-stand-ins',
  'sample',
  'tool-version',
] as const;
const PLACES: ReadonlySet<string> = new Set<Foreign>(['header', 'context', 'both']);

export function readTimeoutMs({ timeout }: Given): number {
  const ms = timeout === undefined ? DEFAULT_TIMEOUT_MS : parseDurationMs(timeout);
  if (ms !== undefined && ms > 0 && ms <= MAX_TIMEOUT_MS) return ms;
  throw new UsageError('--timeout is no duration', 'Write it with its unit, such as 500ms, 5s or 2m.');
}

/** How long to wait for a listener; 0 when nobody wants to. */
export function readWaitMs({ wait }: Given): number {
  const ms = wait === undefined ? 0 : parseDurationMs(wait);
  if (ms !== undefined) return ms;
  throw new UsageError('--wait is no duration', 'Write it with its unit, such as 10s.');
}

export function readForeign({ 'as-tenant': tenant, as, check }: Given): CallFacts['foreign'] {
  if (tenant === undefined) {
    if (as === undefined) return undefined;
    throw new UsageError('--as says where, and --as-tenant is missing', 'Give both.');
  }
  const place = as ?? (check === undefined ? 'both' : 'header');
  if (!PLACES.has(place)) throw new UsageError('--as is none of its places', 'Write header, context or both.');
  if (check !== undefined && place !== 'header') {
    throw new UsageError('the message of a check has no context', 'With --check write --as header.');
  }
  return { tenant: sendableTenant(tenant, '--as-tenant'), as: place as Foreign };
}

/** What is called, and with what. */
export async function readCalled(given: Given, { tool, input }: Arguments, io: Io): Promise<Called> {
  refuseTwoReaders(given, tool, input);
  if (given.check !== undefined) {
    for (const option of TOOL_OPTIONS) {
      if (given[option] !== undefined) throw new UsageError(`--${option} is for tools`, 'Leave it out with --check.');
    }
    if (input !== undefined) throw new UsageError('--check takes one argument', 'It is the trace that is judged.');
    const config = await readObject(given['check-config'] ?? '{}', '--check-config', io);
    return { kind: 'check', id: given.check, config, trace: await readJson(tool ?? '{}', 'the trace', io) };
  }
  if (given['check-config'] !== undefined) throw new UsageError('--check-config is for a check', 'Give --check, too.');
  if (tool === undefined || tool === '') {
    throw new UsageError('<tool> is missing', '"packgate invoke --list" shows what there is.');
  }
  if (given.sample === true && input !== undefined) {
    throw new UsageError('--sample makes an input, and one is given', 'Leave one of them out.');
  }
  return {
    kind: 'tool',
    id: tool,
    version: given['tool-version'],
    input: await readJson(input ?? '{}', 'the input', io),
    context: await readContext(given, io),
  };
}

/** Standard input can be read once. */
function refuseTwoReaders(given: Given, tool: string | undefined, input: string | undefined): void {
  const readers = [given.check === undefined ? input : tool, given['check-config'], given.ctx];
  if (readers.filter((from) => from === '-').length < 2) return;
  throw new UsageError('standard input is asked for twice', 'Write one of them as @FILE.');
}
