import type { ServerResponse } from 'node:http';
import { HEADER, JSON_TYPE } from '../../../shared/protocol/headers.ts';
import { PROTOCOL_VERSION } from '../../../shared/protocol/limits.ts';

type Headers = Readonly<Record<string, string>>;

/** A response message without its version. */
export interface Message {
  readonly kind: string;
  readonly [key: string]: unknown;
}

export function errorMessage(code: string, message: string): Message {
  return { kind: 'error', code, message };
}

/** Sends an answer that is no message. */
export function send(response: ServerResponse, status: number, body: unknown, headers: Headers = {}): void {
  sendText(response, status, JSON.stringify(body), headers);
}

/** Sends 200 with a message and the headers that belong to one (A11). */
export function sendMessage(response: ServerResponse, message: Message, artifactVersion: string): void {
  sendText(response, 200, messageText(message), messageHeaders(artifactVersion));
}

export function messageText(message: Message): string {
  return JSON.stringify({ v: PROTOCOL_VERSION, ...message });
}

export function messageHeaders(artifactVersion: string): Headers {
  return { [HEADER.durationMs]: '1', [HEADER.artifactVersion]: artifactVersion };
}

export function sendText(response: ServerResponse, status: number, text: string, headers: Headers): void {
  beginText(response, status, text, headers);
  response.end(text);
}

/** Says what is coming, and sends nothing of the text yet. */
export function beginText(response: ServerResponse, status: number, text: string, headers: Headers): void {
  response.statusCode = status;
  response.setHeader('content-type', JSON_TYPE);
  response.setHeader('content-length', Buffer.byteLength(text));
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
}
