import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { discardRest, readBody } from '../../../shared/http/body.ts';
import { HEADER, isJsonType } from '../../../shared/protocol/headers.ts';
import { parseJsonBytes } from '../../../shared/protocol/jsonText.ts';
import { MAX_BODY_BYTES, RETRY_AFTER_S, SERVICE_DRAIN_MS } from '../../../shared/protocol/limits.ts';
import { EXIT } from '../../../shared/process/contract.ts';
import { tenantKey } from '../../../shared/protocol/tenantId.ts';
import type { Briefing, FakeReply } from '../script.ts';
import type { Control } from './control.ts';
import { errorMessage, send, sendMessage } from './answers.ts';
import { FakeIndex } from './fakeIndex.ts';
import { play } from './play.ts';
import { readCall } from './readCall.ts';

export interface FakeServiceDeps {
  /** Bytes of the index file. */
  readonly index: Buffer;
  readonly token: string;
  /** The tenant it is pinned to; undefined: to none. */
  readonly tenantId: string | undefined;
  readonly maxConcurrency: number;
  readonly control: Control;
  /** Prints a line on stderr. */
  readonly say: (line: string) => void;
  readonly exit: (code: number) => void;
  /** Ends the process as a crash does. */
  readonly die: () => void;
}

const ROUTES: ReadonlyMap<string, string> = new Map([
  ['/v1/invoke', 'POST'],
  ['/v1/info', 'GET'],
  ['/healthz', 'GET'],
  ['/readyz', 'GET'],
]);

/**
 * A pack service whose calls are answered as a script says. For the rest it keeps the protocol: its checks and their
 * order (A2), the pin (B1), the lines on stderr (C.5), the drain (C29). It does not look at deadlines.
 */
export class FakeService {
  readonly #deps: FakeServiceDeps;
  readonly #index: FakeIndex;
  readonly #server = createServer((request, response) => void this.#take(request, response));
  #briefing: Briefing = { start: 0, script: {} };
  #isReady = false;
  #isDraining = false;
  #inFlight = 0;

  constructor(deps: FakeServiceDeps) {
    this.#deps = deps;
    this.#index = new FakeIndex(deps.index);
  }

