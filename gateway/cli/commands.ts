import type { Command } from './command.ts';

/** The commands by name, in the order of the help. Each is loaded when it is asked for. */
export const COMMANDS: ReadonlyMap<string, () => Promise<Command>> = new Map([
  ['serve', async (): Promise<Command> => (await import('./serve.ts')).serve],
  ['dev', async (): Promise<Command> => (await import('./dev.ts')).dev],
  ['check', async (): Promise<Command> => (await import('./check.ts')).check],
  ['init', async (): Promise<Command> => (await import('./init.ts')).init],
  ['invoke', async (): Promise<Command> => (await import('./invoke.ts')).invoke],
  ['status', async (): Promise<Command> => (await import('./status.ts')).status],
  ['reload', async (): Promise<Command> => (await import('./reload.ts')).reload],
  ['restart', async (): Promise<Command> => (await import('./restart.ts')).restart],
  ['stop', async (): Promise<Command> => (await import('./stop.ts')).stop],
  ['start', async (): Promise<Command> => (await import('./start.ts')).start],
  ['rollback', async (): Promise<Command> => (await import('./rollback.ts')).rollback],
  ['conform', async (): Promise<Command> => (await import('./conform.ts')).conform],
]);
