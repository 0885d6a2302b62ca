import { isIP, isIPv6 } from 'node:net';
import { resolve } from 'node:path';
import type { ListenAddress } from './configuration.ts';
import { describe } from './describe.ts';
import type { Path } from './problem.ts';
import { CONFIGURATION_SCHEMA } from './schema.ts';
import type { Surroundings } from './surroundings.ts';

const DEFAULT_LISTEN = '127.0.0.1:8787';

/** The kernel's room for the path of a Unix socket, in bytes. */
export const MAX_SOCKET_PATH_BYTES = 107;

/** Where calls are answered. The default stands in for what is wrong. */
export function readListen(listen: string = DEFAULT_LISTEN, surroundings: Surroundings): ListenAddress {
  const exposed = 'other machines can connect, and calls and their tokens are not encrypted on the way';
  return readAddress(listen, ['listen'], exposed, surroundings) ?? { kind: 'tcp', host: '127.0.0.1', port: 0 };
}

/** The address at `path`. Undefined, and reported, where it is none. `exposed` warns of one that others can reach. */
export function readAddress(
  text: string,
  path: Path,
  exposed: string,
  { folder, report }: Surroundings,
): ListenAddress | undefined {
  const address = parseListen(text, folder);
  if (address === undefined) {
    const expected = CONFIGURATION_SCHEMA.properties?.listen?.expected ?? 'an address';
    report.problem(path, { expected, got: describe(text) });
  } else if (address.kind === 'unix' && Buffer.byteLength(address.path) > MAX_SOCKET_PATH_BYTES) {
    const got = `one of ${Buffer.byteLength(address.path)} bytes`;
    report.problem(path, { expected: `a socket's path of at most ${MAX_SOCKET_PATH_BYTES} bytes`, got });
  } else if (address.kind === 'tcp' && !isLoopback(address.host)) {
    report.warn(path, exposed);
  }
  return address;
}

/** The text of an address, as it is configured. */
export function listenText(address: ListenAddress): string {
  switch (address.kind) {
    case 'tcp':
      return `${isIPv6(address.host) ? `[${address.host}]` : address.host}:${address.port}`;
    case 'unix':
      return `unix:${address.path}`;
    case 'fd':
      return `fd:${address.fd}`;
  }
}

/** The address that `text` is, undefined where it is none. Relative paths count from `folder`. */
export function parseListen(text: string, folder: string): ListenAddress | undefined {
  if (text.startsWith('unix:')) {
    const path = text.slice('unix:'.length);
    return path === '' || path.includes('\0') ? undefined : { kind: 'unix', path: resolve(folder, path) };
  }
  const fd = /^fd:([0-9]{1,6})$/.exec(text)?.[1];
  // 0 to 2 are the standard streams.
  if (fd !== undefined) return Number(fd) >= 3 ? { kind: 'fd', fd: Number(fd) } : undefined;
  const parts = /^(?:\[([^\]]+)\]|([^:[\]/\s]+)):([0-9]{1,5})$/.exec(text);
  if (parts === null) return undefined;
  const [, ipv6, name = ''] = parts;
  const port = Number(parts[3]);
  if (port > 65_535) return undefined;
  if (ipv6 !== undefined) return isIPv6(ipv6) ? { kind: 'tcp', host: ipv6, port } : undefined;
  return isHost(name) ? { kind: 'tcp', host: name, port } : undefined;
}

function isHost(name: string): boolean {
  // What looks like an IPv4 address must be one: `127.0.0.256` is no host name that anybody has.
  if (/^[0-9.]+$/.test(name)) return isIP(name) === 4;
  return /^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/.test(name);
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}
