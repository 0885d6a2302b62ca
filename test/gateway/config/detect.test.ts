import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { detectRuntime } from '../../../gateway/config/detect.ts';
import { configurationOf, makeFolder, problemsOf, TENANT_A, withTenant } from './folder.ts';

const detect = async (files: Record<string, string>): Promise<unknown> => detectRuntime(makeFolder(files));

describe('the runtime of a folder', () => {
  it.each(['ts', 'mts', 'mjs', 'js', 'cjs'])(
    'with a kindgi.config.%s is node, and the file is not run',
    async (ending) => {
      expect(await detect({ [`kindgi.config.${ending}`]: 'throw new Error("ran"); process.exit(7)' })).toEqual({
        kind: 'node',
      });
    },
  );

  it('is python where pyproject.toml has [tool.kindgi]', async () => {
    expect(await detect({ 'pyproject.toml': '[tool.kindgi.pack]\nid = "p"' })).toEqual({ kind: 'python' });
    expect(
      await detect({ 'pyproject.toml': '[tool.kindgi]\nlanguage = "python"\nbig = 99999999999999999999' }),
    ).toEqual({
      kind: 'python',
    });
  });

  it('is node where both are there', async () => {
    expect(await detect({ 'kindgi.config.js': '', 'pyproject.toml': '[tool.kindgi]' })).toEqual({ kind: 'node' });
  });

  it.each([
    [{ 'README.md': '' }, 'neither'],
    [{ 'pyproject.toml': '[tool.other]' }, 'a pyproject.toml without [tool.kindgi]'],
    [{ 'pyproject.toml': 'tool = 5' }, 'a pyproject.toml without [tool.kindgi]'],
    [{ 'pyproject.toml': '[tool]\nkindgi = "x"' }, 'a pyproject.toml without [tool.kindgi]'],
    [{ 'pyproject.toml': '[a]\n[tool' }, 'a pyproject.toml that is not valid TOML in line 2'],
    [{ 'pyproject.toml': '[tool.kindgi]\nlanguage = "node"' }, 'a pyproject.toml that names another language'],
    [{ 'pyproject.toml/x': '' }, 'a pyproject.toml that cannot be read: a folder'],
    [{ 'kindgi.config.json': '{}' }, 'only a kindgi.config.json, that of a JVM pack'],
  ])('of %j is unknown', async (files: Record<string, string>, trouble) => {
    expect(await detect(files)).toEqual({ trouble });
  });
});

describe('what runs a pack', () => {
  it('is the virtual environment of the pack where it has one, else python3', async () => {
    const folder = makeFolder({ 'pyproject.toml': '[tool.kindgi]', '.venv/bin/python': '#!/bin/sh\n' });
    const runtimeOf = async (): Promise<unknown> =>
      (await configurationOf(withTenant().replace('packs/a', folder))).deployments[0]?.runtime;
    // What may not be executed is no Python.
    expect(await runtimeOf()).toEqual({ kind: 'python', python: 'python3' });
    chmodSync(join(folder, '.venv/bin/python'), 0o755);
    expect(await runtimeOf()).toEqual({ kind: 'python', python: join(folder, '.venv/bin/python') });
  });

  it('is a command where one is set, with its program made absolute', async () => {
    const { deployments } = await configurationOf(withTenant(`command: [${process.execPath}, --flag, ./script.mjs]`), {
      'packs/a/index.json': '{"v":1}',
    });
    expect(deployments[0]?.runtime).toEqual({ kind: 'command', command: [process.execPath, '--flag', './script.mjs'] });
  });

  it('is what "runtime" says, whatever is in the folder', async () => {
    const { deployments } = await configurationOf(withTenant('runtime: python', 'python: sh'));
    expect(deployments[0]?.runtime).toEqual({ kind: 'python', python: 'sh' });
  });

  it('is asked for where the folder does not tell', async () => {
    const yaml = withTenant().replace('packs/a', 'packs/c');
    expect(await problemsOf(yaml, { 'packs/c/x': '' })).toEqual([
      `packgate.yaml:4:11: tenants.${TENANT_A}.pack: expected a folder with a kindgi.config.{ts,mts,mjs,js,cjs} or a pyproject.toml ` +
        'with [tool.kindgi], got one with neither. Set "runtime" if it is a pack all the same',
    ]);
    expect(await problemsOf(`${yaml}\n    runtime: node`, { 'packs/c/x': '' })).toEqual([]);
  });
});
