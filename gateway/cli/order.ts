import { EXIT } from '../../shared/process/contract.ts';
import { DEFAULT_WAIT_MS, MAX_WAIT_MS } from '../admin/wait.ts';
import { parseDurationMs } from '../config/units.ts';
import type { OrderName } from '../supervisor/status.ts';
import { askGateway } from './adminClient.ts';
import type { AdminAnswer } from './adminClient.ts';
import { findGateway, PLACE_OPTIONS } from './adminPlace.ts';
import type { AdminPlace } from './adminPlace.ts';
import { durationText } from './amounts.ts';
import { UsageError } from './command.ts';
import type { Command, Io, Options } from './command.ts';
import { DEPLOYMENT_ARGUMENT, deploymentMeant, listDeployments, nameText, pathOf } from './deployments.ts';
import { jsonText, printable, printableLines } from './printable.ts';

export const ORDER_OPTIONS = {
  ...PLACE_OPTIONS,
  wait: { type: 'boolean', help: 'wait until it is done, and exit with 1 if it fails' },
  timeout: { type: 'string', value: 'duration', help: 'wait that long at most (default: 90s, at most 10m)' },
} as const satisfies Options;

export interface WaitOptions {
  readonly wait?: boolean;
  readonly timeout?: string;
}

/** A command that gives one deployment an order. `does`: what the example does. */
export function orderCommand(
  name: OrderName,
  { summary, does }: { readonly summary: string; readonly does: string },
): Command<typeof ORDER_OPTIONS> {
  return {
    name,
    summary,
    usage: `packgate ${name} <deployment> [--wait] [--timeout <duration>] [-c <file>] [--url <url>] [--json]`,
    arguments: [DEPLOYMENT_ARGUMENT],
    options: ORDER_OPTIONS,
    examples: [
      { line: `packgate ${name} acme/crm`, does },
      { line: `packgate ${name} acme/crm --wait --timeout 5m`, does: 'the same, and tell how it ended' },
    ],
    async run(options, io, { deployment = '' }) {
      const waitMs = waitMsOf(options);
      return giveOrder(await findGateway(options, io), name, deployment, { waitMs, json: options.json ?? false }, io);
    },
  };
}

/** Milliseconds to wait until an order is done; undefined where nobody wants to. */
export function waitMsOf({ wait = false, timeout }: WaitOptions): number | undefined {
  if (timeout === undefined) return wait ? DEFAULT_WAIT_MS : undefined;
  const ms = parseDurationMs(timeout);
  if (ms !== undefined && ms > 0 && ms <= MAX_WAIT_MS) return ms;
  throw new UsageError('--timeout is no duration of at most 10m', 'Write it with its unit, such as 90s or 5m.');
}

/** Gives the order to the deployment that `text` means, says what became of it and returns the exit code. */
export async function giveOrder(
  place: AdminPlace,
  order: OrderName,
  text: string,
  { waitMs, json }: { readonly waitMs: number | undefined; readonly json: boolean },
  io: Io,
): Promise<number> {
  const meant = deploymentMeant(text, await listDeployments(place));
  const wait = waitMs === undefined ? '' : `?wait=${waitMs}ms`;
  const answer = await askGateway(place, 'POST', `${pathOf(meant)}/${order}${wait}`, waitMs);
  if (json) io.stdout.write(jsonText(answer.data));
  const name = printable(nameText(meant));
  if (answer.status === 202 && waitMs === undefined) {
    if (!json) io.stdout.write(`${order} of ${name} has begun; "packgate status ${name}" shows how it goes\n`);
    return EXIT.ok;
  }
  if (answer.status === 200) {
    if (!json) io.stdout.write(`${name}: ${printable(textOf(answer.data.message))}\n`);
    return EXIT.ok;
  }
  if (answer.status === 202) {
    const waited = durationText(waitMs ?? 0);
    const hint = `It goes on; "packgate status ${name}" shows how.`;
    io.stderr.write(`packgate: ${order} of ${name} was not done after ${waited}. ${hint}\n`);
  } else showFailure(`${order} of ${name}`, answer, io);
  return EXIT.failed;
}

/** Says on stderr what failed, and every problem. */
export function showFailure(what: string, { data }: AdminAnswer, { stderr }: Io): void {
  const { code, problems } = data;
  const message = printable(textOf(data.message ?? data.error));
  stderr.write(`packgate: ${what} failed${typeof code === 'string' ? ` (${printable(code)})` : ''}: ${message}\n`);
  for (const problem of Array.isArray(problems) ? (problems as unknown[]) : []) {
    for (const line of printableLines(textOf(problem))) stderr.write(`  ${line}\n`);
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
