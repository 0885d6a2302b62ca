import { isBag } from '../modules/exports.ts';
import { sendFileRequest } from './fileRequest.ts';
import type { FileAnswer, FileHost } from './fileRequest.ts';
import { FilesError } from './filesError.ts';

/** A file to store. */
export interface NewFile {
  /** A text is sent as UTF-8. */
  readonly bytes: Uint8Array | string;
  /** Media type, such as `image/png`. */
  readonly type: string;
  /** Name for people; any characters. */
  readonly name: string;
}

/** What the runtime answered: the stored file, or `notStored` with `type`, `size`, `limit` or `storage` (D37). */
export type Stored = { readonly file: unknown } | { readonly notStored: string };

/** What the runtime answered: the file's bytes, or `notRead` with `rule`, `gone`, `changed` or `size` (D38). */
export type Read = { readonly bytes: Buffer } | { readonly notRead: string };

/**
 * `ctx.files` of a tool that stores or reads files (D35). Both send one request and repeat nothing; both reject with a
 * `FilesError`, whose `code` is `tool-files-busy` when the runtime had no room and trying again is allowed (D39), and with
 * a `TypeError` for arguments that cannot be sent.
 */
export interface Files {
  /** There when the index entry says `storesFiles` and the call has an `idempotencyKey`. */
  readonly store?: (file: NewFile) => Promise<Stored>;
  /** There when the index entry says `readsFiles`. */
  readonly read?: (artifactId: string) => Promise<Read>;
}

/** A call's files, until the call is over: the token dies with it, so nothing is sent afterwards (D40). */
export interface CallFiles {
  readonly files: Files | undefined;
  close(): void;
}

const NO_FILES: CallFiles = { files: undefined, close: () => undefined };

/** What a tool's index entry says about files. */
export interface FileUse {
  readonly storesFiles: boolean;
  readonly readsFiles: boolean;
}

/** The files of a call: none unless the call carries `toolFiles` and the tool declares a use of them (D35). */
export function openFiles(ctx: Readonly<Record<string, unknown>>, use: FileUse, signal: AbortSignal): CallFiles {
  const host = use.storesFiles || use.readsFiles ? hostOf(ctx) : undefined;
  if (host === undefined) return NO_FILES;
  const ended = new AbortController();
  const whileOpen = AbortSignal.any([signal, ended.signal]);
  const canStore = use.storesFiles && typeof ctx.idempotencyKey === 'string' && ctx.idempotencyKey !== '';
  const files: Files = {
    ...(canStore && { store: (file) => quietly(store(host, file, whileOpen)) }),
    ...(use.readsFiles && { read: (artifactId) => quietly(read(host, artifactId, whileOpen)) }),
  };
  return { files: Object.freeze(files), close: () => ended.abort('ended') };
}

async function store(host: FileHost, file: NewFile, signal: AbortSignal): Promise<Stored> {
  const { bytes, type, name } = isBag(file) ? (file as unknown as NewFile) : ({} as Partial<NewFile>);
  if (typeof bytes !== 'string' && !(bytes instanceof Uint8Array))
    throw wrongArgument('bytes', 'a Uint8Array or a text');
  if (typeof type !== 'string' || !/^[\x21-\x7e]+(?:[ \t]*;[\x20-\x7e]*)?$/.test(type)) {
    throw wrongArgument('type', 'a media type, such as "image/png"');
  }
  const answer = await sendFileRequest(
    host,
    {
      method: 'POST',
      path: '',
      headers: { 'Content-Type': type, 'Kindgi-File-Name': encoded('name', name) },
      body: typeof bytes === 'string' ? Buffer.from(bytes) : bytes,
    },
    signal,
  );
  const value = jsonOf(answer);
  if (isBag(value) && (isBag(value.file) || typeof value.notStored === 'string')) return value as unknown as Stored;
  throw new FilesError('tool-files-failed', 'the runtime answered neither with a file nor with `notStored`');
}

async function read(host: FileHost, artifactId: string, signal: AbortSignal): Promise<Read> {
  const segment = encoded('artifactId', artifactId);
  // A client takes these two out of a path: the request would go to another place, with the token.
  if (segment === '.' || segment === '..') throw wrongArgument('artifactId', 'the id of a file');
  const answer = await sendFileRequest(host, { method: 'GET', path: `/${segment}`, headers: {} }, signal);
  if (answer.type === 'application/octet-stream') return { bytes: answer.bytes };
  const value = jsonOf(answer);
  if (isBag(value) && typeof value.notRead === 'string') return value as unknown as Read;
  throw new FilesError('tool-files-failed', 'the runtime answered neither with bytes nor with `notRead`');
}

/** Where the call's files are; undefined when the call names no place, or none that a request could be sent to. */
function hostOf({ toolFiles }: Readonly<Record<string, unknown>>): FileHost | undefined {
  if (!isBag(toolFiles)) return undefined;
  const { url, token } = toolFiles;
  if (typeof url !== 'string' || !/^https?:\/\//i.test(url) || !URL.canParse(url)) return undefined;
  return typeof token === 'string' && /^[\x21-\x7e]+$/.test(token) ? { url, token } : undefined;
}

/** Percent-encoded UTF-8. */
function encoded(argument: string, text: unknown): string {
  if (typeof text !== 'string' || text === '') throw wrongArgument(argument, 'a text that is not empty');
  try {
    return encodeURIComponent(text);
  } catch {
    throw wrongArgument(argument, 'well-formed text');
  }
}

function jsonOf({ type, bytes }: FileAnswer): unknown {
  if (type !== 'application/json') return undefined;
  try {
    return JSON.parse(bytes.toString('utf8')) as unknown;
  } catch {
    return undefined;
  }
}

function wrongArgument(name: string, expected: string): TypeError {
  return new TypeError(`Expected \`${name}\` to be ${expected}`);
}

/** A handler that ends its call without waiting for its files must not end the process by a rejection nobody hears. */
function quietly<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}
