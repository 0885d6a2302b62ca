import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { HEADER } from '../../shared/protocol/headers.ts';
import { PROTOCOL_VERSION } from '../../shared/protocol/limits.ts';
import { stringList } from '../../shared/process/records.ts';
import { ask } from './ask.ts';
import type { Reply } from './ask.ts';
import type { IndexFacts } from './indexFile.ts';
import { portOwner } from './portOwner.ts';
import { StartFailure } from './startFailure.ts';

/** What has to be shown, and by whom. */
export interface Suspect {
  readonly origin: string;
  readonly port: number;
  readonly pid: number;
  readonly token: string;
  readonly tenantId: string;
  readonly index: IndexFacts;
  readonly requiresPortProof: boolean;
}

/** What the proof found out. `ignored`: the gateway does that check itself (B11). */
export interface Verdict {
  readonly header: 'honoured' | 'ignored';
  readonly context: 'honoured' | 'ignored';
  readonly port: 'verified' | 'unverified';
}

const ANSWER_MS = 5_000;
const READY_POLL_MS = 25;

/**
 * Waits until `/readyz` answers 200 (A1).
 * @throws {StartFailure} `missing-env` as soon as the service says so (C17).
 */
export async function waitUntilReady(origin: string, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const reply = await ask(origin, '/readyz', { timeoutMs: ANSWER_MS });
    if (reply?.status === 200) return;
    const names = stringList(reply?.body?.missingEnv);
    if (reply?.status === 503 && names.length > 0) {
      const message = `required environment is missing: ${names.join(', ')}. Set it under env: of the deployment.`;
      throw new StartFailure('ready', 'missing-env', message, names);
    }
    await pause(READY_POLL_MS);
  }
}

/**
 * Proves that what listens is the service that was started, serves the pack it was started for, and is closed to
 * others; finds out which tenant checks it does itself. Pack code runs before a service listens and may print or open
 * anything (C25), so nothing it says is taken on trust. No pack code runs for any of these questions.
 * @throws {StartFailure} `proof-failed`, naming what did not hold.
 */
export async function prove(suspect: Suspect): Promise<Verdict> {
  const owner = await portOwner(suspect.pid, suspect.port);
  if (owner === 'foreign' || owner === 'nobody') {
    throw failed(`port ${suspect.port} of its listening line does not belong to the process that was started`);
  }
  if (owner === 'unknown' && suspect.requiresPortProof) {
    throw failed(
      '/proc cannot be read here, so nobody can tell whose port it is; several tenants are not hosted like that',
    );
  }
  const [stranger, own, foreignHeader, foreignContext] = await Promise.all([
    info(suspect, randomBytes(24).toString('base64url'), suspect.tenantId),
    info(suspect, suspect.token, suspect.tenantId),
    info(suspect, suspect.token, randomUUID()),
    foreignInvoke(suspect),
  ]);
  if (stranger?.status !== 401) throw failed(`a wrong token got ${statusOf(stranger)} on /v1/info, expected 401`);
  checkIdentity(own, suspect.index);
  return {
    header: foreignHeader?.status === 421 ? 'honoured' : 'ignored',
    context: foreignContext?.status === 421 ? 'honoured' : 'ignored',
    port: owner === 'ours' ? 'verified' : 'unverified',
  };
}

function checkIdentity(reply: Reply | undefined, index: IndexFacts): void {
  const body = reply?.body;
  if (reply?.status !== 200 || body === undefined) throw failed(`/v1/info answered ${statusOf(reply)}, expected 200`);
  const expected: [string, string][] = [
    ['packId', index.packId],
    ['artifactVersion', index.artifactVersion],
    // The real Python service does not know it (D29).
    ...(body.indexHash === undefined ? [] : [['indexHash', index.hash] as [string, string]]),
  ];
  for (const [key, value] of expected) {
    if (body[key] !== value)
      throw failed(`/v1/info says ${key} ${JSON.stringify(body[key])}, the index says ${JSON.stringify(value)}`);
  }
}

function info(suspect: Suspect, token: string, tenantId: string): Promise<Reply | undefined> {
  return ask(suspect.origin, '/v1/info', {
    headers: { [HEADER.token]: token, [HEADER.tenantId]: tenantId },
    timeoutMs: ANSWER_MS,
  });
}

/** Our tenant in the header, a foreign one in the context, and a tool that no pack has: nothing runs either way. */
function foreignInvoke(suspect: Suspect): Promise<Reply | undefined> {
  const message = {
    v: PROTOCOL_VERSION,
    kind: 'invoke',
    tool: { id: `packgate.proof.${randomUUID()}` },
    input: {},
    ctx: { tenantId: randomUUID(), runId: 'packgate-proof' },
  };
  return ask(suspect.origin, '/v1/invoke', {
    method: 'POST',
    headers: { [HEADER.token]: suspect.token, [HEADER.tenantId]: suspect.tenantId },
    body: JSON.stringify(message),
    timeoutMs: ANSWER_MS,
  });
}

function statusOf(reply: Reply | undefined): string {
  return reply === undefined
    ? 'nothing'
    : reply.status === 0
      ? 'not asked (no descriptor left?)'
      : String(reply.status);
}

function failed(message: string): StartFailure {
  return new StartFailure('proof', 'proof-failed', message);
}