  /** Starts as the script of this start says. Rejects when there is none, or it cannot listen. */
  async open(port: number, host: string): Promise<void> {
    const { control, say, exit, die } = this.#deps;
    this.#briefing = await control.started(process.pid);
    const { script } = this.#briefing;
    await pause(script.delayMs ?? 0);
    for (const line of script.log ?? []) say(line);
    if (script.problems !== undefined) say(JSON.stringify({ kind: 'boot-failed', problems: script.problems }));
    if (script.problems !== undefined || script.exitCode !== undefined) return exit(script.exitCode ?? EXIT.failed);
    if (script.forgedPort !== undefined) say(JSON.stringify({ kind: 'listening', port: script.forgedPort }));
    this.#server.listen(port, host);
    await once(this.#server, 'listening');
    if (script.never === 'listens') return;
    this.#isReady = script.never !== 'ready' && script.readyAfterMs === undefined;
    this.#record('listening', { port: (this.#server.address() as AddressInfo).port, ...this.#index.identity });
    if (script.dieAfterMs !== undefined) setTimeout(die, script.dieAfterMs);
    if (script.readyAfterMs === undefined) return;
    await pause(script.readyAfterMs);
    this.#isReady = true;
  }

  /** The first time: no new calls, and the end as soon as none is left, or 8 s later. Again: the end. */
  drain(): void {
    if (this.#isDraining) return this.#leave();
    this.#isDraining = true;
    this.#record('draining', {});
    setTimeout(() => this.#leave(), SERVICE_DRAIN_MS);
    this.#leaveIfIdle();
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path = ''] = (request.url ?? '').split('?');
    const method = ROUTES.get(path);
    if (method === undefined) return send(response, 404, { error: 'no such path' });
    if (method !== request.method) return send(response, 405, { error: `use ${method}` });
    if (path === '/healthz') return send(response, 200, { status: 'ok' });
    if (path === '/readyz') {
      if (!this.#refusesNow(response)) send(response, 200, { status: 'ready' });
      return;
    }
    if (request.headers[HEADER.token] !== this.#deps.token) return send(response, 401, { error: 'wrong token' });
    if (!this.#isOurs(request.headers[HEADER.tenantId])) return this.#refuseTenant(response, 'header');
    if (path === '/v1/info') return send(response, 200, this.#index.info(this.#briefing.script.missingEnv ?? []));
    if (this.#refusesNow(response)) return;
    if (this.#inFlight >= this.#deps.maxConcurrency) return tryAgain(response, { error: 'overloaded' });
    this.#inFlight += 1;
    response.once('close', () => {
      this.#inFlight -= 1;
      this.#leaveIfIdle();
    });
    await this.#call(request, response);
  }

  async #call(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!isJsonType(request.headers['content-type'])) return send(response, 415, { error: 'not application/json' });
    const body = await readBody(request, MAX_BODY_BYTES);
    if (body.kind === 'cut') return;
    if (body.kind === 'too-large') {
      send(response, 413, { error: 'the body is over 10 MiB' });
      return discardRest(request);
    }
    const read = readCall(parseJsonBytes(body.bytes), request.headers, {
      start: this.#briefing.start,
      pid: process.pid,
    });
    const { artifactVersion } = this.#index.identity;
    if ('code' in read) return sendMessage(response, errorMessage(read.code, read.message), artifactVersion);
    const { call } = read;
    if (call.ctx !== undefined && !this.#isOurs(call.ctx.tenantId)) return this.#refuseTenant(response, 'context');
    if (!this.#index.has(call)) {
      const code = call.kind === 'invoke' ? 'tool-not-in-pack' : 'check-not-in-pack';
      return sendMessage(response, errorMessage(code, `there is no ${call.id}`), artifactVersion);
    }
    let reply: FakeReply;
    try {
      reply = await this.#deps.control.called(call);
    } catch (error) {
      return send(response, 500, { error: `the test did not say what to answer: ${String(error)}` });
    }
    const { say, die } = this.#deps;
    await play(reply, call, response, { say, die, artifactVersion });
  }

  #isOurs(tenantId: unknown): boolean {
    const { tenantId: own } = this.#deps;
    return own === undefined || (typeof tenantId === 'string' && tenantKey(tenantId) === tenantKey(own));
  }

  /** Whether it answered 503, because nothing can run now (A9). */
  #refusesNow(response: ServerResponse): boolean {
    const missingEnv = this.#briefing.script.missingEnv ?? [];
    const body = this.#isDraining
      ? { error: 'draining' }
      : missingEnv.length > 0
        ? { error: 'missing env', missingEnv }
        : !this.#isReady
          ? { error: 'not ready' }
          : undefined;
    if (body !== undefined) tryAgain(response, body);
    return body !== undefined;
  }

  #refuseTenant(response: ServerResponse, via: 'header' | 'context'): void {
    this.#record('tenant-mismatch', { via });
    send(response, 421, { error: 'the call is for another tenant', code: 'pack-tenant-mismatch' });
  }

  #leaveIfIdle(): void {
    if (this.#isDraining && this.#inFlight === 0) this.#leave();
  }

  #leave(): void {
    this.#record('stopped', {});
    this.#deps.exit(EXIT.ok);
  }

  #record(event: string, fields: Readonly<Record<string, unknown>>): void {
    const common = { time: new Date().toISOString(), level: 'info', severity: 'INFO', subsystem: 'pack' };
    this.#deps.say(JSON.stringify({ ...common, message: event, event, kind: event, ...fields }));
  }
}

function tryAgain(response: ServerResponse, body: Readonly<Record<string, unknown>>): void {
  send(response, 503, body, { 'retry-after': String(RETRY_AFTER_S) });
}
