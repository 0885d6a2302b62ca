import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const BENCH = fileURLToPath(new URL('../.ci/bench/', import.meta.url));

describe('npm run bench:boot', () => {
  it('measures each way to start and says loudly when there is no real service to compare with', () => {
    const env = { ...process.env, PACKGATE_TEST_PYTHON: '/nowhere/python' };
    const run = spawnSync(process.execPath, [`${BENCH}boot.mjs`, '--runs', '1'], {
      encoding: 'utf8',
      timeout: 60_000,
      env,
    });
    expect(run.stderr).toContain('!!! NOT COMPARED with the real Node service');
    expect(run.status).toBe(0);

    const version = process.version.slice(1);
    for (const name of ['plain pack, cold', 'plain pack, warm', 'TypeScript pack, cold', 'TypeScript pack, warm']) {
      const figures = numbersOf(run.stdout, `ours, ${name} (Node ${version})`);
      expect(figures).toHaveLength(4);
      // A start takes longer than no time, and the first answer comes after the line that says where.
      const [listeningCpu = 0, listeningWall = 0, answerCpu = 0, answerWall = 0] = figures;
      expect(listeningCpu).toBeGreaterThan(0);
      expect(answerCpu).toBeGreaterThanOrEqual(listeningCpu);
      expect(answerWall).toBeGreaterThanOrEqual(listeningWall);
    }
    expect(numbersOf(run.stdout, `bare node -e 0 (Node ${version})`)).toHaveLength(2);
    expect(run.stdout).toContain('first of a second tool');
  }, 90_000);

  it('counts what threads, children and ended children of a process use', () => {
    const busy = 'const end = process.cpuUsage().user + 200_000; while (process.cpuUsage().user < end);';
    const script = `
      import { spawn, spawnSync } from 'node:child_process';
      import { once } from 'node:events';
      import { cpuMs } from '${BENCH}cpu.mjs';
      const before = cpuMs(process.pid);
      spawnSync(process.execPath, ['-e', ${JSON.stringify(busy)}]);
      const ended = cpuMs(process.pid);
      const child = spawn(process.execPath, ['-e', ${JSON.stringify(`${busy} console.log('done'); setInterval(() => 0, 1000);`)}]);
      await once(child.stdout, 'data');
      const living = cpuMs(process.pid);
      child.kill('SIGKILL');
      console.log(JSON.stringify([ended - before, living - ended]));
    `;
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
    expect(stderr).toBe('');
    for (const ms of JSON.parse(stdout) as number[]) expect(ms).toBeGreaterThan(190);
  });
});

/** The figures of a row of the first table. */
function numbersOf(text: string, name: string): number[] {
  const line = text.split('\n').find((row) => row.startsWith(name)) ?? '';
  return [...line.slice(name.length).matchAll(/\d+/g)].map(([figure]) => Number(figure));
}
