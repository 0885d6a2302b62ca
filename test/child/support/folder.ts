import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A temporary folder with files in it. */
export interface Folder {
  readonly path: string;
  file(name: string): string;
  write(name: string, contents: string | object): string;
  remove(): void;
}

/** Makes a folder; file contents that are objects are written as JSON. */
export function makeFolder(files: Readonly<Record<string, string | object>> = {}): Folder {
  const path = mkdtempSync(join(tmpdir(), 'packgate-test-'));
  const folder: Folder = {
    path,
    file: (name) => join(path, name),
    write(name, contents) {
      const file = join(path, name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, typeof contents === 'string' ? contents : JSON.stringify(contents));
      return file;
    },
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
  for (const [name, contents] of Object.entries(files)) folder.write(name, contents);
  return folder;
}

/** An index envelope around entries. */
export function indexOf(parts: { tools?: object[]; guardrails?: object[]; env?: object; v?: unknown } = {}): object {
  return {
    v: 1,
    packId: 'acme',
    packVersion: '1.0.0',
    artifactVersion: '20260101.1',
    publishedAt: '2026-01-01T00:00:00.000Z',
    tools: [],
    guardrails: [],
    agents: [],
    flows: [],
    ...parts,
  };
}

/** A tool entry that takes and gives anything. */
export function toolEntry(id: string, modulePath: string, more: object = {}): object {
  return { id, version: '1.0.0', input: {}, output: {}, modulePath, ...more };
}
