import { createHash, timingSafeEqual } from 'node:crypto';
import { isIP, isIPv6 } from 'node:net';
import type { RequestHandler } from 'express';
import { AdminRefusal } from './refusal.ts';

export interface GuardOptions {
  /** Lower-case hex of SHA-256 over the token; undefined asks for none, which only a private Unix socket may. */
  readonly tokenSha256: string | undefined;
  readonly via: 'unix' | 'tcp';
  /** The host name that is listened on, which operators may use besides addresses. */
  readonly hostName: string | undefined;
}

/**
 * Lets operators in and nobody else. Over TCP a web page in the operator's browser can reach the listener, too: by a
 * name of its own that it lets point here (DNS rebinding; such a `Host` is no address), or across origins, of which the
 * browser tells in `Origin`. There is no console yet that would have a right to.
 */
export function guard({ tokenSha256, via, hostName }: GuardOptions): RequestHandler {
  const expected = tokenSha256 === undefined ? undefined : Buffer.from(tokenSha256, 'hex');
  return (request, _response, next) => {
    const { host, origin, authorization } = request.headers;
    if (via === 'tcp') {
      if (!isOwnHost(host ?? '', hostName)) {
        throw new AdminRefusal(
          'foreign-host',
          'the Host header must be an IP address, localhost or the host of admin.listen',
        );
      }
      if (origin !== undefined) throw new AdminRefusal('foreign-origin', 'requests of web pages are not taken');
    }
    if (expected !== undefined && !isToken(authorization, expected)) {
      throw new AdminRefusal('bad-token', 'missing or wrong token: send "Authorization: Bearer <token>"');
    }
    next();
  };
}

/** Whether a `Host` header, with or without a port, is an address, `localhost` or `hostName`. */
export function isOwnHost(host: string, hostName?: string): boolean {
  const [, ipv6, other] = /^(?:\[([^\]]*)\]|([^:]*))(?::[0-9]{1,5})?$/.exec(host.toLowerCase()) ?? [];
  if (ipv6 !== undefined) return isIPv6(ipv6);
  return other !== undefined && (isIP(other) === 4 || other === 'localhost' || other === hostName?.toLowerCase());
}

/** Both are hashes: how long the comparison takes tells nothing of the token. */
function isToken(authorization: string | undefined, expected: Buffer): boolean {
  const token = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
  if (token === undefined) return false;
  const found = createHash('sha256').update(token, 'latin1').digest();
  return timingSafeEqual(found, expected);
}
