import { readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';

import { describeThrown } from './cause.ts';
import type { Thrown } from './cause.ts';

/**
 * Why a module did not load, as one line for its author: where, what, and what to do about it. The place stands in front
 * where it is a line of the module itself (`tools/a.mjs:3:7: …`), else behind (`tools/a.mjs: … (at lib.mjs:2:1)`).
 * `root` is the pack's folder with links resolved, `path` the module's path in it.
 */
export function describeLoadFailure(error: unknown, { root, path }: { root: string; path: string }): Thrown {
  const { text, cause } = describeThrown(error, root);
  // A thrown value that is no error says nothing of itself: not even that it was thrown.
  const isError = typeof cause === 'object' && cause !== null && 'stack' in cause;
  const what = `${isError ? '' : 'it throws '}${text.replaceAll(/\s*\n\s*/g, ' ')}`;
  const told = /^(SyntaxError: )([^:]+:\d+:\d+): /.exec(what);
  const place = told?.[2] ?? importPlace(error, root) ?? firstFrame(cause);
  const shown = `${told === null ? what : `SyntaxError: ${what.slice(told[0].length)}`}${adviceFor(what)}`;
  if (place?.startsWith(`${path}:`)) return { text: `${place}: ${shown}`, cause };
  return { text: `${path}: ${shown}${place === undefined || place === path ? '' : ` (at ${place})`}`, cause };
}

/** The innermost line of the pack's own code in a stack that was made relative to the pack's folder. */
function firstFrame(cause: Thrown['cause']): string | undefined {
  const stack = typeof cause === 'object' && cause !== null && 'stack' in cause ? cause.stack : undefined;
  for (const line of typeof stack === 'string' ? stack.split('\n') : []) {
    const place = /^\s+at (?:.*\()?([^()\s]+:\d+:\d+)\)?$/.exec(line)?.[1];
    if (place !== undefined && !/^(\.\.\/|node:|\/)|node_modules\//.test(place)) return place;
  }
  return undefined;
}

/** Node names the file whose import leads nowhere, but not the line: it is looked up. */
function importPlace(error: unknown, root: string): string | undefined {
  const message = error instanceof Error ? error.message : '';
  const found = /^Cannot find (?:package|module) '(?<target>[^']+)' imported from (?<importer>.+)$/.exec(message);
  const { target = '', importer } = found?.groups ?? {};
  if (importer === undefined) return undefined;
  const at = linesOf(importer).findIndex((line) => quotedTexts(line).some((name) => leadsTo(name, target, importer)));
  const file = relative(root, importer);
  return at < 0 ? file : `${file}:${at + 1}`;
}

function linesOf(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch {
    // The place is a help, no more.
    return [];
  }
}

function quotedTexts(line: string): string[] {
  return [...line.matchAll(/(['"])([^'"]+)\1/g)].map((match) => match[2] ?? '');
}

function leadsTo(name: string, target: string, importer: string): boolean {
  if (name.startsWith('.')) return resolve(dirname(importer), name) === target;
  return name === target || name.startsWith(`${target}/`);
}

/** What to do, where the words of Node and esbuild leave it open. */
function adviceFor(what: string): string {
  if (what.includes('never settles')) return '; wait for it in the handler instead';
  // Node says "package" for a name and "module" for a path, except where the import was a `require`.
  const found = /Cannot find package '([^']+)'|Cannot find module '([^']+)' Require|Could not resolve "([^"]+)"/.exec(
    what,
  );
  const name = found?.[1] ?? found?.[2] ?? found?.[3];
  if (name !== undefined && !/^[./]/.test(name)) {
    const packageName = name.split('/', name.startsWith('@') ? 2 : 1).join('/');
    return `; install it in the pack's folder: npm install ${packageName}`;
  }
  return name !== undefined || what.includes('Cannot find module') ? '; check the path and the ending of the file' : '';
}
