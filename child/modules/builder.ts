import type * as Esbuild from 'esbuild';

let builder: Promise<typeof Esbuild> | undefined;

/** esbuild, loaded when it is first needed: it costs a process and 30 ms that a plain pack need not pay. */
export function loadBuilder(): Promise<typeof Esbuild> {
  builder ??= import('esbuild');
  return builder;
}

/** Starts esbuild's helper process ahead of the first build. */
export async function warmBuilder(): Promise<void> {
  await (await loadBuilder()).transform('');
}

/**
 * Ends esbuild's helper process, which holds 18 MB; a later build starts another one. Only for a process that is all
 * ours: whoever else builds with esbuild in it shares the helper.
 */
export async function stopBuilder(): Promise<void> {
  if (builder !== undefined) await (await builder).stop();
}
