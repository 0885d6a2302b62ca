import { randomBytes } from 'node:crypto';
import { realpath, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { NO_TENANT_ID, parseTenantId } from '../../shared/protocol/tenantId.ts';
import { UsageError } from '../cli/command.ts';
import type { Io, Options, Values } from '../cli/command.ts';

export const DEFAULT_PORT = 8787;
/** Where debuggers look first. */
export const DEFAULT_INSPECT_PORT = 9229;
export const TOKEN_NAME = 'PACKGATE_TOKEN';

export const OPTIONS = {
  port: {
    type: 'string',
    value: 'port',
    help: `port on loopback (default: ${DEFAULT_PORT}, a free one if it is taken)`,
  },
  tenant: {
    type: 'string',
    value: 'name=id',
    isRepeatable: true,
    help: 'the tenant of a pack (default: made of its path)',
  },
  python: { type: 'string', value: 'file', help: 'what runs Python packs without a .venv (default: python3)' },
  inspect: { type: 'boolean', help: 'let debuggers in, at addresses that outlive swaps (Node packs)' },
  'inspect-port': {
    type: 'string',
    value: 'port',
    help: `the same, on this port (default: ${DEFAULT_INSPECT_PORT}, a free one if it is taken)`,
  },
} as const satisfies Options;

/** What was asked for, read and found good. */
export interface DevGiven {
  /** Absolute, links resolved, each once. */
  readonly roots: readonly string[];
  /** Undefined: the usual one, or any. */
  readonly port: number | undefined;
  /** Ids by the names of packs. */
  readonly tenants: ReadonlyMap<string, string>;
  readonly token: string;
  /** It was made for this run: nobody else knows it yet. */
  readonly isTokenNew: boolean;
  readonly python: string | undefined;
  /** Undefined: nobody debugs. */
  readonly inspect: { readonly port: number | undefined } | undefined;
}

/** @throws {UsageError} */
export async function readGiven(given: Values<typeof OPTIONS>, folders: readonly string[], io: Io): Promise<DevGiven> {
  const inspectPort = readPort('--inspect-port', given['inspect-port']);
  return {
    tenants: readTenants(given.tenant ?? []),
    port: readPort('--port', given.port),
    ...readToken(io.env),
    python: given.python === undefined ? undefined : pythonOf(given.python, io),
    inspect: given.inspect === true || inspectPort !== undefined ? { port: inspectPort } : undefined,
    roots: await readRoots(folders.length === 0 ? ['.'] : folders, io),
  };
}

async function readRoots(folders: readonly string[], { cwd }: Io): Promise<string[]> {
  const roots = new Set<string>();
  for (const folder of folders) {
    const path = await realpath(resolve(cwd, folder)).catch(() => undefined);
    const isFolder = path !== undefined && (await stat(path)).isDirectory();
    if (!isFolder)
      throw new UsageError(`there is no folder ${folder}`, 'Name the folder of a pack, or one around packs.');
    roots.add(path);
  }
  return [...roots].toSorted();
}

function readPort(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw new UsageError(`${option} ${text} is no port`, 'Write a number from 0 (any that is free) to 65535.');
}

function readTenants(pairs: readonly string[]): ReadonlyMap<string, string> {
  const tenants = new Map<string, string>();
  const keys = new Set([NO_TENANT_ID]);
  for (const pair of pairs) {
    const at = pair.lastIndexOf('=');
    const tenant = parseTenantId(pair.slice(at + 1));
    if (at <= 0 || tenant === undefined) {
      const hint = "Write name=id: a pack's name and 1 to 128 printable ASCII characters without blanks.";
      throw new UsageError(`--tenant ${pair} names no pack, or no tenant`, hint);
    }
    if (keys.has(tenant.key))
      throw new UsageError(`--tenant ${pair}: that id is taken`, 'Every pack has its own tenant.');
    keys.add(tenant.key);
    tenants.set(pair.slice(0, at), tenant.id);
  }
  return tenants;
}

/** One that is set outlives this run, and so do the shells that call with it. */
function readToken({ [TOKEN_NAME]: token }: Io['env']): Pick<DevGiven, 'token' | 'isTokenNew'> {
  if (token === undefined || token === '') return { token: randomBytes(18).toString('base64url'), isTokenNew: true };
  if (/^[!-~]{16,512}$/.test(token)) return { token, isTokenNew: false };
  throw new UsageError(
    `${TOKEN_NAME} is no token`,
    '16 to 512 printable ASCII characters without blanks, or unset it.',
  );
}

/** A name is looked up in PATH, a path counts from here. */
function pythonOf(python: string, { cwd }: Io): string {
  return python.includes('/') ? resolve(cwd, python) : python;
}
