import { randomBytes } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hostFile } from '../../gateway/cli/serve.ts';

const ACME = '3f2b8c1e-4a5d-4e6f-9a0b-1c2d3e4f5a6b';
const GLOBEX = '8d1c6c0e-0d3f-4c52-9c52-6a1f8f6f2b10';
const UMBRELLA = 'e1a4c7d2-8f3b-4b65-a9d8-2c6e0f7b5a19';

/** The configurations stay where they are written; this program runs from `dist`. */
function demoFile(name: string): string {
  return fileURLToPath(new URL(`../../../deploy/demo/${name}`, import.meta.url));
}

function hasKindgi(): boolean {
  return spawnSync('python3', ['-c', 'import kindgi'], { stdio: 'ignore' }).status === 0;
}

function call(address: string, token: string, tenant: string, body: object, flags = '-s'): string {
  return [
    `  curl ${flags} ${address}/v1/invoke -H 'content-type: application/json' \\`,
    `    -H 'kindgi-pack-token: ${token}' -H 'kindgi-tenant-id: ${tenant}' \\`,
    `    -d '${JSON.stringify(body)}'`,
  ].join('\n');
}

function toolCall(id: string, tenantId: string, input: object): object {
  return { v: 2, kind: 'invoke', tool: { id }, input, ctx: { tenantId, runId: 'demo' } };
}

function welcome(address: string, token: string, withPython: boolean): string {
  const triage = toolCall('support.triage', ACME, { subject: 'I was charged twice, please refund' });
  const invoice = toolCall('billing.invoice', GLOBEX, {
    country: 'DE',
    lines: [{ item: 'Seat', quantity: 3, unitCents: 1900 }],
  });
  const split = toolCall('expenses.split', UMBRELLA, { total_cents: 1000, people: ['Ana', 'Ben', 'Cem'] });
  const parts = [
    `packgate serves the demo packs on ${address}`,
    `token, made for this run: ${token}`,
    `Acme's support pack sorts a ticket (queue "billing"):\n\n${call(address, token, ACME, triage)}`,
    `Globex's billing pack adds up an invoice (totalCents 6783):\n\n${call(address, token, GLOBEX, invoice)}`,
    ...(withPython ? [`Umbrella's Python pack splits a bill:\n\n${call(address, token, UMBRELLA, split)}`] : []),
    `A call that comes as Globex but is about Acme is answered 421, and nothing runs:\n\n${call(address, token, GLOBEX, triage, '-si')}`,
    ...(withPython
      ? []
      : ['A fourth tenant with a Python pack joins where python3 can import kindgi (pip install kindgi).']),
    'Ctrl+C stops it. What follows is its log.',
  ];
  return `\n${parts.join('\n\n')}\n\n`;
}

const token = randomBytes(24).toString('base64url');
const withPython = hasKindgi();
const file = demoFile(withPython ? 'packgate-with-python.yaml' : 'packgate.yaml');
const { PORT } = process.env;
// Of this run alone: a second demo does not meet the first, and nothing is left in the checkout.
const stateDir = mkdtempSync(join(tmpdir(), 'packgate-demo-'));

const code = await hostFile(
  file,
  {
    env: { ...process.env, PACKGATE_TOKEN: token },
    cwd: process.cwd(),
    stdout: process.stdout,
    stderr: process.stderr,
    isTty: { stdin: process.stdin.isTTY, stdout: process.stdout.isTTY, stderr: process.stderr.isTTY },
    onSignal: (signal, listener) => void process.on(signal, listener),
    onUncaught: (listener) => void process.on('uncaughtException', listener),
  },
  {
    stateDir,
    // Another port than 8787, as is the custom: PORT=9000 npm start
    ...(PORT !== undefined && { listen: { kind: 'tcp', host: '127.0.0.1', port: Number(PORT) } as const }),
    onListening: (address) => process.stdout.write(welcome(address, token, withPython)),
  },
);
rmSync(stateDir, { recursive: true, force: true });
process.exit(code);
