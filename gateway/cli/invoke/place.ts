import { resolve } from 'node:path';
import { EXIT } from '../../../shared/process/contract.ts';
import { tenantKey } from '../../../shared/protocol/tenantId.ts';
import { readText } from '../../config/files.ts';
import { parseListen } from '../../config/listen.ts';
import { nearest } from '../../config/nearest.ts';
import { CommandError, UsageError } from '../command.ts';
import type { Io, Options } from '../command.ts';
import type { WrittenGateway } from './config.ts';
import { printable } from '../printable.ts';

/** Where calls are sent to. */
export interface CallPlace {
  /** As it is named to the user: `http://127.0.0.1:8787`, `unix:/run/packgate.sock`. */
  readonly text: string;
  readonly isTls: boolean;
  readonly connect: { readonly socketPath: string } | { readonly host: string; readonly port: number };
  /** The `Host` that is sent. */
  readonly host: string;
}

/** Options that say where a call goes and on whose behalf. */
export const CALL_PLACE_OPTIONS = {
  config: {
    type: 'string',
    short: 'c',
    value: 'file',
    help: 'the configuration that says where (default: packgate.yaml here)',
  },
  url: { type: 'string', value: 'url', help: 'where instead: http://HOST:PORT, https://HOST, unix:PATH' },
  host: { type: 'string', value: 'name', help: 'Host to send, where hosts tell the packs of a tenant apart' },
  'token-env': { type: 'string', value: 'name', help: 'variable that holds the token (default: PACKGATE_TOKEN)' },
  'token-file': { type: 'string', value: 'file', help: 'file that holds it instead' },
  tenant: { type: 'string', value: 'id', help: 'whose call it is (default: the only tenant of the configuration)' },
} as const satisfies Options;

const DEFAULT_LISTEN = '127.0.0.1:8787';
const DEFAULT_TOKEN_VARIABLE = 'PACKGATE_TOKEN';
const MAX_TOKEN_FILE_BYTES = 64 * 1024;
/** More than these are not listed in a message. */
const MAX_LISTED = 12;

/**
 * The gateway at `url`, else the one that the configuration describes, else the one at the default address.
 * @throws {CommandError} when there is no telling.
 */
export function placeOfCall(
  { url, host }: { readonly url?: string; readonly host?: string },
  written: WrittenGateway | undefined,
  { cwd }: Io,
): CallPlace {
  const place = url === undefined ? placeWritten(written) : placeOfUrl(url, cwd);
  if (host === undefined) return place;
  if (!/^[!-~]+$/.test(host)) throw new UsageError('--host is no name of a host', 'Write NAME or NAME:PORT.');
  return { ...place, host };
}

/**
 * The caller's token. It is never an argument: those can be read by others.
 * @throws {UsageError} when there is none, or none that can be sent.
 */
export async function readToken(
  { 'token-env': variable, 'token-file': file }: { readonly 'token-env'?: string; readonly 'token-file'?: string },
  { env, cwd }: Io,
): Promise<string> {
  const ways = `Set ${DEFAULT_TOKEN_VARIABLE}, or say where it is with --token-env or --token-file.`;
  if (variable !== undefined && file !== undefined)
    throw new UsageError('--token-env and --token-file are two tokens', 'Give one of them.');
  let text: string | undefined;
  if (file !== undefined) {
    const found = await readText(resolve(cwd, file), MAX_TOKEN_FILE_BYTES);
    if ('trouble' in found) throw new UsageError(`the token's file cannot be read: ${found.trouble}`, ways);
    text = found.text;
  } else text = env[variable ?? DEFAULT_TOKEN_VARIABLE];
  const token = text?.trim() ?? '';
  if (token === '') throw new UsageError('there is no token to call with', ways);
  if (/^[!-~]+$/.test(token)) return token;
  throw new UsageError('the token has blanks or other characters in it that cannot be sent', ways);
}

