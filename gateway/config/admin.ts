import { isDeepStrictEqual } from 'node:util';
import type { AdminSettings, ListenAddress, TokenGrant } from './configuration.ts';
import { readAddress } from './listen.ts';
import type { RawConfiguration } from './raw.ts';
import type { Surroundings } from './surroundings.ts';
import { hashOfToken } from './tokens.ts';

const EXPOSED = "other machines can connect, and the operators' token is not encrypted on the way";

/** What the admin side must not be mixed up with, and where its socket is when nothing is configured. */
export interface AdminContext {
  readonly listen: ListenAddress;
  readonly tokens: readonly TokenGrant[];
  readonly defaultSocket: string;
}

/** Where operators reach the gateway, and with what. What is wrong is reported. */
export async function readAdmin(
  { admin = {} }: RawConfiguration,
  { listen: publicListen, tokens, defaultSocket }: AdminContext,
  surroundings: Surroundings,
): Promise<AdminSettings> {
  const { report } = surroundings;
  const tokenPath = ['admin', 'token'];
  const tokenSha256 = admin.token === undefined ? undefined : await hashOfToken(admin.token, tokenPath, surroundings);
  if (tokenSha256 !== undefined && tokens.some(({ sha256 }) => sha256 === tokenSha256)) {
    const got = "one that callers' tokens have, too";
    report.problem(tokenPath, { expected: 'a token of its own', got, todo: 'Whoever calls packs is no operator' });
  }
  const listen = readAdminListen(admin.listen, publicListen, surroundings);
  if (listen?.kind === 'tcp' && admin.token === undefined && !report.isBad(tokenPath)) {
    const got = 'none: { env: NAME }, { file: PATH } or { sha256: HEX }';
    report.problem(['admin', 'listen'], { expected: 'an admin.token where it is no Unix socket', got, at: 'key' });
  }
  return {
    listen: listen ?? { kind: 'unix', path: defaultSocket },
    ...(tokenSha256 !== undefined && { tokenSha256 }),
  };
}

function readAdminListen(
  text: string | undefined,
  publicListen: ListenAddress,
  surroundings: Surroundings,
): ListenAddress | undefined {
  if (text === undefined) return undefined;
  const path = ['admin', 'listen'];
  const address = readAddress(text, path, EXPOSED, surroundings);
  const isAnyPort = address?.kind === 'tcp' && address.port === 0;
  if (address !== undefined && !isAnyPort && isDeepStrictEqual(address, publicListen)) {
    surroundings.report.problem(path, { expected: 'an address of its own', got: 'that of "listen"' });
  }
  return address;
}
