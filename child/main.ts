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
  switch (command) {
    case 'serve': {
      const { serve } = await import('./serve/run.ts');
      return serve({ args, env: process.env, cwd: process.cwd(), log, onStopSignal, onLoopEmpty, buildDir });
    }
    case 'index': {
      const { index } = await import('./index/run.ts');
      const stdout = (text: string): void => void process.stdout.write(text);
      return index({ args, cwd: process.cwd(), stdout, stderr: log.write, onLoopEmpty, buildDir, version });
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

// Ours alone: pack code never sees it and no event lists it as dropped.
let buildFolder = process.env[ENV.buildDir] || undefined;
delete process.env[ENV.buildDir];

/** How long the last lines may take to a reader that is slow. */
const LAST_OUTPUT_MS = 1_000;

/** A full pipe takes writes later, and an exit would lose them: the line that says why a boot failed, above all. */
function exitWhenWritten(code: number): void {
  setTimeout(() => process.exit(code), LAST_OUTPUT_MS);
  process.stdout.write('', () => process.stderr.write('', () => process.exit(code)));
}

// Not awaited: a pack module that never settles empties the loop, and that must not look like a fault of this file.
void main().then(exitWhenWritten);
