import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import type { DeploymentSettings } from '../../../../gateway/config/configuration.ts';
import type { LaunchSpec } from '../../../../gateway/runtimes/launchSpec.ts';
import { startProcess } from '../../../../gateway/supervisor/process.ts';
import type { OutputSinks, PackProcess } from '../../../../gateway/supervisor/process.ts';
import type { InstanceRecipe } from '../../../../gateway/supervisor/recipe.ts';
import { PackSource } from '../../../../gateway/supervisor/source.ts';
import { deploymentFolder } from '../../../../gateway/supervisor/stateDir.ts';
import { CHILD_MAIN, PACKS } from '../../../child/support/child.ts';
import { temporaryFolder } from '../../../support/files.ts';

export const SETTINGS: Omit<DeploymentSettings, 'path'> = {
  tenantId: 'a',
  name: 'default',
  isDefault: true,
  hosts: [],
  runtime: { kind: 'node', node: process.execPath },
  env: {},
  envCheck: 'strict',
  bootTimeoutMs: 20_000,
  drainMs: 8_000,
  concurrency: 1,
  queue: { size: 1, waitMs: 1_000 },
  restart: { minMs: 1, maxMs: 1, healthyMs: 1 },
  idleMs: Infinity,
  start: 'lazy',
  recycle: { ageMs: Infinity, calls: Infinity, memoryBytes: Infinity },
};

const SILENT: OutputSinks = { onStdout: () => undefined, onStderr: () => undefined };

/** The text of an index; what is not given is the same each time. */
export function indexText(more: Readonly<Record<string, unknown>> = {}): string {
  const index = { v: 1, packId: 'p', packVersion: '1.0.0', artifactVersion: '20250101.1', tools: [], ...more };
  return `${JSON.stringify(index)}\n`;
}

/** Files by their paths, as text; folders are made. */
export function writeFiles(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}

/** A Node program that stands for the indexer: the pack's folder is its working folder, `output` where it writes to. */
export function writeIndexer(path: string, script: string): string {
  const head = `#!${process.execPath}\nconst fs = require('node:fs');\n`;
  const output = `const output = process.argv[process.argv.indexOf('--output') + 1];\n`;
  const done = `const done = () => console.log(JSON.stringify({ kind: 'ok', value: {} }));\n`;
  writeFileSync(path, head + output + done + script);
  chmodSync(path, 0o755);
  return path;
}

/** What an indexer's script says to write this index as it is in the pack's own file `spec.json`. */
export const WRITE_SPEC = `fs.writeFileSync(output, fs.readFileSync('spec.json')); done();`;

/** A pack and, one after the other, the sources that gateways have for it. */
export class PackSources {
  readonly home = temporaryFolder();
  readonly pack = join(this.home, 'pack');
  readonly stateDir = join(this.home, 'state');
  readonly log: Record<string, unknown>[] = [];
  /** Everything that was launched, the indexers among it. */
  readonly launched: LaunchSpec[] = [];
  source: PackSource;
  #more: Partial<DeploymentSettings> = {};

  constructor(files: Readonly<Record<string, string>>) {
    mkdirSync(this.pack);
    writeFiles(this.pack, files);
    this.source = this.open();
    onTestFinished(() => this.source.settled());
  }

  get settings(): DeploymentSettings {
    return { ...SETTINGS, path: this.pack, ...this.#more };
  }

  /** The folder of the deployment. */
  get folder(): ReturnType<typeof deploymentFolder> {
    return deploymentFolder(this.stateDir, 'a', 'default');
  }

  /** Settings of its own, from now on. */
  with(settings: Partial<DeploymentSettings>): this {
    this.#more = settings;
    this.source.update(this.settings);
    return this;
  }

  /** Makes the pack one of the fixtures. */
  copyFixture(name: string): void {
    cpSync(join(PACKS, name), this.pack, { recursive: true });
  }

  /** A new life of the gateway. */
  open(): PackSource {
    const log = pino({ base: null }, { write: (line: string) => void this.log.push(JSON.parse(line) as never) });
    this.source = new PackSource(this.settings, {
      stateDir: this.stateDir,
      hostEnv: { PATH: process.env.PATH, TMPDIR: tmpdir() },
      launch: (spec, sinks) => {
        // Run from its sources a gateway has no compiled child beside it.
        const args = spec.args.map((arg) => (arg.endsWith('/child/main.js') ? CHILD_MAIN : arg));
        this.launched.push({ ...spec, args });
        return startProcess({ ...spec, args }, sinks);
      },
      log,
      requiresPortProof: false,
    });
    return this.source;
  }

  prepare(isFresh = true, signal = new AbortController().signal): Promise<InstanceRecipe> {
    return this.source.prepare({ isFresh, signal });
  }

  /** As a deployment does once the instance is ready; its code has been copied then. */
  async serve(isFresh = true): Promise<InstanceRecipe> {
    const recipe = await this.prepare(isFresh);
    this.source.keep(recipe);
    await this.source.settled();
    return recipe;
  }

  /** Changes the pack and serves it. */
  async change(files: Readonly<Record<string, string>>): Promise<InstanceRecipe> {
    writeFiles(this.pack, files);
    return this.serve();
  }

  /** Starts an instance and gives what it was started with. */
  launch(recipe: InstanceRecipe, sinks: OutputSinks = SILENT): { spec: LaunchSpec; process: PackProcess } {
    const process = recipe.launch('token', sinks);
    onTestFinished(async () => {
      process.killGroup();
      await process.finished;
    });
    const spec = this.launched.at(-1);
    if (spec === undefined) throw new Error('nothing was launched');
    return { spec, process };
  }

  logged(event: string): Record<string, unknown>[] {
    return this.log.filter((record) => record.event === event);
  }
}

/** The text of the index that a recipe's instances serve. */
export function servedIndex({ index }: InstanceRecipe): string {
  return readFileSync(index.path, 'utf8');
}
