import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { tenantKey } from '../../shared/protocol/tenantId.ts';
import type { TokenGrant } from './configuration.ts';
import { describe } from './describe.ts';
import { nearest } from './nearest.ts';
import type { Path } from './problem.ts';
import { pathText } from './problem.ts';
import { present } from './raw.ts';
import type { RawConfiguration, RawToken, RawTokenSource } from './raw.ts';
import { readPart } from './surroundings.ts';
import type { Surroundings } from './surroundings.ts';
import { namesOfPacks } from './tenant.ts';

/** What a token is made of (G3). */
const MIN_TOKEN_LENGTH = 16;
const TOKEN = new RegExp(`^[!-~]{${MIN_TOKEN_LENGTH},512}$`);
const TOKEN_RULE = '16 to 512 printable ASCII characters without blanks';
const MAX_FILE_BYTES = 64 * 1024;

/** The tokens that callers may send. Of a token's text nothing is kept but its hash, and nothing is reported. */
export async function readTokens(raw: RawConfiguration, surroundings: Surroundings): Promise<TokenGrant[]> {
  const { report } = surroundings;
  const grants: TokenGrant[] = [];
  const places = new Map<string, Path>();
  for (const [index, token] of present(raw.tokens)) {
    const path = ['tokens', index];
    const sha256 = await hashOfToken(token, path, surroundings);
    const tenants = readTenants(token, path, raw, surroundings);
    checkDeployment(token, path, raw, surroundings);
    if (sha256 === undefined) continue;
    const twin = places.get(sha256);
    if (twin !== undefined) {
      const todo = 'Write one entry with all the tenants that it opens';
      report.problem(path, { expected: 'every token once', got: `the one of ${pathText(twin)} again`, todo });
    }
    places.set(sha256, path);
    grants.push({ sha256, tenants, ...(token.deployment === undefined ? {} : { deployment: token.deployment }) });
  }
  return grants;
}

/** SHA-256 of a token in lower-case hex, wherever it comes from. Undefined, and reported, where there is none. */
export async function hashOfToken(
  token: RawTokenSource,
  path: Path,
  surroundings: Surroundings,
): Promise<string | undefined> {
  if (token.sha256 !== undefined) return token.sha256.toLowerCase();
  const { env, folder, report } = surroundings;
  if (token.env !== undefined) {
    const text = env[token.env];
    if (text !== undefined) return hashOfText(text, [...path, 'env'], 'the variable', surroundings);
    const got = isPlainName(token.env) ? `${token.env}, which is not set` : 'one that is not set';
    report.problem([...path, 'env'], { expected: 'the name of a variable that holds a token', got });
    return undefined;
  }
  if (token.file === undefined) return undefined;
  const file = await readPart(resolve(folder, token.file), MAX_FILE_BYTES, surroundings);
  if ('text' in file) return hashOfText(file.text, [...path, 'file'], 'the file', surroundings);
  report.problem([...path, 'file'], { expected: 'a file that can be read', got: file.trouble });
  return undefined;
}

function hashOfText(text: string, path: Path, holder: string, { report }: Surroundings): string | undefined {
  const token = text.trim();
  if (TOKEN.test(token)) return createHash('sha256').update(token).digest('hex');
  const got = token === '' ? 'an empty one' : `${wrongWith(token)} (not shown)`;
  report.problem(path, { expected: `a token in ${holder} that is named here: ${TOKEN_RULE}`, got });
  return undefined;
}

/** Whether it can be shown: a name, and not the token itself in the wrong place. */
function isPlainName(name: string): boolean {
  return /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*$/.test(name) && (name.length < MIN_TOKEN_LENGTH || name.includes('_'));
}

function wrongWith(token: string): string {
  return /^[!-~]*$/.test(token) ? `one of ${token.length} characters` : 'one with blanks or other characters';
}

function readTenants(
  token: RawToken,
  path: Path,
  { tenants, tenantsDir }: RawConfiguration,
  { report }: Surroundings,
): TokenGrant['tenants'] {
  if (token.tenants === undefined) return 'any';
  const configured = new Map(Object.keys(tenants ?? {}).map((id) => [tenantKey(id), id]));
  const keys = new Set<string>();
  for (const [index, id] of present(token.tenants)) {
    keys.add(tenantKey(id));
    // A tenant that was left out because something is wrong with it has its own problem.
    if (configured.has(tenantKey(id)) || tenants === undefined || report.isBad(['tenants', id])) continue;
    const near = nearest(id, configured.values());
    const place = [...path, 'tenants', index];
    // Its file may come, or has been taken away: that must not keep the others from being changed.
    if (tenantsDir !== undefined) {
      report.warn(place, `there is no tenant ${describe(id)} yet`);
      continue;
    }
    report.problem(place, {
      expected: "a configured tenant's id",
      got: describe(id),
      ...(near === undefined ? {} : { todo: `Did you mean "${near}"?` }),
    });
  }
  return [...keys];
}

function checkDeployment(token: RawToken, path: Path, raw: RawConfiguration, { report }: Surroundings): void {
  const { deployment } = token;
  if (deployment === undefined || raw.tenants === undefined) return;
  const wanted =
    token.tenants === undefined ? undefined : new Set(present(token.tenants).map(([, id]) => tenantKey(id)));
  const asked = Object.entries(raw.tenants).filter(([id]) => wanted?.has(tenantKey(id)) ?? true);
  const lacking = asked.filter(([id, tenant]) => {
    const names = namesOfPacks(tenant);
    return !names.includes(deployment) && !report.isBad(['tenants', id, 'packs', deployment]);
  });
  // A token for any tenant opens the deployment where there is one.
  const isFine = wanted === undefined ? lacking.length < asked.length : lacking.length === 0;
  const [first] = lacking;
  if (isFine || first === undefined) return;
  const [id, tenant] = first;
  const where = wanted === undefined ? 'any tenant' : `tenant ${JSON.stringify(id)}`;
  report.problem([...path, 'deployment'], {
    expected: `the name of a deployment of ${where}`,
    got: describe(deployment),
    todo: `There is ${namesOfPacks(tenant)
      .map((name) => `"${name}"`)
      .join(', ')}`,
  });
}
