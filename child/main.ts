#!/usr/bin/env node
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { ENV, EXIT } from '../shared/process/contract.ts';

const USAGE = `packgate-child: the Node pack service and indexer

  packgate-child serve [--index FILE] [--module-root FOLDER] [--host ADDRESS] [--bundle-map FILE]
  packgate-child index --pack-dir FOLDER [--output FILE] [--json] [--strict] …

Example: KINDGI_PACK_SERVICE_TOKEN=secret PORT=8080 packgate-child serve --index dist/index.json --module-root .
"packgate-child index --help" says more about the indexer.
`;

async function main(): Promise<number> {
  const [command, ...args] = process.argv.slice(2);
  return command === 'later' ? runLater(args) : run(command, args);
}

/** Started ahead of its time: `later serve` does what can be done before its orders come on standard input. */
async function runLater([command]: readonly string[]): Promise<number> {
  const { warmBuilder } = await import('./modules/builder.ts');
  await Promise.all([warmBuilder(), import('./modules/bundle.ts')]);
  if (command === 'index') {
    await import('./index/run.ts');
    await (await import('./index/warm.ts')).warmIndexer();
  } else await import('./serve/run.ts');
  const { waitForOrders } = await import('./later.ts');
  const orders = await waitForOrders(process.stdin);
  if (orders === undefined) return EXIT.ok;
  Object.assign(process.env, orders.env);
  return run(command, orders.args);
}

async function run(command: string | undefined, args: readonly string[]): Promise<number> {
  switch (command) {
    case 'serve': {
      const { serve } = await import('./serve/run.ts');
      return serve({ args, env: process.env, cwd: process.cwd(), log, onStopSignal, onLoopEmpty, buildDir, keptDir });
    }
    case 'index': {
      const { index } = await import('./index/run.ts');
      keepPackCodeOut();
      const stdout = (text: string): void => void writeOut(text);
      return index({ args, cwd: process.cwd(), stdout, stderr: log.write, onLoopEmpty, buildDir, keptDir, version });
    }
    case '--help':
    case '-h':
      process.stdout.write(USAGE);
      return EXIT.ok;
    case undefined:
    default:
      process.stderr.write(USAGE);
      return EXIT.usage;
  }
}

const log = {
  write: (line: string): void => void process.stderr.write(line),
  isTerminal: process.stderr.isTTY === true,
};

function onStopSignal(listener: () => void): void {
  process.on('SIGTERM', listener);
  process.on('SIGINT', listener);
}

function onLoopEmpty(listener: () => void): () => void {
  process.once('beforeExit', listener);
  return () => process.off('beforeExit', listener);
}

/**
 * Indexing runs a pack's modules: what they print is no part of the report, and one that ends the process fails like one
 * that throws (E19).
 */
function keepPackCodeOut(): void {
  process.stdout.write = process.stderr.write.bind(process.stderr);
  process.exit = (code) => {
    throw new Error(`process.exit(${code ?? ''}) is called while the module loads`);
  };
}

/** Of the package this file belongs to, wherever in it its build lies. */
function version(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); folder !== dirname(folder); folder = dirname(folder)) {
    const manifest = join(folder, 'package.json');
    if (existsSync(manifest)) return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;
  }
  return 'unknown';
}

/** The folder for builds: the one we were given, else a temporary one that goes with the process. */
function buildDir(): string {
  buildFolder ??= temporaryFolder();
  return buildFolder;
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'packgate-child-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

// As they are before any code of a pack, or ours for its sake, replaces them.
const exit = process.exit.bind(process);
const writeOut = process.stdout.write.bind(process.stdout);

// Ours alone: pack code never sees it and no event lists it as dropped.
const keptDir = process.env[ENV.buildDir] || undefined;
let buildFolder = keptDir;
delete process.env[ENV.buildDir];

/** How long the last lines may take to a reader that is slow. */
const LAST_OUTPUT_MS = 1_000;

/** A full pipe takes writes later, and an exit would lose them: the line that says why a boot failed, above all. */
function exitWhenWritten(code: number): void {
  setTimeout(() => exit(code), LAST_OUTPUT_MS);
  writeOut('', () => process.stderr.write('', () => exit(code)));
}

// Not awaited: a pack module that never settles empties the loop, and that must not look like a fault of this file.
void main().then(exitWhenWritten);
