import assert from 'node:assert/strict';
import { get } from '../client/call.ts';
import { jsonOf, objectOf } from '../client/message.ts';
import { httpClause } from '../clause.ts';
import { NotLookedAt } from '../notLookedAt.ts';
import type { ExpectedInfo, Service } from '../service.ts';

const REQUIRED = ['protocol', 'packId', 'packVersion', 'artifactVersion', 'tools', 'checks'];
const OPTIONAL = ['indexHash', 'missingEnv'];

async function infoOf(service: Service): Promise<Readonly<Record<string, unknown>>> {
  const answer = await get(service, '/v1/info');
  assert.equal(answer.status, 200);
  return objectOf(jsonOf(answer), 'info');
}

/** What the index file says; without one the service would be compared with itself. */
function expectedOf({ expectedInfo, isInfoItsOwn }: Service): ExpectedInfo {
  if (isInfoItsOwn === true) throw new NotLookedAt('the index file is not known');
  return expectedInfo;
}

/** Group D: what a service says of itself. */
export const info = [
  httpClause('D28/keys', 'info has the required keys and no unknown one', async (service) => {
    const keys = Object.keys(await infoOf(service));
    for (const key of REQUIRED) assert.ok(keys.includes(key), `"${key}" is missing`);
    for (const key of keys) assert.ok([...REQUIRED, ...OPTIONAL].includes(key), `"${key}" does not belong there`);
  }),

  httpClause('D28/pack', 'info names the pack of the index', async (service) => {
    const { protocol, packId, packVersion, artifactVersion } = await infoOf(service);
    const expectedInfo = expectedOf(service);
    assert.deepEqual(
      [protocol, packId, packVersion, artifactVersion],
      [2, expectedInfo.packId, expectedInfo.packVersion, expectedInfo.artifactVersion],
    );
  }),

  httpClause(
    'D29/tools',
    'every version of a tool is an entry of its own, in the order of the index',
    async (service) => {
      assert.deepEqual((await infoOf(service)).tools, expectedOf(service).tools);
    },
  ),

  httpClause(
    'D29/checks',
    'checks are listed by the ids they are called by, in the order of the index',
    async (service) => {
      assert.deepEqual((await infoOf(service)).checks, expectedOf(service).checks);
    },
  ),

  httpClause(
    'D29/index-hash',
    'the index hash is that of the bytes of the index file',
    async (service) => {
      assert.equal((await infoOf(service)).indexHash, expectedOf(service).indexHash);
    },
    ['D28'],
  ),

  httpClause(
    'D28/missing-env',
    'a pack that needs nothing has an empty list of missing names',
    async (service) => {
      assert.deepEqual((await infoOf(service)).missingEnv, []);
    },
    ['C17'],
  ),
];
