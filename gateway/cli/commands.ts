import type { Command } from './command.ts';

/** The commands by name, in the order of the help. Each is loaded when it is asked for. */
export const COMMANDS: ReadonlyMap<string, () => Promise<Command>> = new Map([
  ['serve', async (): Promise<Command> => (await import('./serve.ts')).serve],
  ['check', async (): Promise<Command> => (await import('./check.ts')).check],
]);
