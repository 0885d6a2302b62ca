import { describe, expect, it } from 'vitest';
import { load } from '../../../gateway/config/load.ts';
import { problemText } from '../../../gateway/config/problem.ts';
import { loadYaml, makeFolder, problemsOf, TENANT_A, TENANT_B, withTenant } from './folder.ts';

const INDEX = JSON.stringify({ v: 1, packId: 'p' });

describe('problems', () => {
  it('are all shown at once, in the order of the file, each with its place', async () => {
    const problems = await problemsOf(`lisen: 127.0.0.1:8787
tls: {}
idle: 5m
bodies: 39MiB
tokens:
  - { env: NOPE }
  - { file: secrets/none }
defaults: { idle: 15, drian: 8s }
tenants:
  "a b": { pack: packs/a }
  ${TENANT_A}: { pack: packs/nope, limits: {} }
  ${TENANT_B}:
    packs:
      billing: { path: packs/b, hosts: [x.example.com] }
      crm: { path: packs/nope, hosts: [X.example.com], index: none.json, restart: { min: 5s, max: 1s } }
`);
    expect(problems).toEqual([
      'packgate.yaml:1:1: lisen: expected a known key, got "lisen". Did you mean "listen"?',
      'packgate.yaml:2:1: tls: expected a setting that this version has, got "tls", which is not supported yet. Remove it',
      'packgate.yaml:3:1: idle: expected a known key, got "idle". It belongs in "defaults", in a tenant or in a pack',
      'packgate.yaml:4:9: bodies: expected at least "40MiB": a quarter must hold one body of 10 MiB, got "39MiB"',
      'packgate.yaml:6:12: tokens[0].env: expected the name of a variable that holds a token, got NOPE, which is not set',
      'packgate.yaml:7:13: tokens[1].file: expected a file that can be read, got no such file',
      'packgate.yaml:8:19: defaults.idle: expected a duration with its unit, such as "90s" or "15m", or "never", got the number 15',
      'packgate.yaml:8:23: defaults.drian: expected a known key, got "drian". Did you mean "drain"?',
      'packgate.yaml:10:3: tenants."a b": expected an id of 1 to 128 printable ASCII characters without blanks, got "a b"',
      `packgate.yaml:11:49: tenants.${TENANT_A}.pack: expected the path of the pack's folder, got "packs/nope", which does not exist`,
      `packgate.yaml:11:61: tenants.${TENANT_A}.limits: expected a setting that this version has, got "limits", which is not supported yet. Remove it`,
      `packgate.yaml:13:5: tenants.${TENANT_B}.packs: expected exactly one default among several packs, got none. ` +
        'Write "default: true" in the one that gets the calls that nothing else leads elsewhere',
      `packgate.yaml:15:20: tenants.${TENANT_B}.packs.crm.path: expected the path of the pack's folder, got "packs/nope", which does not exist`,
      `packgate.yaml:15:40: tenants.${TENANT_B}.packs.crm.hosts[0]: expected a host of its own, got x.example.com, which tenants.${TENANT_B}.packs.billing has, too`,
      `packgate.yaml:15:63: tenants.${TENANT_B}.packs.crm.index: expected an index file of version 1, got no such file`,
      `packgate.yaml:15:99: tenants.${TENANT_B}.packs.crm.restart.max: expected a restart.max that is no shorter than restart.min, got 1000 ms for max and 5000 ms for min`,
    ]);
  });

  it.each(['tls', 'requireIsolation'])('%s is not supported yet', async (name) => {
    const [problem, ...others] = await problemsOf(`${name}: 1\n${withTenant()}`);
    expect(problem).toContain(`packgate.yaml:1:1: ${name}: expected a setting that this version has`);
    expect(problem).toContain('not supported yet');
    expect(others).toEqual([]);
  });

  it.each(['isolation', 'user', 'limits'])('%s is not supported yet, wherever it stands', async (name) => {
    const problems = await problemsOf(`${withTenant(`${name}: 1`)}
  ${TENANT_B}: { packs: { p: { path: packs/a, ${name}: 1 } } }
defaults: { ${name}: 1 }`);
    expect(problems).toHaveLength(3);
    for (const problem of problems) expect(problem).toContain('not supported yet');
  });

  it('do not hide each other', async () => {
    expect(await problemsOf('lisen: x\ntenants: { t: { idle: 5 } }')).toHaveLength(4);
    expect(await problemsOf('tokns: []\ntenants: { t: { pakc: packs/a } }')).toEqual([
      'packgate.yaml:1:1: tokns: expected a known key, got "tokns". Did you mean "tokens"?',
      'packgate.yaml:2:17: tenants.t.pakc: expected a known key, got "pakc". Did you mean "pack"?',
    ]);
  });

  it('say nothing of what only follows from another problem', async () => {
    expect(
      await problemsOf(`tokens: [{ env: TOKEN, tenants: [${TENANT_A}], deployment: x }]\ntenants: { ${TENANT_A}: 5 }`),
    ).toEqual([`packgate.yaml:2:50: tenants.${TENANT_A}: expected a mapping with pack or packs, got the number 5`]);
    expect(await problemsOf(withTenant().replace('packs/a', '5'))).toHaveLength(1);
    expect(await problemsOf(withTenant('runtime: command', 'command: []'))).toHaveLength(1 + 1 /* no index */);
    expect(
      await problemsOf(
        `tokens: [{ env: TOKEN }]\ntenants: { t: { packs: { a: { path: packs/a, default: 1 }, b: { path: packs/b } } } }`,
      ),
    ).toHaveLength(1);
    expect(await problemsOf('tokens: [{ evn: TOKEN }]\ntenants: { t: { pack: packs/a } }')).toEqual([
      'packgate.yaml:1:12: tokens[0].evn: expected a known key, got "evn". Did you mean "env"?',
    ]);
  });

  it.each([
    ['', 'expected a mapping with tokens and tenants, got nothing'],
    ['# nothing', 'expected a mapping with tokens and tenants, got nothing'],
    ['text', 'expected a mapping with tokens and tenants, got "text"'],
    ['[]', 'expected a mapping with tokens and tenants, got an empty list'],
    ['5', 'expected a mapping with tokens and tenants, got the number 5'],
  ])('of a file with %j are said in one line', async (yaml, text) => {
    expect(await problemsOf(yaml)).toEqual([`packgate.yaml:1:1: ${text}`]);
  });

  it('of an empty mapping name both things that must be there', async () => {
    const problems = await problemsOf('{}');
    expect(problems).toHaveLength(2);
    expect(problems[0]).toContain('tokens: expected a list with at least one token');
    expect(problems[1]).toContain('tenants: expected a mapping with at least one tenant');
  });

  it('of the text itself come with its place, and the rest is judged where it can be', async () => {
    expect(await problemsOf(`${withTenant('idle: 5')}\ntokens: []\n`)).toEqual([
      `packgate.yaml:5:11: tenants.${TENANT_A}.idle: expected a duration with its unit, such as "90s" or "15m", or "never", got the number 5`,
      'packgate.yaml:6:1: expected every key once, got one a second time',
    ]);
  });

  it('of a file that is not there name it', async () => {
    const cwd = makeFolder();
    for (const [file, shown, got] of [
      ['none.yaml', 'none.yaml', 'no such file'],
      ['packs', 'packs', 'a folder'],
      ['/nowhere/x.yaml', '/nowhere/x.yaml', 'no such file'],
    ] as const) {
      const loaded = await load(file, { env: {}, cwd });
      expect('problems' in loaded && loaded.problems.map(problemText)).toEqual([
        `${shown}: expected a configuration file, got ${got}. Name another with -c <file>`,
      ]);
    }
  });
});

