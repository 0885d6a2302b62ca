// A configuration that changes under a gateway. The files, the watch and the reading are real; the gateway notes what
// it is told.
import { appendFileSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../gateway/clock.ts';
import { changesBetween, nameOf } from '../../gateway/config/changes.ts';
import type { Configuration } from '../../gateway/config/configuration.ts';
import { load } from '../../gateway/config/load.ts';
import type { Loaded } from '../../gateway/config/load.ts';
import { Reconfiguration } from '../../gateway/reconfigure.ts';
import { until } from '../support/files.ts';
import { HOST_ENV, makeFolder, TENANT_A, TENANT_B, TOKEN, withTenant } from './config/folder.ts';

const INDEX = JSON.stringify({ v: 1, packId: 'p' });

interface Setup {
  readonly files: Readonly<Record<string, string>>;
  /** Instead of reading. */
  readonly read?: (really: () => Promise<Loaded>) => Promise<Loaded>;
  readonly onApply?: () => void;
}

/** A gateway that runs with the `packgate.yaml` of a folder with these files, opened and at rest. */
async function running({ files, read = (really) => really(), onApply = () => undefined }: Setup) {
  const folder = makeFolder(files);
  const really = (): Promise<Loaded> => load('packgate.yaml', { env: HOST_ENV, cwd: folder });
  const loaded = await really();
  if ('problems' in loaded) throw new Error('the first configuration is bad');
  const told: string[] = [];
  let current: Configuration = loaded.configuration;
  let readings = 0;
  const records: Record<string, unknown>[] = [];
  const log = pino(
    { messageKey: 'message' },
    { write: (line: string) => void records.push(JSON.parse(line) as object as Record<string, unknown>) },
  );
  const reconfiguration = new Reconfiguration({
    gateway: {
      apply: (next) => {
        onApply();
        const { added, removed, changed } = changesBetween(current, next);
        current = next;
        const names = {
          added: added.map(nameOf),
          removed: removed.map(nameOf),
          changed: changed.map(({ settings }) => nameOf(settings)),
        };
        for (const [what, which] of Object.entries(names)) told.push(...which.map((name) => `${what} ${name}`));
        if (Object.values(names).every((which) => which.length === 0)) told.push('applied');
        return { ...names, needsRestart: [] };
      },
      indexChanged: (path) => void told.push(`index ${path.slice(folder.length + 1)}`),
    },
    configuration: loaded.configuration,
    read: () => {
      readings += 1;
      return read(really);
    },
    clock: systemClock,
    log,
  });
  onTestFinished(() => reconfiguration.close());
  reconfiguration.open();
  await until('the first look', () => readings > 0);
  // One more, so that the first is over.
  await reconfiguration.reread();
  records.length = 0;
  return {
    folder,
    reconfiguration,
    told,
    records,
    events: () => records.map(({ event }) => String(event)),
    messages: (event: string) =>
      records.filter((record) => record.event === event).map(({ message }) => String(message)),
    readings: () => readings,
    current: () => current,
    write: (name: string, text: string) => writeFileSync(join(folder, name), text),
    path: (name: string) => join(folder, name),
  };
}

const MAIN = `tenantsDir: tenants.d\ntokens: [{ env: TOKEN }]\n`;
const PACK = 'pack: ../packs/a\n';

describe('a configuration that changes on disk', () => {
  it('adds, changes and removes tenants by their files, and moves nobody else', async () => {
    const { told, write, path } = await running({ files: { 'packgate.yaml': MAIN, 'tenants.d/a.yaml': PACK } });
    write('tenants.d/b.yaml', PACK);
    await until('b is added', () => told.length === 1);
    write('tenants.d/b.yaml', `${PACK}idle: 1m\n`);
    await until('b is changed', () => told.length === 2);
    rmSync(path('tenants.d/b.yaml'));
    await until('b is removed', () => told.length === 3);
    expect(told).toEqual(['added b/default', 'changed b/default', 'removed b/default']);
  });

  it('is not touched by half a file; the rest of it is looked at again', async () => {
    const { told, write, path, messages } = await running({
      files: { 'packgate.yaml': MAIN, 'tenants.d/a.yaml': PACK },
    });
    const whole = `pack: "../packs/b"\nidle: 1m\n`;
    for (let round = 1; round <= 3; round += 1) {
      // Cut inside the quotes.
      write('tenants.d/b.yaml', whole.slice(0, 10));
      await until('the half is refused', () => messages('config-rejected').length === round);
      expect(messages('config-rejected').at(-1)).toMatch(
        /^tenants\.d\/b\.yaml:1:\d+: expected valid YAML, got a quote/,
      );
      expect(told).toHaveLength(2 * round - 2);
      appendFileSync(path('tenants.d/b.yaml'), whole.slice(10));
      await until('the whole is taken', () => told.length === 2 * round - 1);
      rmSync(path('tenants.d/b.yaml'));
      await until('it is gone', () => told.length === 2 * round);
    }
    expect(new Set(told)).toEqual(new Set(['added b/default', 'removed b/default']));
  });

  it('that is bad changes nothing, says every problem, and is as good as never written once it is mended', async () => {
    const { told, write, path, readings, messages, events } = await running({
      files: { 'packgate.yaml': withTenant() },
    });
    write('packgate.yaml', withTenant('idle: 5', 'drain: 5'));
    await until('it is refused', () => messages('config-rejected').length === 2);
    expect(messages('config-rejected')[0]).toMatch(/^packgate\.yaml:5:11: .*idle: expected a duration/);
    // In another folder that was not watched before, and is looked at once more.
    write('packgate.yaml', withTenant('idle: 5', 'env: { K: { file: none/key.txt } }'));
    await until('it is refused again', () => messages('config-rejected').length === 4);
    utimesSync(path('packgate.yaml'), new Date(), new Date());
    const before = readings();
    await until('it is read', () => readings() > before);
    write('packgate.yaml', withTenant());
    await until('it is good again', () => events().includes('config-unchanged'));
    expect(messages('config-rejected')).toHaveLength(4);
    expect(told).toEqual([]);
  });

  it('is taken when what it lacked appears: a secret’s file, a folder', async () => {
    const { told, write, messages } = await running({ files: { 'packgate.yaml': withTenant() } });
    write('packgate.yaml', withTenant('env: { K: { file: key.txt } }'));
    await until('it is refused', () => messages('config-rejected').length === 1);
    write('key.txt', 'secret');
    await until('it is applied', () => told.length > 0);
    write('key.txt', 'another');
    await until('it is applied again', () => told.length > 1);
    expect(told).toEqual([`changed ${TENANT_A}/default`, `changed ${TENANT_A}/default`]);
  });

  it('takes a token that was rotated in its file', async () => {
    const { told, write, path, current } = await running({
      files: { 'packgate.yaml': withTenant().replace('env: TOKEN', 'file: caller.token'), 'caller.token': TOKEN },
    });
    const before = current().tokens;
    write('next', `${TOKEN}-rotated`);
    renameSync(path('next'), path('caller.token'));
    await until('it is applied', () => told.length > 0);
    expect(told).toEqual(['applied']);
    expect(current().tokens).not.toEqual(before);
  });

  it('is not applied when it says the same: touched, rewritten, commented', async () => {
    const { told, write, path, readings, events } = await running({
      files: { 'packgate.yaml': withTenant(), 'packs/a/index.json': INDEX },
    });
    for (const change of [
      () => utimesSync(path('packgate.yaml'), new Date(), new Date()),
      () => write('packgate.yaml', readFileSync(path('packgate.yaml'), 'utf8')),
      () => write('packgate.yaml', `# a comment\n${withTenant()}`),
    ]) {
      const before = readings();
      change();
      await until('it is read', () => readings() > before);
    }
    // An index is not even read again as a configuration.
    write('packs/a/index.json', INDEX);
    write('packgate.yaml', withTenant('idle: 1m'));
    await until('the last change is applied', () => told.length > 0);
    expect(told).toEqual([`changed ${TENANT_A}/default`]);
    expect(events()).toEqual(['config-applied']);
  });
});

it('a change is not forgotten when an index is written while it is read', async () => {
  let whileReading: (() => void) | undefined;
  const { told, write } = await running({
    files: { 'packgate.yaml': withTenant('index: i.json'), 'i.json': INDEX },
    read: async (really) => {
      const loaded = await really();
      whileReading?.();
      whileReading = undefined;
      return loaded;
    },
  });
  whileReading = () => write('i.json', `${INDEX}\n`);
  write('packgate.yaml', withTenant('index: i.json', 'idle: 1m'));
  await until('both are told of', () => told.length > 1);
  expect(told.toSorted()).toEqual([`changed ${TENANT_A}/default`, 'index i.json']);
});

describe('an index that is served', () => {
  it('is told of when its bytes change, each file once for all who serve it', async () => {
    const { told, write, path, events } = await running({
      files: {
        'packgate.yaml': `${withTenant('index: i.json')}\n  ${TENANT_B}: { pack: packs/b, index: i.json }`,
        'i.json': INDEX,
      },
    });
    utimesSync(path('i.json'), new Date(), new Date());
    write('next', `${INDEX}\n`);
    renameSync(path('next'), path('i.json'));
    await until('it is told of', () => told.length > 0);
    write('i.json', INDEX);
    await until('it is told of again', () => told.length > 1);
    expect(told).toEqual(['index i.json', 'index i.json']);
    expect(events()).toEqual(['index-changed', 'index-changed']);
  });

  it('is told of although the configuration is bad just now', async () => {
    const { told, write, messages } = await running({
      files: { 'packgate.yaml': withTenant('index: i.json'), 'i.json': INDEX },
    });
    write('packgate.yaml', 'bad');
    await until('it is refused', () => messages('config-rejected').length > 0);
    write('i.json', `${INDEX}\n`);
    await until('it is told of', () => told.length > 0);
    expect(told).toEqual(['index i.json']);
  });

  it('that goes is another configuration: the next one is found, or built', async () => {
    const { told, path, current } = await running({
      files: { 'packgate.yaml': withTenant(), 'packs/a/dist/index.json': INDEX, 'packs/a/index.json': INDEX },
    });
    rmSync(path('packs/a/dist/index.json'));
    await until('another is served', () => told.length === 1);
    expect(current().deployments[0]?.index).toBe(path('packs/a/index.json'));
    rmSync(path('packs/a/index.json'));
    await until('it is built', () => told.length === 2);
    expect(current().deployments[0]?.index).toBeUndefined();
    expect(told).toEqual([`changed ${TENANT_A}/default`, `changed ${TENANT_A}/default`]);
  });

  it('is not told of where the deployment is started anew anyway', async () => {
    const { reconfiguration, told, write } = await running({
      files: { 'packgate.yaml': withTenant('index: i.json'), 'i.json': INDEX, 'all.env': 'A=1' },
    });
    write('i.json', `${INDEX}\n`);
    write('packgate.yaml', withTenant('index: i.json', 'concurrency: 3'));
    const reread = await reconfiguration.reread();
    expect(reread).toMatchObject({ ok: true, changed: [`${TENANT_A}/default`] });
    expect(told).toEqual([`changed ${TENANT_A}/default`]);
  });
});

describe('a reread', () => {
  it('tells what came of it, and needs no watch', async () => {
    const { reconfiguration, write, told } = await running({
      files: { 'packgate.yaml': withTenant('index: i.json'), 'i.json': INDEX },
    });
    write('packgate.yaml', `${withTenant('index: i.json')}\n  ${TENANT_B}: { pack: packs/b }`);
    write('i.json', `${INDEX}\n`);
    expect(await reconfiguration.reread()).toEqual({
      ok: true,
      added: [`${TENANT_B}/default`],
      removed: [],
      changed: [`${TENANT_A}/default`],
      needsRestart: [],
    });
    expect(told).toEqual([`added ${TENANT_B}/default`, 'index i.json']);
    write('packgate.yaml', '5');
    expect(await reconfiguration.reread()).toEqual({
      ok: false,
      problems: ['packgate.yaml:1:1: expected a mapping with tokens and tenants, got the number 5'],
    });
    expect(told).toHaveLength(2);
  });

  it('says each time which keys wait for a restart, until one comes', async () => {
    const { reconfiguration, write } = await running({ files: { 'packgate.yaml': withTenant() } });
    write('packgate.yaml', `bodies: 65MiB\n${withTenant()}`);
    expect(await reconfiguration.reread()).toMatchObject({ ok: true, needsRestart: ['bodies'] });
    expect(await reconfiguration.reread()).toMatchObject({ ok: true, needsRestart: ['bodies'] });
    write('packgate.yaml', withTenant());
    expect(await reconfiguration.reread()).toMatchObject({ ok: true, needsRestart: [] });
  });

  it('that is asked for during another is done once more after it, for all who asked', async () => {
    const open: (() => void)[] = [];
    let isHeld = false;
    const { reconfiguration, readings, write, told } = await running({
      files: { 'packgate.yaml': withTenant() },
      read: async (really) => {
        const loaded = await really();
        if (isHeld) await new Promise<void>((resolve) => void open.push(resolve));
        return loaded;
      },
    });
    isHeld = true;
    const before = readings();
    const first = reconfiguration.reread();
    await until('the first has read', () => open.length === 1);
    write('packgate.yaml', withTenant('idle: 1m'));
    const [second, third] = [reconfiguration.reread(), reconfiguration.reread()];
    isHeld = false;
    open[0]?.();
    expect(await first).toMatchObject({ ok: true, changed: [] });
    expect(await second).toMatchObject({ ok: true, changed: [`${TENANT_A}/default`] });
    expect(await third).toBe(await second);
    expect(told).toHaveLength(1);
    expect(readings()).toBeGreaterThanOrEqual(before + 2);
  });

  it('of a gateway that drains changes nothing', async () => {
    const { reconfiguration, write, told } = await running({ files: { 'packgate.yaml': withTenant() } });
    write('packgate.yaml', withTenant('idle: 1m'));
    const reread = reconfiguration.reread();
    reconfiguration.close();
    expect(await reread).toEqual({ ok: false, problems: ['the gateway is draining'] });
    expect(told).toEqual([]);
  });

  it('that meets a bug of ours fails and is logged; the next one is tried', async () => {
    let isBroken = true;
    const { reconfiguration, write, told, events } = await running({
      files: { 'packgate.yaml': withTenant() },
      onApply: () => {
        if (isBroken) throw new Error('the bug');
      },
    });
    write('packgate.yaml', withTenant('idle: 1m'));
    expect(await reconfiguration.reread()).toMatchObject({ ok: false });
    expect(events()).toContain('internal-error');
    isBroken = false;
    expect(await reconfiguration.reread()).toMatchObject({ ok: true, changed: [`${TENANT_A}/default`] });
    expect(told).toHaveLength(1);
  });
});

it('what changed between the first reading and the watch is found', async () => {
  let isFirst = true;
  const { told } = await running({
    files: { 'packgate.yaml': withTenant() },
    read: async (really) => {
      const loaded = await really();
      if (!isFirst || 'problems' in loaded) return loaded;
      isFirst = false;
      return { ...loaded, configuration: { ...loaded.configuration, boots: 99 } };
    },
  });
  await until('it is applied', () => told.length > 0);
  expect(told[0]).toBe('applied');
});
