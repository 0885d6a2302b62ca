import { EXIT } from '../../shared/process/contract.ts';
import { askGateway } from './adminClient.ts';
import { findGateway } from './adminPlace.ts';
import type { AdminPlace } from './adminPlace.ts';
import type { Command, Io } from './command.ts';
import { DEPLOYMENT_ARGUMENT } from './deployments.ts';
import { giveOrder, ORDER_OPTIONS, showFailure, waitMsOf } from './order.ts';
import { jsonText, printable } from './printable.ts';

/** Reading a configuration looks at every pack that it names. */
const READING_MS = 60_000;

/** `packgate reload`: a deployment's pack, or the gateway's configuration. */
export const reload: Command<typeof ORDER_OPTIONS> = {
  name: 'reload',
  summary: "Look at a deployment's pack anew and serve it; without a deployment, read the configuration again",
  usage: 'packgate reload [deployment] [--wait] [--timeout <duration>] [-c <file>] [--url <url>] [--json]',
  arguments: [{ ...DEPLOYMENT_ARGUMENT, isRequired: false }],
  options: ORDER_OPTIONS,
  examples: [
    { line: 'packgate reload', does: 'read the configuration again; what is unchanged is left alone' },
    { line: 'packgate reload acme/crm --wait', does: 'serve its pack as it is now, and tell how that ended' },
  ],
  async run(options, io, { deployment }) {
    const [waitMs, json] = [waitMsOf(options), options.json ?? false];
    const place = await findGateway(options, io);
    if (deployment !== undefined) return giveOrder(place, 'reload', deployment, { waitMs, json }, io);
    return reloadConfiguration(place, json, io);
  },
};

async function reloadConfiguration(place: AdminPlace, json: boolean, io: Io): Promise<number> {
  const answer = await askGateway(place, 'POST', '/v1/reload', READING_MS);
  const { status, data } = answer;
  if (json) io.stdout.write(jsonText(data));
  else if (status === 200) io.stdout.write(changesText(data));
  if (status === 200) return EXIT.ok;
  showFailure('reading the configuration again', answer, io);
  return EXIT.failed;
}

/** One line for each kind of change that there was. */
function changesText(data: Readonly<Record<string, unknown>>): string {
  const kinds = [
    ['added', 'added'],
    ['changed', 'changed'],
    ['removed', 'removed'],
    ['needsRestart', 'takes effect when the gateway is started anew'],
  ] as const;
  const lines = kinds.flatMap(([key, label]) => {
    const names: unknown = data[key];
    if (!Array.isArray(names) || names.length === 0) return [];
    return [`${label}: ${names.map((name) => printable(String(name))).join(', ')}`];
  });
  return `${lines.length === 0 ? 'nothing has changed' : lines.join('\n')}\n`;
}
