import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '..');

interface Source {
  /** Relative to the project. */
  readonly file: string;
  /** Without comments: a rule is about code, and a comment may name what it explains. */
  readonly code: string;
  /** Imported files relative to the project, and packages by their names. */
  readonly imports: readonly string[];
}

const sources = ['gateway', 'child', 'shared'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => read(join(folder, name))),
);

function read(file: string): Source {
  const text = readFileSync(join(root, file), 'utf8');
  const code = text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/^\s*\/\/.*$/gm, '');
  const imports = [...code.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map(([, name = '']) =>
    name.startsWith('.') ? relative(root, resolve(dirname(join(root, file)), name)) : name,
  );
  return { file, code, imports };
}

/** Files that match `where` and have an import that matches `what`, as `file -> import`. */
function importers(where: RegExp, what: RegExp, except: readonly string[] = []): string[] {
  return sources
    .filter(({ file }) => where.test(file) && !except.includes(file))
    .flatMap(({ file, imports }) => imports.filter((name) => what.test(name)).map((name) => `${file} -> ${name}`));
}

/** Files that match `where` and whose code matches `what`. */
function users(where: RegExp, what: RegExp, except: readonly string[] = []): string[] {
  return sources
    .filter(({ file, code }) => where.test(file) && !except.includes(file) && what.test(code))
    .map(({ file }) => file);
}

describe('who may import whom', () => {
  it('finds sources and their imports to judge', () => {
    expect(sources.length).toBeGreaterThan(60);
    expect(importers(/^gateway\/front\/call\.ts$/, /^gateway\/lane\//)).not.toEqual([]);
  });

  it('shared imports nothing of ours', () => {
    expect(importers(/^shared\//, /^(gateway|child)\//)).toEqual([]);
  });

  it('child imports shared and itself only', () => {
    expect(importers(/^child\//, /^(gateway|test|deploy)\//)).toEqual([]);
  });

  it('gateway starts child by path and never imports it', () => {
    expect(importers(/^gateway\//, /^(child|test|deploy)\//)).toEqual([]);
  });

  it('the data plane knows nothing of processes', () => {
    expect(
      importers(/^gateway\/(front|lane)\//, /^gateway\/(supervisor|runtimes|cli)\/|^execa$|child_process/),
    ).toEqual([]);
  });

  it('the control plane never sees a request', () => {
    expect(importers(/^gateway\/(supervisor|runtimes|config)\//, /^gateway\/front\//)).toEqual([]);
  });

  it('the lane, which both hold, imports neither', () => {
    expect(importers(/^gateway\/lane\//, /^gateway\/(?!lane\/)/)).toEqual([]);
  });

  it('runtimes are pure: settings in, launch spec out', () => {
    expect(importers(/^gateway\/runtimes\//, /^node:|^gateway\/(?!runtimes\/|config\/configuration\.ts)/)).toEqual([]);
  });

  it('only supervisor/process.ts starts or signals a process', () => {
    const only = ['gateway/supervisor/process.ts'];
    expect(importers(/^gateway\//, /^execa$|child_process/, only)).toEqual([]);
    // A fake pack service that is to die kills itself.
    expect(users(/^gateway\//, /process\.kill\(/, [...only, 'gateway/testing/fake/main.ts'])).toEqual([]);
  });

  it('nothing of the gateway needs what is there for tests', () => {
    expect(importers(/^gateway\/(?!testing\/)/, /^gateway\/testing\//)).toEqual([]);
    expect(importers(/^(gateway|child|shared)\//, /^vitest$/, ['gateway/testing/vitest.ts'])).toEqual([]);
  });

  it('the gateway never uses fetch, which sends a call answered 421 again', () => {
    expect(users(/^gateway\//, /\bfetch\(/)).toEqual([]);
  });

  it("the child boots without the gateway's libraries", () => {
    expect(importers(/^child\//, /^(execa|pino|undici|express|p-queue|yaml)$/)).toEqual([]);
  });
});

describe('who may do what', () => {
  it('only the two main.ts read arguments and environment, or exit', () => {
    const mains = ['gateway/main.ts', 'child/main.ts'];
    // A fake pack service is a program, too; and a gateway in a test has a main program that is not ours.
    const forTests = ['gateway/testing/fake/main.ts', 'gateway/testing/surroundings.ts'];
    expect(users(/./, /(?<!\.)\bprocess\.(argv|env|exit|exitCode)\b/, [...mains, ...forTests])).toEqual([]);
  });

  it("only answer, refuse and health write to a caller's response", () => {
    const writers = ['answer', 'refuse', 'health'].map((name) => `gateway/front/${name}.ts`);
    expect(users(/^gateway\//, /\bwriteHead\(/, writers)).toEqual([]);
  });

  it('only refusal.ts knows the statuses of refusals', () => {
    // forward.ts reads the status of a service's answer, and faults on order are named after theirs; they give none.
    const namers = ['gateway/front/forward.ts', 'gateway/front/faults.ts'];
    expect(users(/^gateway\/(front|lane)\//, /\b(401|404|405|408|413|415|417|421|431|500|503)\b/, namers)).toEqual([]);
  });
});
