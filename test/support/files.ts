import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import type { AtEnd } from './atEnd.ts';

/** A folder of the test's own, removed at its end. The path has no links in it, so that it is found in `/proc`. */
export function temporaryFolder(atEnd: AtEnd = onTestFinished): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'packgate-test-')));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The complete lines of a file of JSON lines; none when the file does not exist yet. */
export function readJsonLines<T>(file: string): T[] {
  if (!existsSync(file)) return [];
  const text = readFileSync(file, 'utf8');
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);
}

const POLL_MS = 10;

/**
 * Waits until the condition gives something other than false or undefined, and returns it. Fails after `withinMs`
 * with the condition's name.
 */
export async function until<T>(
  what: string,
  condition: () => T | false | undefined | Promise<T | false | undefined>,
  withinMs = 5_000,
): Promise<T> {
  const end = performance.now() + withinMs;
  for (;;) {
    const value = await condition();
    if (value !== false && value !== undefined) return value;
    if (performance.now() > end) throw new Error(`Expected within ${withinMs} ms: ${what}`);
    await delay(POLL_MS);
  }
}
