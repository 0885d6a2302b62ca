import { resolve } from 'node:path';
import type { Json, JsonObject } from '../../../shared/protocol/messages.ts';
import { readText } from '../../config/files.ts';
import { UsageError } from '../command.ts';
import type { Io } from '../command.ts';

/** More than a call may have, so that a 413 can be seen (A24). */
const MAX_BYTES = 64 * 2 ** 20;

/** JSON as it was written, so that it can be sent as it was written: numbers keep their digits, keys their order. */
export interface WrittenJson {
  readonly text: string;
  readonly value: Json;
}

/**
 * JSON from where `given` says: `@file`, `-` for standard input, else it is the JSON itself. `what` names it in errors.
 * @throws {UsageError} when it cannot be read or is no JSON.
 */
export async function readJson(given: string, what: string, io: Io): Promise<WrittenJson> {
  const text = await readGiven(given, what, io);
  try {
    return { text, value: JSON.parse(text) as Json };
  } catch (error) {
    const isBare = given === text && !/^[[{"]/.test(text.trim());
    const hint = 'Write it as JSON in quotes, as @FILE, or - for standard input.';
    throw new UsageError(`${what} is not JSON`, isBare ? hint : whereWrong(text, error));
  }
}

/** @throws {UsageError} when it is no object, too. */
export async function readObject(given: string, what: string, io: Io): Promise<JsonObject> {
  const { value } = await readJson(given, what, io);
  if (isObject(value)) return value;
  throw new UsageError(`${what} is no JSON object`, 'Write { … }.');
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `NAME=text` split at its first equals sign. */
export function splitPair(pair: string, option: string, form: string): readonly [name: string, text: string] {
  const at = pair.indexOf('=');
  if (at > 0) return [pair.slice(0, at), pair.slice(at + 1)];
  throw new UsageError(`${option} needs a name and a value`, `Write ${option} ${form}.`);
}

/** The text of a file, without the line end that editors and `echo` put there. */
export async function readSecretFile(file: string, what: string, { cwd }: Io): Promise<string> {
  const found = await readText(resolve(cwd, file), MAX_BYTES);
  if ('text' in found) return found.text.replace(/\r?\n$/, '');
  throw new UsageError(`${what} cannot be read: ${found.trouble}`, 'Name another file.');
}

/** Where JSON goes wrong. The parser's own words quote the text, which may hold a secret. */
function whereWrong(text: string, error: unknown): string {
  if (text.trim() === '') return 'It is empty.';
  const position = /position (\d+)/.exec(error instanceof Error ? error.message : '')?.[1];
  if (position === undefined || Number(position) >= text.trimEnd().length) return 'It ends too early.';
  const before = text.slice(0, Number(position)).split('\n');
  return `It goes wrong in line ${before.length} at character ${(before.at(-1) ?? '').length + 1}.`;
}

async function readGiven(given: string, what: string, io: Io): Promise<string> {
  if (given === '-') return readStdin(io, what);
  if (!given.startsWith('@')) return given;
  const found = await readText(resolve(io.cwd, given.slice(1)), MAX_BYTES);
  if ('text' in found) return found.text;
  throw new UsageError(`${what} cannot be read: ${found.trouble}`, 'After @ stands the name of a file.');
}

async function readStdin({ stdin }: Io, what: string): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stdin?.() ?? []) {
    const piece = Buffer.from(chunk);
    chunks.push(piece);
    bytes += piece.length;
    if (bytes > MAX_BYTES)
      throw new UsageError(`${what} is longer than ${MAX_BYTES} bytes`, 'No call can be that long.');
  }
  return Buffer.concat(chunks).toString();
}
