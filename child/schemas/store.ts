import { setImmediate as nextTurn } from 'node:timers/promises';

import type { Compiled } from './checker.ts';
import type { Compiler } from './compile.ts';
import { writeStored } from './stored.ts';
import type { StoredAt } from './stored.ts';

/**
 * Stores compiled functions as code, in slices that yield. Nothing is stored where the code could differ: a schema that
 * does not compile is to fail with the compiler's own error each time, and `__proto__` means something else in code than
 * in JSON. Rejects when the folder cannot be written.
 */
export async function storeCompiled(compiler: Compiler, compiled: readonly Compiled[], at: StoredAt): Promise<void> {
  if (at.keys.some((key) => key.includes('__proto__'))) return;
  const sources: string[] = [];
  for (const one of compiled) {
    if (one instanceof Error) return;
    sources.push(await compiler.sourceOf(one));
    await nextTurn();
  }
  await writeStored(at, sources);
}