/**
 * The tenant that calls, as given, else the configuration's only one.
 * @throws {UsageError} when there is none or several, or it cannot be sent.
 */
export function tenantOfCall(given: string | undefined, written: WrittenGateway | undefined): string {
  if (given !== undefined) return sendableTenant(given, '--tenant');
  const ids = [...(written?.tenants.keys() ?? [])];
  const [first] = ids;
  if (first !== undefined && ids.length === 1) return first;
  if (written === undefined) throw new UsageError('there is no telling for which tenant', 'Name it with --tenant.');
  if (first === undefined) throw new UsageError(`${written.file} has no tenant`, 'Name one with --tenant.');
  throw new UsageError(`${written.file} has ${ids.length} tenants`, `Name one with --tenant: ${listed(ids)}.`);
}

/** @throws {UsageError} when it cannot be the value of a header. */
export function sendableTenant(id: string, option: string): string {
  if (/^[\x20-\x7e]+$/.test(id)) return id;
  throw new UsageError(`${option} cannot be sent`, 'An id has printable ASCII characters.');
}

/** What to say of a tenant that the configuration does not have; undefined where it has it, or there is none. */
export function tenantHint(tenant: string, written: WrittenGateway | undefined): string | undefined {
  const ids = [...(written?.tenants.keys() ?? [])];
  if (written === undefined || ids.length === 0) return undefined;
  if (ids.some((id) => tenantKey(id) === tenantKey(tenant))) return undefined;
  const near = nearest(tenant, ids);
  const hint = near === undefined ? `It has ${listed(ids)}.` : `Did you mean ${printable(near)}?`;
  return `${written.file} has no tenant ${printable(tenant)}. ${hint}`;
}

function listed(ids: readonly string[]): string {
  const names = ids.slice(0, MAX_LISTED).map(printable);
  const more = ids.length - names.length;
  return more > 0 ? `${names.join(', ')} and ${more} more` : names.join(', ');
}

function placeWritten(written: WrittenGateway | undefined): CallPlace {
  const listen = written?.listen ?? DEFAULT_LISTEN;
  const address = parseListen(listen, written?.folder ?? '/');
  if (address?.kind === 'unix') return socketPlace(address.path);
  if (address?.kind === 'tcp' && address.port !== 0) return tcpPlace(reachable(address.host), address.port);
  const what = address === undefined ? 'is no address' : 'does not tell where the gateway is';
  const hint = 'Say where it is with --url <url>.';
  throw new CommandError(EXIT.badConfig, `${written?.file ?? ''}: listen ${JSON.stringify(listen)} ${what}`, hint);
}

function placeOfUrl(url: string, cwd: string): CallPlace {
  if (url.startsWith('unix:') && url.length > 'unix:'.length)
    return socketPlace(resolve(cwd, url.slice('unix:'.length)));
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const isBare = parsed?.username === '' && parsed.pathname === '/' && parsed.search === '' && parsed.hash === '';
  if (parsed === undefined || !['http:', 'https:'].includes(parsed.protocol) || !isBare) {
    throw new UsageError('--url is no address of a gateway', 'Write http://HOST:PORT, https://HOST or unix:PATH.');
  }
  const isTls = parsed.protocol === 'https:';
  const port = Number(parsed.port || (isTls ? '443' : '80'));
  return { ...tcpPlace(parsed.hostname.replace(/^\[(.*)\]$/, '$1'), port, isTls), host: parsed.host };
}

function socketPlace(socketPath: string): CallPlace {
  return { text: `unix:${socketPath}`, isTls: false, connect: { socketPath }, host: 'localhost' };
}

function tcpPlace(host: string, port: number, isTls = false): CallPlace {
  const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  return { text: `http${isTls ? 's' : ''}://${authority}`, isTls, connect: { host, port }, host: authority };
}

/** A gateway that listens on every address is reached on this machine's own. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}
