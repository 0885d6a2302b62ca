import { EXIT } from '../../shared/process/contract.ts';
import { askGateway } from './adminClient.ts';
import { findGateway, PLACE_OPTIONS } from './adminPlace.ts';
import type { Command } from './command.ts';
import { DEPLOYMENT_ARGUMENT, deploymentMeant, listDeployments, lookAt, nameText } from './deployments.ts';
import { detailText } from './detail.ts';
import { overviewText } from './overview.ts';
import { paintFor } from './paint.ts';
import { jsonText, printable } from './printable.ts';

/** `packgate status`: what a running gateway does. */
export const status: Command<typeof PLACE_OPTIONS> = {
  name: 'status',
  summary: 'Show what a running gateway does: all its deployments, or all there is to know of one',
  usage: 'packgate status [deployment] [-c <file>] [--url <url>] [--json]',
  arguments: [{ ...DEPLOYMENT_ARGUMENT, isRequired: false }],
  options: PLACE_OPTIONS,
  examples: [
    { line: 'packgate status', does: 'a line for each deployment of the gateway of packgate.yaml here' },
    { line: 'packgate status acme/crm', does: 'its state and why, its processes, its last starts step by step' },
    { line: 'packgate status --url unix:/run/packgate/admin.sock --json', does: 'the same as data' },
  ],
  async run({ json = false, ...options }, io, { deployment }) {
    const place = await findGateway(options, io);
    const look = { nowMs: Date.now(), paint: paintFor(io) };
    const deployments = await listDeployments(place);
    if (deployment === undefined) {
      const { data: gateway } = await askGateway(place, 'GET', '/v1/gateway');
      io.stdout.write(json ? jsonText({ gateway, deployments }) : overviewText(gateway, deployments, look));
      return EXIT.ok;
    }
    const meant = deploymentMeant(deployment, deployments);
    const whole = await lookAt(place, meant);
    if (whole === undefined) {
      io.stderr.write(`packgate: ${printable(nameText(meant))} has just been removed.\n`);
      return EXIT.failed;
    }
    io.stdout.write(json ? jsonText(whole) : detailText(whole, look));
    return EXIT.ok;
  },
};
