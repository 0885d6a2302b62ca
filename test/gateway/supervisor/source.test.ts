import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { DeploymentSettings } from '../../../gateway/config/configuration.ts';
import { PackSource } from '../../../gateway/supervisor/source.ts';
import type { Launch } from '../../../gateway/supervisor/process.ts';

const SETTINGS: DeploymentSettings = {
  tenantId: 'a',
  name: 'default',
  isDefault: true,
  hosts: [],
  path: tmpdir(),
  runtime: { kind: 'node', node: process.execPath },
  env: {},
  envCheck: 'strict',
  bootTimeoutMs: 5_000,
  drainMs: 8_000,
  concurrency: 1,
  queue: { size: 1, waitMs: 1_000 },
  restart: { minMs: 1, maxMs: 1, healthyMs: 1 },
  idleMs: Infinity,
};

/** A source whose indexer, if one is launched at all, ends at once with 1. */
function sourceThatCounts() {
  const stateDir = mkdtempSync(join(tmpdir(), 'packgate-source-'));
  onTestFinished(() => rmSync(stateDir, { recursive: true }));
  let launched = 0;
  const exit = Promise.resolve({ kind: 'code', code: 1 } as const);
  const launch: Launch = () => {
    launched += 1;
    return {
      pid: 1,
      input: undefined,
      exited: exit,
      finished: exit,
      signal: () => undefined,
      killGroup: () => undefined,
    };
  };
  const log = pino({ level: 'silent' });
  const source = new PackSource(SETTINGS, { stateDir, hostEnv: {}, launch, log, requiresPortProof: false });
  return { source, launched: () => launched };
}

describe('what a start is made from', () => {
  it('is given up without an indexer being launched when it is cancelled before it came to that', async () => {
    const { source, launched } = sourceThatCounts();
    const preparing = source.prepare();
    const cancelled = source.cancel();
    await expect(preparing).rejects.toMatchObject({ code: 'cancelled' });
    await cancelled;
    expect(launched()).toBe(0);
  });

  it('cannot be had when the indexer fails, and says so', async () => {
    const { source, launched } = sourceThatCounts();
    await expect(source.prepare()).rejects.toMatchObject({ step: 'index', code: 'index-failed' });
    expect(launched()).toBe(1);
  });
});
