import { readFile, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { isMap, parseDocument } from 'yaml';
import type { Document } from 'yaml';
import { EXIT } from '../../shared/process/contract.ts';
import { defaultAdminSocket } from '../config/adminSocket.ts';
import { readText, troubleOf } from '../config/files.ts';
import { parseListen } from '../config/listen.ts';
import { CommandError, DEFAULT_CONFIG_FILE, UsageError } from './command.ts';
import type { Io, Options } from './command.ts';

/** Where a gateway is asked. */
export interface AdminPlace {
  /** As it is named to the user: `unix:/run/packgate/admin.sock`, `http://127.0.0.1:8788`. */
  readonly text: string;
  readonly connect: { readonly socketPath: string } | { readonly host: string; readonly port: number };
  /** Undefined: none is sent. */
  readonly token: string | undefined;
}

/** Options of every command that asks a gateway. */
export const PLACE_OPTIONS = {
  config: {
    type: 'string',
    short: 'c',
    value: 'file',
    help: `the gateway's configuration, which says where it is (default: ${DEFAULT_CONFIG_FILE} here)`,
  },
  url: { type: 'string', value: 'url', help: 'where it is instead: http://HOST:PORT or unix:PATH' },
} as const satisfies Options;

const TOKEN_VARIABLE = 'PACKGATE_ADMIN_TOKEN';
const MAX_TOKEN_FILE_BYTES = 64 * 1024;
const DEFAULT_STATE_DIR = '.packgate';

/**
 * Finds the gateway that is meant: the one at `--url`, else the one of the configuration. Of that only `admin` and
 * `stateDir` are read, and leniently: a file that is broken now, or whose secrets are not in this environment, must not
 * keep an operator from looking. The token comes from the environment or from the configuration's source, never from the
 * command line, which others can read; the configuration's goes to `--url` only where `-c` is given, too.
 * @throws {CommandError} when there is no telling where it is.
 */
export async function findGateway(
  { url, config }: { readonly url?: string; readonly config?: string },
  io: Io,
): Promise<AdminPlace> {
  const own = io.env[TOKEN_VARIABLE]?.trim();
  const givenToken = own === '' ? undefined : own;
  if (url !== undefined) {
    const place = placeOfUrl(url, io.cwd);
    const token = givenToken ?? (config === undefined ? undefined : await tokenOf(await readAdmin(config, io), io));
    return { ...place, token };
  }
  const admin = await readAdmin(config ?? DEFAULT_CONFIG_FILE, io);
  return { ...(await placeOf(admin, io)), token: givenToken ?? (await tokenOf(admin, io)) };
}

/** What a configuration says of its admin side, as it is written there. */
interface Admin {
  /** The file as the user named it. */
  readonly file: string;
  /** Its folder, from which its paths count. */
  readonly folder: string;
  readonly document: Document;
}

async function readAdmin(file: string, { cwd, stderr }: Io): Promise<Admin> {
  const path = resolve(cwd, file);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    const hint = 'Name the configuration of the gateway with -c <file>, or the gateway with --url <url>.';
    throw new CommandError(EXIT.badConfig, `${file} cannot be read: ${troubleOf(error)}`, hint);
  }
  const document = parseDocument(text, { schema: 'core', prettyErrors: false, logLevel: 'silent' });
  if (document.errors.length > 0 || !isMap(document.contents)) {
    stderr.write(
      `packgate: ${file} is broken ("packgate check" says where); asking the gateway that it seems to mean.\n`,
    );
  }
  return { file, folder: dirname(path), document };
}

type Place = Omit<AdminPlace, 'token'>;

async function placeOf({ file, folder, document }: Admin, { env }: Io): Promise<Place> {
  const listen = textAt(document, ['admin', 'listen']);
  if (listen === undefined) {
    const stateDir = resolve(folder, textAt(document, ['stateDir']) ?? DEFAULT_STATE_DIR);
    // Its owner runs the gateway, also when it is somebody else who asks.
    const uid = (await stat(stateDir).catch(() => undefined))?.uid ?? process.getuid?.() ?? 0;
    return socketPlace(defaultAdminSocket(stateDir, env.TMPDIR ?? '/tmp', uid));
  }
  const address = parseListen(listen, folder);
  if (address?.kind === 'unix') return socketPlace(address.path);
  const hint = 'Say where it is with --url <url>.';
  if (address === undefined) {
    throw new CommandError(EXIT.badConfig, `${file}: admin.listen ${JSON.stringify(listen)} is no address`, hint);
  }
  if (address.kind === 'fd' || address.port === 0) {
    throw new CommandError(EXIT.badConfig, `${file}: admin.listen ${listen} does not tell where the gateway is`, hint);
  }
  return tcpPlace(reachable(address.host), address.port);
}

async function tokenOf({ file, folder, document }: Admin, { env }: Io): Promise<string | undefined> {
  const variable = textAt(document, ['admin', 'token', 'env']);
  if (variable !== undefined) return env[variable]?.trim();
  const named = textAt(document, ['admin', 'token', 'file']);
  if (named === undefined) return undefined;
  const found = await readText(resolve(folder, named), MAX_TOKEN_FILE_BYTES);
  if ('text' in found) return found.text.trim();
  const hint = `Set ${TOKEN_VARIABLE} instead, or run this as a user who may read it.`;
  throw new CommandError(
    EXIT.failed,
    `the admin token's file that ${file} names cannot be read: ${found.trouble}`,
    hint,
  );
}

/** Parts that are no text are as good as missing: `check` says what is wrong with them. */
function textAt(document: Document, path: readonly string[]): string | undefined {
  const value: unknown = isMap(document.contents) ? document.getIn(path) : undefined;
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function placeOfUrl(url: string, cwd: string): Place {
  if (url.startsWith('unix:') && url.length > 'unix:'.length)
    return socketPlace(resolve(cwd, url.slice('unix:'.length)));
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const isPlain = parsed?.protocol === 'http:' && parsed.username === '' && ['', '/'].includes(parsed.pathname);
  if (parsed === undefined || !isPlain || parsed.search !== '' || parsed.hash !== '') {
    throw new UsageError('--url is no address of a gateway', 'Write http://HOST:PORT or unix:PATH.');
  }
  return tcpPlace(parsed.hostname.replace(/^\[(.*)\]$/, '$1'), Number(parsed.port || '80'));
}

function socketPlace(socketPath: string): Place {
  return { text: `unix:${socketPath}`, connect: { socketPath } };
}

function tcpPlace(host: string, port: number): Place {
  return { text: `http://${host.includes(':') ? `[${host}]` : host}:${port}`, connect: { host, port } };
}

/** A gateway that listens on every address is reached on this machine's own. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}
