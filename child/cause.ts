import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { Json } from '../shared/protocol/messages.ts';

/** Where this service's own code lies: its frames say nothing to a pack's author. */
const OWN_CODE = new URL('../', import.meta.url).href;

/** What is said about something that pack code threw, with paths relative to the pack's folder (D21, D22). */
export interface Thrown {
  /** `Name: message`, or the value as text. */
  readonly text: string;
  readonly cause: Json;
}

/** Never throws, whatever was thrown: an object may throw again when it is looked at. */
export function describeThrown(thrown: unknown, root: string): Thrown {
  try {
    return describe(thrown, root);
  } catch {
    return { text: 'something that cannot be shown', cause: null };
  }
}

function describe(thrown: unknown, root: string): Thrown {
  if (isError(thrown)) {
    const name = relativeText(String(thrown.name), root);
    const message = relativeText(String(thrown.message), root);
    const stack = relativeStack(String(thrown.stack ?? ''), root);
    return { text: `${name}: ${message}`, cause: { name, message, stack } };
  }
  if (thrown === undefined) return { text: 'undefined', cause: null };
  const value = toJson(thrown);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return { text: text.slice(0, 500), cause: value };
}

/** `text` without the pack's own folder in front of its paths. */
export function relativeText(text: string, root: string): string {
  // A pack in the root folder: every path is one of its own.
  if (root === '/') return text;
  return text.replaceAll(`file://${root}/`, '').replaceAll(`${root}/`, '').replaceAll(root, '.');
}

/** Errors of another realm count as well. */
function isError(thrown: unknown): thrown is Error {
  return thrown instanceof Error || Object.prototype.toString.call(thrown) === '[object Error]';
}

/** Without the frames of this service, and without what only led to them. */
function relativeStack(stack: string, root: string): string {
  const lines = stack
    .split('\n')
    .filter((line) => !line.includes(OWN_CODE))
    .map((line) => (/^\s+at /.test(line) ? relativeFrame(line, root) : relativeText(line, root)));
  while (/^\s+at (async )?(new Promise |.*\(?node:internal\/)/.test(lines.at(-1) ?? '')) lines.pop();
  return lines.join('\n');
}

/** Frames outside the pack's folder, such as packages of a parent folder, are named from it as well. */
function relativeFrame(line: string, root: string): string {
  return line.replace(
    /([ (])(file:\/\/\/[^\s)]+|\/[^\s)]+)(:\d+:\d+\)?)$/,
    (whole, before: string, place: string, at: string) => {
      const path = place.startsWith('file:') ? pathOf(place) : place;
      return path === undefined ? whole : `${before}${relative(root, path)}${at}`;
    },
  );
}

function pathOf(url: string): string | undefined {
  try {
    return fileURLToPath(url);
  } catch {
    return undefined;
  }
}

/** As it is when JSON can hold it, else its string form. */
function toJson(value: unknown): Json {
  try {
    const text = JSON.stringify(value);
    if (text !== undefined) return JSON.parse(text) as Json;
  } catch {
    // No JSON: a cycle, a BigInt.
  }
  try {
    return String(value);
  } catch {
    return '[a value without a text]';
  }
}
