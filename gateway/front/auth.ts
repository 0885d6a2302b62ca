import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { Refusal } from '../../shared/http/refusal.ts';
import { HEADER } from '../../shared/protocol/headers.ts';
import type { TokenGrant } from '../config/configuration.ts';

/** What a token opens. */
export interface Grant {
  readonly opens: (tenantKey: string) => boolean;
  /** The only deployment it opens, and to which it routes. */
  readonly deployment: string | undefined;
}

/**
 * Who may call: a table by the tokens' SHA-256. Looking up a digest takes a time that says nothing about the token,
 * which is what a comparison in constant time is for (A16).
 */
export class Auth {
  readonly #grants: ReadonlyMap<string, Grant>;

  constructor(tokens: readonly TokenGrant[]) {
    this.#grants = new Map(tokens.map((token) => [token.sha256, grantOf(token)]));
  }

  /** @throws {Refusal} `bad-token`: missing, empty, wrong, or sent twice (Node joins the two with a comma, A17). */
  check(headers: IncomingHttpHeaders): Grant {
    const token = headers[HEADER.token];
    const grant = typeof token === 'string' && token !== '' ? this.#grants.get(digest(token)) : undefined;
    if (grant === undefined) throw new Refusal('bad-token');
    return grant;
  }
}

function digest(token: string): string {
  // Header values reach us as latin1; a token is ASCII, so any other byte just makes another digest.
  return createHash('sha256').update(token, 'latin1').digest('hex');
}

function grantOf(token: TokenGrant): Grant {
  if (token.tenants === 'any') return { opens: () => true, deployment: token.deployment };
  const tenants = new Set(token.tenants);
  return { opens: (key) => tenants.has(key), deployment: token.deployment };
}
