import type { Schema } from './schema.ts';
import { DURATION_PATTERN, SIZE_PATTERN } from './units.ts';

/** Names an environment can have (E2). */
export const ENV_NAME_PATTERN = '^[A-Za-z_][A-Za-z0-9_]*$';

const duration = (description: string): Schema => ({
  type: 'string',
  pattern: DURATION_PATTERN,
  description,
  expected: 'a duration with its unit, such as "250ms", "8s" or "15m"',
});

const count = (minimum: number, maximum: number, description: string): Schema => ({
  type: 'integer',
  minimum,
  maximum,
  description,
  expected: `a whole number from ${minimum} to ${maximum}`,
});

const path = (description: string, expected: string): Schema => ({
  type: 'string',
  minLength: 1,
  description,
  expected,
});

const options = (values: readonly string[], description: string): Schema => ({
  enum: values,
  description,
  expected: values.map((value) => `"${value}"`).join(' or '),
});

const envValue: Schema = {
  description:
    'A text; `{ env: NAME }`, a variable of the gateway itself, which must be set; or `{ file: PATH }`, the text of a ' +
    'file without the line ends at its end.',
  expected: 'a text (quote numbers), { env: NAME } or { file: PATH }',
  secret: true,
  anyOf: [
    { type: 'string' },
    {
      type: 'object',
      required: ['env'],
      additionalProperties: false,
      properties: { env: { type: 'string', pattern: ENV_NAME_PATTERN } },
    },
    {
      type: 'object',
      required: ['file'],
      additionalProperties: false,
      properties: { file: { type: 'string', minLength: 1 } },
    },
  ],
};

/** Settings of a deployment that may stand in `defaults`, in a tenant and in a pack; the nearest wins. */
export const SETTINGS: Readonly<Record<string, Schema>> = {
  path: path("The pack's folder: module root and working folder.", "the path of the pack's folder"),
  index: path(
    'The index file that is served. Default: `<path>/dist/index.json`, else `<path>/index.json`, else it is built at start.',
    'the path of an index file',
  ),
  indexHash: {
    type: 'string',
    pattern: '^(?:sha256:)?[0-9A-Fa-f]{64}$',
    description:
      "SHA-256 of the index file's bytes, `sha256:HEX`: an index of any other is not served. Default: any is.",
    expected: '"sha256:" and 64 hex digits',
  },
  runtime: options(
    ['node', 'python', 'command'],
    'What serves the pack. Default: `command` where a command is set, `node` for a `kindgi.config.*`, `python` for a ' +
      '`pyproject.toml` with `[tool.kindgi]`.',
  ),
  node: path('The Node that runs the pack service: a path, or a name on PATH. Default: this one.', 'an executable'),
  python: path(
    'The Python that runs `kindgi.pack`: a path, or a name on PATH. Default: `<path>/.venv/bin/python`, else `python3`.',
    'an executable',
  ),
  command: {
    type: 'array',
    minItems: 1,
    items: { type: 'string', minLength: 1, expected: 'a text (quote numbers)' },
    description:
      'The argv of any pack service that keeps the process contract; `--index`, `--module-root` and `--host` are appended.',
    expected: 'a list of texts, the program first',
  },
  env: {
    type: 'object',
    additionalProperties: envValue,
    propertyNames: {
      pattern: ENV_NAME_PATTERN,
      expected: 'a name of letters, digits and underscores that begins with no digit',
    },
    description:
      "The pack's own environment. Nearer names are added to farther ones; at one level `env` wins over `envFiles`.",
    expected: 'a mapping from names to values',
    secret: true,
  },
  envFiles: {
    type: 'array',
    items: { type: 'string', minLength: 1, expected: 'the path of a dotenv file' },
    description: 'Dotenv files, read in this order; the later one wins.',
    expected: 'a list of paths of dotenv files',
  },
  envCheck: options(
    ['strict', 'warn'],
    'Whether a pack is served although a name it requires has no value. Default: `strict`, it is not.',
  ),
  bootTimeout: duration('From the start of a process to its being ready. Default: 60s.'),
  drain: duration("From SIGTERM to SIGKILL, to which the runtime's own margin is added. Default: 8s."),
  concurrency: count(1, 100_000, 'Calls in flight per process. Default: 32.'),
  queue: {
    type: 'object',
    additionalProperties: false,
    properties: {
      size: count(0, 1_000_000, 'Calls that may wait. Default: 1000.'),
      wait: duration('How long a call may wait, never past its own deadline. Default: 30s.'),
    },
    description: 'Calls that wait for their turn, or for a process.',
    expected: 'a mapping with size and wait',
  },
  restart: {
    type: 'object',
    additionalProperties: false,
    properties: {
      min: duration('Delay after the first failure that has one. Default: 250ms.'),
      max: duration('The delay grows no further. Default: 60s.'),
      healthy: duration('Failures are forgiven after that long without one. Default: 60s.'),
    },
    description: 'The growing delay before a process that failed is started again.',
    expected: 'a mapping with min, max and healthy',
  },
  idle: {
    type: 'string',
    pattern: `${DURATION_PATTERN}|^never$`,
    description: 'A process that got no call for that long is stopped; `never`. Default: 15m.',
    expected: 'a duration with its unit, such as "90s" or "15m", or "never"',
  },
  start: options(
    ['lazy', 'eager'],
    'When there is a process: `lazy`, from the first call until it was idle; `eager`, always. Default: `lazy`.',
  ),
  recycle: {
    type: 'object',
    additionalProperties: false,
    properties: {
      age: duration('It is that old. At least 1s. Default: never.'),
      calls: count(1, 1_000_000_000, 'It was given so many calls. Default: never.'),
      memory: {
        type: 'string',
        pattern: SIZE_PATTERN,
        description: 'It takes so much proportional memory (PSS). At least 1MiB. Default: never.',
        expected: 'a size with its unit, such as "512MiB"',
      },
    },
    description: 'When a process is replaced by a new one, without a lost call. The first that is reached counts.',
    expected: 'a mapping with age, calls and memory',
  },
};

/** What belongs to one deployment alone: in a pack, or in a tenant of the short form. */
export const ROUTING: Readonly<Record<string, Schema>> = {
  hosts: {
    type: 'array',
    items: {
      type: 'string',
      pattern: '^[A-Za-z0-9_](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?(?:\\.[A-Za-z0-9_](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?)*$',
      maxLength: 253,
      expected: 'a host name without scheme, port and path',
    },
    description: 'Hosts that lead to this deployment; letter case does not matter.',
    expected: 'a list of host names',
  },
  deploymentId: {
    type: 'string',
    pattern: '^[!-~]{1,128}$',
    description: "Kindgi's id of this deployment: hosts that begin with its service name lead here.",
    expected: '1 to 128 printable ASCII characters without blanks',
  },
  default: {
    type: 'boolean',
    description: 'Gets the calls that nothing else leads elsewhere. Needed once where a tenant has several packs.',
    expected: 'true or false',
  },
};
