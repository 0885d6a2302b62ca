import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { FakeAnswer, FakeCall, FakeReply } from '../script.ts';
import { beginText, errorMessage, messageHeaders, messageText, sendMessage, sendText } from './answers.ts';
import type { Message } from './answers.ts';

export interface Stage {
  readonly say: (line: string) => void;
  readonly die: () => void;
  readonly artifactVersion: string;
}

/** Answers a call as it is told to. */
export async function play(reply: FakeReply, call: FakeCall, response: ServerResponse, stage: Stage): Promise<void> {
  for (const line of reply.log ?? []) stage.say(line);
  if (reply.delayMs !== undefined) await pause(reply.delayMs);
  // Whoever waited may have left meanwhile.
  if (!response.destroyed) answer(reply, call, response, stage);
}

function answer(reply: FakeAnswer, call: FakeCall, response: ServerResponse, { die, artifactVersion }: Stage): void {
  if ('result' in reply) return sendMessage(response, resultOf(call, reply.result), artifactVersion);
  if ('error' in reply) {
    const named = call.kind === 'invoke' ? { toolId: call.id } : { checkId: call.id };
    const message = errorMessage(reply.error, reply.message ?? reply.error);
    return sendMessage(response, { ...message, ...named }, artifactVersion);
  }
  if ('pause' in reply) return sendMessage(response, { kind: 'pause', ...reply.pause }, artifactVersion);
  if ('status' in reply) return sendText(response, reply.status, reply.body ?? '', reply.headers ?? {});
  if ('raw' in reply) return void response.socket?.end(reply.raw, 'latin1');
  if ('half' in reply) {
    const text = messageText(resultOf(call, reply.half));
    beginText(response, 200, text, messageHeaders(artifactVersion));
    const end = reply.ending === 'die' ? die : (): void => void response.destroy();
    response.write(text.slice(0, text.length / 2), end);
    return;
  }
  if (reply.instead === 'close') response.destroy();
  else if (reply.instead === 'die') die();
}

function resultOf(call: FakeCall, value: unknown): Message {
  return call.kind === 'invoke' ? { kind: 'result', output: value } : { kind: 'check-result', result: value };
}
