import type { CallContext, Json, JsonObject } from '../../shared/protocol/messages.ts';

/** One call that a fake pack service was sent, as it came. */
export interface FakeCall {
  /** The tool's or the check's id. */
  readonly id: string;
  readonly kind: 'invoke' | 'check-invoke';
  /** The tenant of its header. */
  readonly tenant: string | undefined;
  /** Of a tool. */
  readonly input?: Json;
  readonly ctx?: CallContext;
  /** Of a check. */
  readonly config?: JsonObject;
  readonly trace?: Json;
  /** The rest of what was sent with it; not the token. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Which start of the service it reached, from 1, and its process. */
  readonly start: number;
  readonly pid: number;
}

/** What a call is answered. */
export type FakeReply = FakeAnswer & {
  /** Milliseconds before the answer. Default: at once. */
  readonly delayMs?: number;
  /** Lines printed on stderr before the answer. */
  readonly log?: readonly string[];
};

export type FakeAnswer =
  /** 200 with this output; of a check, with this verdict: `{ passed: true }`. */
  | { readonly result: Json }
  /** 200 with an error message of this code. */
  | { readonly error: string; readonly message?: string }
  /** 200: the call waits for another system. */
  | { readonly pause: { readonly timeoutMs?: number; readonly name?: string } }
  /** Any status, headers and body: `{ status: 503, headers: { 'retry-after': '7' }, body: '{"error":"overloaded"}' }`. */
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }
  /** These bytes, one a character, instead of an HTTP answer; then the connection is closed. */
  | { readonly raw: string }
  /** The head of a result and half of it; then the connection is closed, or the process killed. */
  | { readonly half: Json; readonly ending?: 'close' | 'die' }
  /** The connection is closed without a byte, the process killed, or nothing happens at all. */
  | { readonly instead: 'close' | 'die' | 'nothing' };

/** How a start of the service goes. All of it is optional: it listens and is ready at once. */
export interface FakeStart {
  /** Milliseconds before it listens. */
  readonly delayMs?: number;
  /** Lines printed on stderr before that. */
  readonly log?: readonly string[];
  /** Before its own listening line it prints one with this port. */
  readonly forgedPort?: number;
  /** It says `boot-failed` with these problems and ends with 1. */
  readonly problems?: readonly string[];
  /** It ends with this code instead of listening. */
  readonly exitCode?: number;
  /** It never listens, or listens and is never ready. */
  readonly never?: 'listens' | 'ready';
  /** Milliseconds from its listening line until it is ready. */
  readonly readyAfterMs?: number;
  /** Names that it calls missing: `/readyz` and calls are 503. */
  readonly missingEnv?: readonly string[];
  /** It is killed that long after its listening line, in milliseconds. */
  readonly dieAfterMs?: number;
}

/** What the service's process is told when it starts. */
export interface Briefing {
  /** Number of the start, from 1. */
  readonly start: number;
  readonly script: FakeStart;
}
