import assert from 'node:assert/strict';
import { INVOKE, echoBody, post } from '../client/call.ts';
import { RawConnection } from '../client/connection.ts';
import { outputOf } from '../client/message.ts';
import { encodeRequest } from '../client/request.ts';
import type { RawResponse } from '../client/response.ts';
import type { Service } from '../service.ts';
import { httpClause } from '../clause.ts';

const hello = { message: 'hello' };

/** Sends bytes as they are and reads what comes first. */
async function send(service: Service, bytes: string | Buffer): Promise<RawResponse> {
  const connection = await RawConnection.open(service);
  try {
    connection.send(bytes);
    return await connection.read();
  } finally {
    connection.close();
  }
}

/** Sends bytes that are no proper request: they are answered with this status, then the connection is closed. */
async function isNoRequest(service: Service, status: number, bytes: string | Buffer): Promise<void> {
  const connection = await RawConnection.open(service);
  try {
    connection.send(bytes);
    assert.equal((await connection.read()).status, status, bytes.toString().slice(0, 200));
    await connection.closed(5_000);
  } finally {
    connection.close();
  }
}

/** Group A: the framing of requests, and what is no request. */
export const framing = [
  httpClause('A29/chunked', 'a chunked body is accepted, in chunks of any size', async (service) => {
    for (const size of [1, 7, 100_000]) {
      assert.deepEqual(outputOf(await post(service, echoBody(service), { framing: size })), hello);
    }
  }),

  httpClause(
    'A30/both-framings',
    'a length together with chunks is 400, and the connection is closed',
    async (service) => {
      const body = echoBody(service);
      const headers = { 'content-length': String(Buffer.byteLength(body)) };
      const request = { method: 'POST', path: INVOKE, headers, body, framing: 100 };
      await isNoRequest(service, 400, encodeRequest(service, request));
    },
  ),

  httpClause('A30/two-lengths', 'two different lengths are 400, and the connection is closed', async (service) => {
    const body = echoBody(service);
    const length = Buffer.byteLength(body);
    const headers = { 'content-length': [String(length), String(length + 5)] };
    await isNoRequest(service, 400, encodeRequest(service, { method: 'POST', path: INVOKE, headers, body }));
  }),

  httpClause('A31/no-host', 'a request without `Host` is 400, and the connection is closed', async (service) => {
    await isNoRequest(
      service,
      400,
      encodeRequest(service, { method: 'GET', path: '/healthz', headers: { host: null } }),
    );
  }),

  httpClause('A31/garbage', 'bytes that are no request are 400, and the connection is closed', async (service) => {
    await isNoRequest(service, 400, 'this is not HTTP\r\n\r\n');
    await isNoRequest(service, 400, 'GET /healthz HTTP/1.1\r\nhost: x\r\nno colon here\r\n\r\n');
  }),

  httpClause('A31/http-1.0', 'a caller of HTTP/1.0 is answered', async (service) => {
    const answer = await send(service, `GET /healthz HTTP/1.0\r\nhost: ${service.host}\r\n\r\n`);
    assert.equal(answer.status, 200);
    assert.notEqual(answer.framing, 'chunked');
  }),

  httpClause('A31/pipelined', 'pipelined requests are answered in their order', async (service) => {
    const connection = await RawConnection.open(service);
    const words = ['one', 'two', 'three', 'four', 'five'];
    try {
      connection.send(
        Buffer.concat(
          words.map((word) => encodeRequest(service, { method: 'POST', path: INVOKE, body: echoBody(service, word) })),
        ),
      );
      for (const message of words) assert.deepEqual(outputOf(await connection.read()), { message });
    } finally {
      connection.close();
    }
  }),

  httpClause('A31/upgrade', 'an `Upgrade: h2c` is ignored', async (service) => {
    const headers = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAMAAABkAAQAAP__' };
    const answer = await send(service, encodeRequest(service, { method: 'GET', path: '/healthz', headers }));
    assert.equal(answer.status, 200);
  }),

  httpClause('A31/large-headers', 'a header block over 16 KiB is 431', async (service) => {
    const headers = { 'x-large': 'x'.repeat(20_000) };
    const answer = await send(service, encodeRequest(service, { method: 'GET', path: '/healthz', headers }));
    assert.equal(answer.status, 431);
  }),

  httpClause('A31/headers-with-room', 'a header block of 8 KiB is no matter', async (service) => {
    const headers = { 'x-large': 'x'.repeat(8_000) };
    const answer = await send(service, encodeRequest(service, { method: 'GET', path: '/healthz', headers }));
    assert.equal(answer.status, 200);
  }),
];