describe('one problem each', () => {
  const index = { 'packs/a/index.json': INDEX };
  const packs = (a: string, b: string): string =>
    `tokens: [{ env: TOKEN }]\ntenants:\n  ${TENANT_B}:\n    packs:\n      a: { path: packs/a, ${a} }\n      b: { path: packs/b, ${b} }`;

  it.each<[name: string, yaml: string, text: string, files?: Record<string, string>]>([
    ['an unknown setting', withTenant('bootTimeot: 5s'), 'Did you mean "bootTimeout"?'],
    [
      'an unknown setting that is near nothing',
      withTenant('colour: red'),
      'Known here: path, index, indexHash, runtime',
    ],
    ['a key of the top in a tenant', withTenant('stateDir: x'), 'It belongs at the top of the file'],
    ['a part that is unknown', withTenant('queue: { sise: 5 }'), 'Did you mean "size"?'],
    ['a duration without a unit', withTenant('drain: 8'), 'a duration with its unit'],
    ['a duration in words', withTenant('drain: soon'), 'got "soon"'],
    ['a duration too long for a timer', withTenant('idle: 30d'), 'a duration of at most 24 days'],
    ['no boot time at all', withTenant('bootTimeout: 0s'), 'a duration above zero'],
    ['a size without a unit', `bodies: 67108864\n${withTenant()}`, 'a size with its unit'],
    ['a size beyond counting', `bodies: 99999999999GiB\n${withTenant()}`, 'a size that can be counted'],
    ['a concurrency of none', withTenant('concurrency: 0'), 'a whole number from 1 to 100000, got the number 0'],
    ['a concurrency in parts', withTenant('concurrency: 1.5'), 'a whole number from 1'],
    ['a queue below none', withTenant('queue: { size: -1 }'), 'a whole number from 0'],
    ['a budget below the smallest', `memory: 1023KiB\n${withTenant()}`, 'at least "1MiB", got "1023KiB"'],
    ['a budget without a unit', `memory: 5\n${withTenant()}`, 'memory: expected a size with its unit, such as "2GiB"'],
    ['a budget beyond counting', `memory: 99999999999GiB\n${withTenant()}`, 'a size that can be counted'],
    ['no boot at all', `boots: 0\n${withTenant()}`, 'boots: expected a whole number from 1 to 1000'],
    ['a start that is unknown', withTenant('start: early'), 'start: expected "lazy" or "eager", got "early"'],
    ['a life too short', withTenant('recycle: { age: 999ms }'), 'age: expected a duration of at least 1000 ms'],
    ['a life too long', withTenant('recycle: { age: 30d }'), 'a duration of at most 24 days'],
    ['a life of no call', withTenant('recycle: { calls: 0 }'), 'calls: expected a whole number from 1 to'],
    ['a life of little memory', withTenant('recycle: { memory: 1B }'), 'memory: expected a size of at least "1MiB"'],
    ['a life beyond counting', withTenant('recycle: { memory: 99999999999GiB }'), 'a size that can be counted'],
    ['an unknown reason to recycle', withTenant('recycle: { ages: 5s }'), 'Did you mean "age"?'],
    ['half a hash', withTenant(`indexHash: "sha256:${'a'.repeat(63)}"`), '"sha256:" and 64 hex digits'],
    ['another hash', withTenant(`indexHash: "sha512:${'a'.repeat(64)}"`), '"sha256:" and 64 hex digits'],
    ['an unknown check', withTenant('envCheck: maybe'), '"strict" or "warn", got "maybe"'],
    ['an unknown runtime', withTenant('runtime: ruby'), '"node" or "python" or "command"'],
    ['a delay that shrinks', withTenant('restart: { min: 2m }'), 'no shorter than restart.min'],
    ['a pack folder that is a file', withTenant().replace('packs/a', 'packgate.yaml'), 'got the file "packgate.yaml"'],
    [
      'a state folder that is a file',
      `stateDir: packgate.yaml\n${withTenant()}`,
      'stateDir: expected the path of a folder',
    ],
    [
      'no pack at all',
      'tokens: [{ env: TOKEN }]\ntenants: { t: {} }',
      'expected "pack" (the folder of its pack) or "packs"',
    ],
    [
      'a pack without a folder',
      packs('default: true', 'default: false').replace('path: packs/b, ', ''),
      "a path: the pack's folder",
    ],
    ['both forms', withTenant('packs: { a: { path: packs/b } }'), 'either "pack" or "packs", got both'],
    ['two folders', withTenant('path: packs/b'), 'either "pack" or "path", got both'],
    [
      'a host beside packs',
      `${packs('default: true', 'deploymentId: x')}\n    hosts: [h]`,
      'Move it into one of the packs',
    ],
    [
      'no packs in packs',
      'tokens: [{ env: TOKEN }]\ntenants: { t: { packs: {} } }',
      'at least one pack, got an empty mapping',
    ],
    [
      'a bad name of a pack',
      'tokens: [{ env: TOKEN }]\ntenants: { t: { packs: { a/b: { path: packs/a } } } }',
      'got "a/b"',
    ],
    ['no default', packs('hosts: [a]', 'hosts: [b]'), 'exactly one default among several packs, got none'],
    ['two defaults', packs('default: true', 'default: true'), 'got "a" and "b"'],
    [
      'a host used twice',
      packs('default: true, hosts: [h.example]', 'hosts: [H.Example]'),
      'h.example, which tenants.',
    ],
    ['a host twice in one list', withTenant('hosts: [a, A]'), 'which it has already'],
    ['a host with a port', withTenant('hosts: [a.example:80]'), 'a host name without scheme, port and path'],
    ['a host with a scheme', withTenant('hosts: [https://a.example]'), 'a host name without scheme'],
    [
      'one service name twice',
      packs('default: true, deploymentId: d', 'deploymentId: d'),
      'a service name of its own, got kp-',
    ],
    ['a deployment id with blanks', withTenant('deploymentId: a b'), '1 to 128 printable ASCII characters'],
    ['a command without an index', withTenant('command: [node, x.js]'), 'an index (dist/index.json or index.json)'],
    [
      'a runtime command without one',
      withTenant('runtime: command'),
      'a "command" where the runtime is "command"',
      index,
    ],
    ['a command that is no list', withTenant('command: node x.js'), 'a list of texts, the program first'],
    [
      'a number in a command',
      withTenant('command: [node, 5]'),
      'command[1]: expected a text (quote numbers), got the number 5',
      index,
    ],
    [
      'a command that is not there',
      withTenant('command: [./serve]'),
      'command[0]: expected an executable, got "./serve", which does not exist',
      index,
    ],
    ['a Node that is not there', withTenant('node: /nowhere/node'), 'got "/nowhere/node", which does not exist'],
    ['a Python that is not there', withTenant('runtime: python', 'python: venv/bin/python'), 'which does not exist'],
    ['a Python that cannot run', withTenant('runtime: python', 'python: ./packgate.yaml'), 'which may not be executed'],
    ['an index that is missing', withTenant('index: none.json'), 'an index file of version 1, got no such file'],
    ['an index that is a folder', withTenant('index: packs'), 'got a folder'],
    ['an index that is not JSON', withTenant('index: i.json'), 'got a file that is not JSON', { 'i.json': '{' }],
    ['an index that is a list', withTenant('index: i.json'), 'got JSON, but no object', { 'i.json': '[]' }],
    ['an index of another version', withTenant('index: i.json'), 'whose "v" is the number 2', { 'i.json': '{"v":2}' }],
    ['an index without a version', withTenant('index: i.json'), 'whose "v" is missing', { 'i.json': '{}' }],
  ])('%s', async (_name, yaml, text, files = {}) => {
    const problems = await problemsOf(yaml, files);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(text);
    expect(problems[0]).toMatch(/^packgate\.yaml:\d+:\d+: /);
  });

  it('of a shared setting is shown once, not once for each deployment', async () => {
    expect(
      await problemsOf(
        `tokens: [{ env: TOKEN }]\ndefaults: { index: none, node: /none, idle: 30d, env: { A: { env: NONE } } }\n` +
          `tenants: { ${TENANT_A}: { pack: packs/a }, ${TENANT_B}: { pack: packs/b } }`,
      ),
    ).toHaveLength(4);
  });
});

it('no secret is in any message', async () => {
  const secret = 'hunter2-hunter2-hunter2';
  const short = 'hunter2';
  const loaded = await loadYaml(
    `tokens:
  - ${secret}
  - { ${secret} }
  - { sha256: ${secret} }
  - { sha256: [${secret}] }
  - { env: BAD }
  - { file: bad.token }
  - { env: ${secret} ${secret} }
defaults:
  env: { A: [${secret}], B: { ${secret}: 1 }, C: { env: '${secret}' } }
  envFiles: [bad.env]
tenants:
  t: { pack: packs/a, env: ${secret} }
  u: { pack: packs/a, env: [${secret}] }
`,
    { 'bad.token': `${short} ${short}`, 'bad.env': `A=1\n${short} ${short}\nB="${secret}"\n` },
    { BAD: short },
  );
  expect('problems' in loaded && loaded.problems.length).toBe(13);
  expect(JSON.stringify(loaded)).not.toContain(short);
});
