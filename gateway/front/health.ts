import type { ServerResponse } from 'node:http';
import { JSON_TYPE } from '../../shared/protocol/headers.ts';

/** The gateway's own probes: it is up, and it takes calls, whatever its tenants do. */
export function answerProbe(response: ServerResponse, status: 'ok' | 'ready'): void {
  const body = JSON.stringify({ status });
  response.writeHead(200, { 'content-type': JSON_TYPE, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}
