import { EventEmitter } from 'node:events';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { drainWhenTold } from '../../gateway/shutdown.ts';

/** A gateway that notes what it is told, and whose drain ends when it is hurried or `finish` is called. */
function drainable({ canReload = false } = {}) {
  const told: string[] = [];
  const lines: Record<string, unknown>[] = [];
  const events = new EventEmitter();
  let now = 0;
  let finish = (): void => undefined;
  const gateway = {
    close: () => {
      told.push('close');
      return new Promise<void>((resolve) => {
        finish = resolve;
      });
    },
    hurry: () => {
      told.push('hurry');
      finish();
    },
  };
  const clock = { now: () => now, after: () => () => undefined };
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) });
  const ended = drainWhenTold(
    gateway,
    {
      onSignal: (signal, listener) => void events.on(signal, listener),
      onUncaught: (listener) => void events.on('uncaught', listener),
    },
    clock,
    log,
    ...(canReload ? [() => void told.push('reload')] : []),
  );
  return {
    told,
    lines,
    ended,
    emit: async (event: string, at = now, detail?: unknown) => {
      now = at;
      events.emit(event, detail);
      await Promise.resolve();
    },
    finish: () => finish(),
  };
}

describe('the end of a gateway', () => {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) {
    it(`${signal} drains it once and waits for the end`, async () => {
      const { told, ended, emit, finish } = drainable();
      await emit(signal);
      expect(told).toEqual(['close']);
      finish();
      expect(await ended).toBe('signal');
    });
  }

  it('SIGHUP reloads where that is possible, as often as it comes, and is nothing to a gateway that drains', async () => {
    const { told, ended, emit, finish } = drainable({ canReload: true });
    await emit('SIGHUP', 0);
    await emit('SIGHUP', 1);
    expect(told).toEqual(['reload', 'reload']);
    await emit('SIGTERM', 2);
    await emit('SIGHUP', 5000);
    expect(told).toEqual(['reload', 'reload', 'close']);
    finish();
    expect(await ended).toBe('signal');
  });

  it('a second signal right after the first is the same wish told twice; a later one cuts the wait short', async () => {
    const { told, ended, emit } = drainable();
    await emit('SIGINT', 1000);
    await emit('SIGINT', 1010);
    await emit('SIGTERM', 1400);
    expect(told).toEqual(['close']);
    await emit('SIGTERM', 1600);
    expect(told).toEqual(['close', 'hurry']);
    expect(await ended).toBe('signal');
  });

  it('an error that nothing caught is logged and drains instead of cutting every call; so does a second one', async () => {
    const { told, lines, ended, emit, finish } = drainable();
    await emit('uncaught', 0, new Error('the bug'));
    await emit('uncaught', 1, new Error('another'));
    expect(told).toEqual(['close']);
    expect(lines.map(({ level, err }) => [level, (err as Error).message])).toEqual([
      [60, 'the bug'],
      [60, 'another'],
    ]);
    finish();
    expect(await ended).toBe('uncaught');
  });
});
