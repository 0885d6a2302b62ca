import { FAULTS_SCHEMA } from './faultsSchema.ts';
import { ROUTING, SETTINGS } from './settingsSchema.ts';
import { SIZE_PATTERN } from './units.ts';

const LISTEN_EXPECTED = '"host:port", "[IPv6]:port", "unix:<path>" or "fd:<number from 3>"';

/** Completes "expected …" where there is no tenant at all. */
export const TENANTS_EXPECTED = 'a mapping with at least one tenant';

/**
 * A part of the schema: JSON Schema 2020-12 and two annotations. `expected` completes "expected …" in a message;
 * `secret` keeps what was found there out of it.
 */
export interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly expected?: string;
  readonly secret?: boolean;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly propertyNames?: Schema;
  readonly minProperties?: number;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly minItems?: number;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly enum?: readonly (string | number)[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}

const tokenSource: Readonly<Record<string, Schema>> = {
  env: {
    type: 'string',
    minLength: 1,
    description: 'Name of a variable of the gateway itself that holds the token.',
    expected: 'the name of an environment variable',
    secret: true,
  },
  file: {
    type: 'string',
    minLength: 1,
    description: 'Path of a file that holds the token; white space around it does not count.',
    expected: 'the path of a file',
    secret: true,
  },
  sha256: {
    type: 'string',
    pattern: '^[0-9A-Fa-f]{64}$',
    description: "SHA-256 of the token's bytes in hex.",
    expected: 'a SHA-256 in 64 hex digits (quoted if they are all digits)',
    secret: true,
  },
};

const ONE_SOURCE: readonly Schema[] = [{ required: ['env'] }, { required: ['file'] }, { required: ['sha256'] }];

const token: Schema = {
  type: 'object',
  additionalProperties: false,
  oneOf: ONE_SOURCE,
  properties: {
    ...tokenSource,
    tenants: {
      type: 'array',
      minItems: 1,
      items: { type: 'string', expected: "a tenant's id (quote it if it looks like a number)" },
      description: 'Ids of the tenants it opens. Default: all.',
      expected: "a list of tenants' ids",
    },
    deployment: {
      type: 'string',
      minLength: 1,
      description:
        "Name of the only deployment of these tenants that it opens, and to which it leads. `default` in a tenant's short form.",
      expected: 'the name of a deployment',
    },
  },
  description: 'Where a token that callers send comes from (16 to 512 printable ASCII characters), and what it opens.',
  expected: 'a mapping with exactly one of env, file and sha256',
  secret: true,
};

const admin: Schema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    listen: {
      type: 'string',
      minLength: 1,
      description:
        'Where operators reach the gateway: `host:port`, `[::1]:port`, `unix:<path>` or `fd:<number>`. Default: the ' +
        'socket `admin.sock` in `stateDir`, for its owner alone.',
      expected: LISTEN_EXPECTED,
    },
    token: {
      type: 'object',
      additionalProperties: false,
      oneOf: ONE_SOURCE,
      properties: tokenSource,
      description: 'Where the token that operators send comes from. Needed where `listen` is no Unix socket.',
      expected: 'a mapping with exactly one of env, file and sha256',
      secret: true,
    },
  },
  description: "The operators' own listener; nothing of it is on the public one.",
  expected: 'a mapping with listen and token',
};

const pack: Schema = {
  type: 'object',
  additionalProperties: false,
  properties: { ...SETTINGS, ...ROUTING },
  description: 'One pack of a tenant, hosted here: a deployment.',
  expected: "a mapping with the deployment's settings",
};

/** One tenant, under `tenants` or as a file of `tenantsDir`. */
export const TENANT_SCHEMA: Schema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    ...SETTINGS,
    ...ROUTING,
    pack: {
      type: 'string',
      minLength: 1,
      description: "Short form: the path of the tenant's only pack. Its deployment is named `default`.",
      expected: "the path of the pack's folder",
    },
    packs: {
      type: 'object',
      additionalProperties: pack,
      propertyNames: {
        pattern: '^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$',
        expected: 'a name of up to 64 letters, digits, ".", "_" and "-" that begins with no "." or "-"',
      },
      minProperties: 1,
      description: "Long form: the tenant's packs by name.",
      expected: 'a mapping with at least one pack',
    },
  },
  description: 'One tenant: its pack or packs, and settings that all of them share.',
  expected: 'a mapping with pack or packs',
};

/** What a configuration may say. Checks that need more than its shape are in the files beside this one. */
export const CONFIGURATION_SCHEMA: Schema = {
  type: 'object',
  additionalProperties: false,
  required: ['tokens'],
  properties: {
    listen: {
      type: 'string',
      minLength: 1,
      description:
        'Where calls are answered: `host:port`, `[::1]:port`, `unix:<path>` or `fd:<number>`. Default: 127.0.0.1:8787.',
      expected: LISTEN_EXPECTED,
    },
    admin,
    stateDir: {
      type: 'string',
      minLength: 1,
      description:
        'Folder for built indexes and records of running processes; one gateway at a time. Default: .packgate.',
      expected: 'the path of a folder',
    },
    tokens: {
      type: 'array',
      minItems: 1,
      items: token,
      description: 'The tokens that callers may send.',
      expected: 'a list with at least one token: { env: NAME }, { file: PATH } or { sha256: HEX }',
      secret: true,
    },
    bodies: {
      type: 'string',
      pattern: SIZE_PATTERN,
      description:
        'Request bodies held at once, at most a quarter of it by one tenant. Default: 64MiB, at least 40MiB.',
      expected: 'a size with its unit, such as "64MiB"',
    },
    memory: {
      type: 'string',
      pattern: SIZE_PATTERN,
      description:
        'Proportional memory (PSS) that all processes of packs together may take; the coldest idle ones make room. At ' +
        'least 1MiB. Default: no budget.',
      expected: 'a size with its unit, such as "2GiB"',
    },
    boots: {
      type: 'integer',
      minimum: 1,
      maximum: 1000,
      description: 'Processes that may be starting at once. Default: the number of CPU cores, at least 2.',
      expected: 'a whole number from 1 to 1000',
    },
    defaults: {
      type: 'object',
      additionalProperties: false,
      properties: SETTINGS,
      description: 'Settings of every deployment that does not set them nearer.',
      expected: "a mapping with deployments' settings",
    },
    tenants: {
      type: 'object',
      additionalProperties: TENANT_SCHEMA,
      propertyNames: {
        pattern: '^[!-~]{1,128}$',
        expected: 'an id of 1 to 128 printable ASCII characters without blanks',
      },
      description: 'The tenants by id. At least one, unless `tenantsDir` is set.',
      expected: TENANTS_EXPECTED,
    },
    tenantsDir: {
      type: 'string',
      minLength: 1,
      description:
        'Folder with a file for each further tenant, `<id>.yaml`, `.yml` or `.json`, that holds what would stand under ' +
        'its id in `tenants`. Paths in it count from that folder.',
      expected: 'the path of a folder',
    },
    faults: FAULTS_SCHEMA,
  },
  description: 'The configuration of packgate.',
  expected: 'a mapping with tokens and tenants',
};
