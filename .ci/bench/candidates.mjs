// Who takes part in the boot benchmark: each with a name and a way to start it.
import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';

import { CALLS, writePack } from './packs.mjs';
import { runToEnd, startService } from './start.mjs';

/** What a bare process used until it could say so. */
const SAY_CPU = 'const { user, system } = process.cpuUsage(); console.log((user + system) / 1000);';

/**
 * On this Node and on the real service's: a bare process, our child with a build folder that is new ("cold") or was
 * there when the pack was indexed ("warm"), and the real service. `work` is a folder that may be filled.
 */
export async function listCandidates({ child, real, work }) {
  const packs = [
    { kind: 'plain', ...preparePack('mjs', { child, work }) },
    { kind: 'TypeScript', ...preparePack('ts', { child, work }) },
  ];
  const candidates = [];
  for (const node of real.isFound ? [process.execPath, real.node] : [process.execPath]) {
    const on = `(Node ${execFileSync(node, ['--version'], { encoding: 'utf8' }).trim().slice(1)})`;
    candidates.push({ name: `bare node -e 0 ${on}`, start: () => runToEnd([node, '-e', SAY_CPU]) });
    for (const { kind, args, warmFolder } of packs) {
      const ours = (buildDir) => ({
        argv: [node, child, 'serve', ...args],
        env: { PACKGATE_BUILD_DIR: buildDir },
        calls: [CALLS.echo],
      });
      const warm = ours(warmFolder);
      await startService(warm);
      const cold = () => startService(ours(mkdtempSync(join(work, 'cold-'))));
      candidates.push({ name: `ours, ${kind} pack, cold ${on}`, start: cold });
      candidates.push({ name: `ours, ${kind} pack, warm ${on}`, start: () => startService(warm), service: warm });
    }
    if (!real.isFound) continue;
    const service = { argv: [node, real.program, ...packs[0].args], calls: [CALLS.echo] };
    const isReference = node === real.node;
    candidates.push({
      name: `real service, plain pack ${on}`,
      start: () => startService(service),
      service,
      isReference,
    });
  }
  return candidates;
}

/** Writes the pack and has our indexer index it: the arguments to serve it with, for any service, and the build folder. */
function preparePack(ending, { child, work }) {
  const folder = join(work, ending);
  const index = join(work, `${ending}.json`);
  const warmFolder = mkdtempSync(join(work, 'warm-'));
  writePack(folder, ending);
  execFileSync(process.execPath, [child, 'index', '--pack-dir', folder, '--output', index, '--strict'], {
    env: { PATH: process.env.PATH ?? '', PACKGATE_BUILD_DIR: warmFolder },
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: 60_000,
  });
  return { args: ['--index', index, '--module-root', folder, '--host', '127.0.0.1'], warmFolder };
}
