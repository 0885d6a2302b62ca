import { EXIT } from '../../../shared/process/contract.ts';
import { get } from '../../../shared/conform/client/call.ts';
import type { RawResponse } from '../../../shared/conform/client/response.ts';
import type { ExpectedInfo, Service } from '../../../shared/conform/service.ts';
import { CommandError, UsageError } from '../command.ts';
import { printable } from '../printable.ts';

/** Where a service runs that somebody else has started, and what is known of it. */
export interface RunningOptions {
  readonly url: string;
  readonly token: string;
  /** The tenant it is pinned to; undefined: not known. */
  readonly tenantId: string | undefined;
  /** What the index of its pack says, and where the pack lies, where that is known. */
  readonly expectedInfo: ExpectedInfo | undefined;
  readonly packDir: string | undefined;
}

/**
 * Finds out whether a service answers at an address, and what it serves.
 * @throws {CommandError} when it does not, or does not let us in.
 */
export async function findRunning({ url, token, tenantId, expectedInfo, packDir }: RunningOptions): Promise<Service> {
  const unknown: ExpectedInfo = {
    packId: '',
    packVersion: '',
    artifactVersion: '',
    indexHash: '',
    tools: [],
    checks: [],
  };
  const service: Service = {
    ...placeOf(url),
    token,
    tenantId,
    expectedInfo: expectedInfo ?? unknown,
    isInfoItsOwn: expectedInfo === undefined,
    packDir,
  };
  const answer = await get(service, '/v1/info').catch((error: unknown) => {
    throw new CommandError(
      EXIT.failed,
      `no answer from ${url}: ${printable(error instanceof Error ? error.message : String(error))}`,
      'Start the service, or give its command after "--".',
    );
  });
  if (answer.status !== 200) throw refused(url, answer, tenantId);
  return expectedInfo === undefined ? { ...service, expectedInfo: infoOf(url, answer) } : service;
}

function placeOf(url: string): { readonly host: string; readonly port: number } {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed?.protocol !== 'http:' || parsed.pathname !== '/' || parsed.search !== '' || parsed.username !== '') {
    throw new UsageError(`--url ${url} is no address of a pack service`, 'Write it like http://127.0.0.1:8080.');
  }
  return { host: parsed.hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(parsed.port === '' ? 80 : parsed.port) };
}

function refused(url: string, { status, body }: RawResponse, tenantId: string | undefined): CommandError {
  const hint =
    status === 401
      ? 'Check the token that --token-env names.'
      : status === 421
        ? tenantId === undefined
          ? 'It is pinned: name its tenant with --tenant.'
          : 'It is pinned to another tenant than --tenant says.'
        : 'Nothing can be checked before that is 200.';
  const said = printable(body.toString('utf8').slice(0, 200));
  return new CommandError(EXIT.failed, `${url} answers ${status} to GET /v1/info: ${said}`, hint);
}

/** As far as the answer says it; what is wrong with it is for the clauses to find. */
function infoOf(url: string, { body }: RawResponse): ExpectedInfo {
  let info: Record<string, unknown> = {};
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    if (typeof value === 'object' && value !== null) info = value as Record<string, unknown>;
  } catch (cause) {
    throw new CommandError(
      EXIT.failed,
      `the answer of ${url} to GET /v1/info is no JSON: ${printable((cause as Error).message)}`,
      'Is it a pack service?',
    );
  }
  const text = (key: string): string => (typeof info[key] === 'string' ? info[key] : '');
  const list = (key: string): unknown[] => (Array.isArray(info[key]) ? (info[key] as unknown[]) : []);
  return {
    packId: text('packId'),
    packVersion: text('packVersion'),
    artifactVersion: text('artifactVersion'),
    indexHash: text('indexHash'),
    tools: list('tools').flatMap((tool) => {
      const id = (tool as { id?: unknown } | null)?.id;
      return typeof id === 'string' ? [{ id }] : [];
    }),
    checks: list('checks').filter((id): id is string => typeof id === 'string'),
  };
}
