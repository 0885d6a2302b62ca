import type { JsonObject } from '../../../shared/protocol/messages.ts';
import { UsageError } from '../command.ts';
import type { Io, Options } from '../command.ts';
import { isObject, readObject, readSecretFile, splitPair } from './input.ts';

/** Options that fill the context of a tool's call. */
export const CONTEXT_OPTIONS = {
  ctx: {
    type: 'string',
    value: '@file',
    help: 'more of the context, as @file, JSON or -; wins over the ids made here',
  },
  env: { type: 'string', value: 'NAME=text', isRepeatable: true, help: 'a value for ctx.env' },
  secret: {
    type: 'string',
    value: 'NAME=env:VAR',
    isRepeatable: true,
    help: 'a value for ctx.secrets, from a variable or a file (NAME=@FILE); NAME=text:VALUE shows it to all users',
  },
  connection: {
    type: 'string',
    value: 'name=@file',
    isRepeatable: true,
    help: 'an entry of ctx.connections as JSON; what it lacks beside accessToken is filled with the name',
  },
} as const satisfies Options;

/** The values of those options that were given. */
export interface ContextGiven {
  readonly ctx?: string;
  readonly env?: readonly string[];
  readonly secret?: readonly string[];
  readonly connection?: readonly string[];
}

/**
 * What the call carries beside its ids (D3). Names given one by one win over those in `--ctx`.
 * @throws {UsageError} when something cannot be read or is not what it should be.
 */
export async function readContext(given: ContextGiven, io: Io): Promise<JsonObject> {
  const context = given.ctx === undefined ? {} : await readObject(given.ctx, '--ctx', io);
  const env = (given.env ?? []).map((pair) => splitPair(pair, '--env', 'NAME=text'));
  const secrets = await Promise.all((given.secret ?? []).map((pair) => readSecret(pair, io)));
  const connections = await Promise.all((given.connection ?? []).map((pair) => readConnection(pair, io)));
  return {
    ...context,
    ...merged('env', context, env),
    ...merged('secrets', context, secrets),
    ...merged('connections', context, connections),
  };
}

type Entry = readonly [name: string, value: JsonObject[string]];

function merged(key: string, context: JsonObject, entries: readonly Entry[]): JsonObject {
  if (entries.length === 0) return {};
  const given = context[key];
  // By entries, so that a name such as __proto__ is a name like any other.
  return { [key]: Object.fromEntries([...Object.entries(isObject(given) ? given : {}), ...entries]) };
}

/** A secret is no argument unless it says that it is: other users and the shell's history see those. */
async function readSecret(pair: string, io: Io): Promise<Entry> {
  const [name, source] = splitPair(pair, '--secret', 'NAME=env:VAR or NAME=@FILE');
  if (source.startsWith('@')) return [name, await readSecretFile(source.slice(1), `the file of --secret ${name}`, io)];
  if (source.startsWith('text:')) return [name, source.slice('text:'.length)];
  if (source.startsWith('env:')) {
    const variable = source.slice('env:'.length);
    const value = io.env[variable];
    if (value !== undefined) return [name, value];
    throw new UsageError(`--secret ${name}: there is no variable ${variable}`, 'Set it, or name another.');
  }
  const hint = `Write ${name}=env:VARIABLE or ${name}=@FILE; ${name}=text:VALUE where everybody may see it.`;
  throw new UsageError(`--secret ${name} does not say where its value is`, hint);
}

async function readConnection(pair: string, io: Io): Promise<Entry> {
  const [name, source] = splitPair(pair, '--connection', 'name=@FILE');
  if (!source.startsWith('@')) {
    throw new UsageError(`--connection ${name} is no file`, `It holds a token: write ${name}=@FILE.`);
  }
  const written = await readObject(source, `--connection ${name}`, io);
  if (typeof written.accessToken !== 'string') {
    throw new UsageError(`--connection ${name} has no accessToken`, 'Its file holds {"accessToken": "…"} at least.');
  }
  return [name, { connectionId: name, app: name, appName: name, account: { id: name, label: name }, ...written }];
}
