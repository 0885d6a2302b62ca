import type { ErrorCode } from './codes.ts';

/** Any JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

/** An account at another app and a short-lived token for it (D5, protocol 2.9). Never logged. */
export interface Connection {
  readonly connectionId: string;
  readonly app: string;
  readonly appName: string;
  readonly accessToken: string;
  readonly account: { readonly id: string; readonly label: string };
  readonly expiresAt?: string;
}

/** What a call carries besides its input (D3). Services accept unknown keys (D2). */
export interface CallContext {
  readonly tenantId: string;
  readonly runId: string;
  readonly projectId?: string;
  readonly orgId?: string;
  readonly requestId?: string;
  readonly idempotencyKey?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly secrets?: JsonObject;
  readonly connections?: Readonly<Record<string, Connection>>;
  readonly config?: JsonObject;
  readonly settings?: Readonly<Record<string, JsonObject>>;
  readonly waitToken?: { readonly id: string; readonly url: string };
  readonly toolFiles?: { readonly url: string; readonly token: string };
}

/** Run a tool's handler (D2). */
export interface InvokeRequest {
  readonly v: 2;
  readonly kind: 'invoke';
  readonly tool: { readonly id: string; readonly version?: string };
  readonly input: Json;
  readonly ctx: CallContext;
}

/** Run a guardrail's check (D23). */
export interface CheckInvokeRequest {
  readonly v: 2;
  readonly kind: 'check-invoke';
  readonly check: { readonly id: string };
  readonly config: JsonObject;
  readonly trace: Json;
}

export type PackRequest = InvokeRequest | CheckInvokeRequest;

/** One validation issue, Ajv-shaped; `keyword` is absent when a model's own validation failed (D17, D19). */
export interface Issue {
  readonly instancePath: string;
  readonly message: string;
  readonly schemaPath?: string;
  readonly keyword?: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

export interface ResultMessage {
  readonly v: 2;
  readonly kind: 'result';
  readonly output: Json;
}

/** A tool's call waits for another system (D42, protocol 2.8). */
export interface PauseMessage {
  readonly v: 2;
  readonly kind: 'pause';
  readonly timeoutMs?: number;
  readonly name?: string;
}

export interface CheckResultMessage {
  readonly v: 2;
  readonly kind: 'check-result';
  readonly result: { readonly passed: boolean; readonly [key: string]: Json };
}

/** Why running pack code gave no result (D16). `message` is for people; `code` is the fact. */
export interface ErrorMessage {
  readonly v: 2;
  readonly kind: 'error';
  readonly code: ErrorCode;
  readonly message: string;
  readonly toolId?: string;
  readonly checkId?: string;
  readonly cause?: Json;
  readonly issues?: readonly Issue[];
  readonly connection?: string;
}

export type PackResponse = ResultMessage | PauseMessage | CheckResultMessage | ErrorMessage;

/** The answer to `GET /v1/info` (D28). */
export interface PackInfo {
  readonly protocol: 2;
  readonly packId: string;
  readonly packVersion: string;
  readonly artifactVersion: string;
  /** `sha256:` and 64 hex digits of the index file's bytes; the real Python service sends none (D29). */
  readonly indexHash?: string;
  readonly tools: readonly { readonly id: string; readonly version?: string }[];
  readonly checks: readonly string[];
  readonly missingEnv?: readonly string[];
}
