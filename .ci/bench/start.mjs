// One start of one program, watched from outside.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';

import { cpuMs } from './cpu.mjs';

const TOKEN = 'bench-token-0123456789';
/** A start that takes longer has failed. */
const LIMIT_MS = 20_000;

/** From nothing: whatever this process has in its environment (CA files, options) would be paid by each start. */
function environment(more) {
  return {
    PATH: process.env.PATH ?? '',
    KINDGI_LOG_FORMAT: 'json',
    KINDGI_PACK_SERVICE_TOKEN: TOKEN,
    PORT: '0',
    ...more,
  };
}

/** Runs a program that does nothing to its end. Wall and CPU time in milliseconds; the CPU time is the process's own word. */
export async function runToEnd([command, ...args]) {
  const started = performance.now();
  const child = spawn(command, args, { env: environment({}), stdio: ['ignore', 'pipe', 'inherit'], timeout: LIMIT_MS });
  let said = '';
  child.stdout.on('data', (data) => (said += data));
  await once(child, 'close');
  return { answer: { wallMs: performance.now() - started, cpuMs: Number(said) } };
}

/**
 * Starts a pack service, waits for its `listening` line, makes the calls one after the other, and ends it. Gives wall
 * and CPU time from the start to the line and to the first answer, and how long each call took.
 */
export async function startService({ argv: [command, ...args], env = {}, calls }) {
  const started = performance.now();
  const child = spawn(command, args, { env: environment(env), stdio: ['ignore', 'ignore', 'pipe'], timeout: LIMIT_MS });
  const now = () => ({ wallMs: performance.now() - started, cpuMs: cpuMs(child.pid) });
  try {
    const port = await portOf(child);
    const listening = now();
    const [first, ...others] = calls;
    const latenciesMs = [await callOnce(port, first)];
    const answer = now();
    for (const call of others) latenciesMs.push(await callOnce(port, call));
    return { listening, answer, latenciesMs };
  } finally {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
  }
}

function portOf(child) {
  return new Promise((resolve, reject) => {
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text) => {
      stderr += text;
      for (const line of stderr.split('\n').slice(0, -1)) {
        if (line.includes('"listening"')) resolve(JSON.parse(line).port);
      }
    });
    child.on('error', reject);
    child.on('exit', (code, signal) => reject(new Error(`ended before it listened (${code ?? signal}): ${stderr}`)));
  });
}

/** How long one call takes, in milliseconds. An answer that is no result fails the run: an error would be a quick one. */
function callOnce(port, { tool, input }) {
  const body = JSON.stringify({
    v: 2,
    kind: 'invoke',
    tool: { id: tool },
    input,
    ctx: { tenantId: 'bench', runId: 'bench' },
  });
  const headers = {
    'kindgi-pack-token': TOKEN,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  };
  const sent = performance.now();
  return new Promise((resolve, reject) => {
    const options = {
      host: '127.0.0.1',
      port,
      path: '/v1/invoke',
      method: 'POST',
      headers,
      agent: false,
      timeout: LIMIT_MS,
    };
    const call = request(options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part) => (text += part));
      response.on('end', () => {
        if (response.statusCode === 200 && text.includes('"kind":"result"')) resolve(performance.now() - sent);
        else reject(new Error(`no result: ${response.statusCode} ${text}`));
      });
    });
    call.on('error', reject).on('timeout', () => call.destroy(new Error('no answer in time')));
    call.end(body);
  });
}
