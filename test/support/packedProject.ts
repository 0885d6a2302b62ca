import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const DIST = process.env.PACKGATE_TEST_DIST ?? join(ROOT, 'dist');

/**
 * Installs packgate into `project` from the tarball that `npm pack` makes of it, so that nothing of it is there that its
 * users would not have. Its dependencies, and `others`, are linked from where they are installed here: what they are is
 * known from the lock, and no registry is needed. `folder` takes what comes up on the way.
 */
export function installPacked(project: string, folder: string, others: readonly string[] = []): void {
  const staged = join(folder, 'staged');
  mkdirSync(staged);
  cpSync(join(dirname(resolve(DIST)), 'package.json'), join(staged, 'package.json'));
  for (const name of ['README.md', 'deploy']) cpSync(join(ROOT, name), join(staged, name), { recursive: true });
  cpSync(DIST, join(staged, 'dist'), { recursive: true });
  const packed = execFileSync(
    'npm',
    ['pack', '--ignore-scripts', '--offline', '--json', '--pack-destination', folder],
    {
      cwd: staged,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  );
  const [{ filename } = { filename: '' }] = JSON.parse(packed) as { filename: string }[];
  const home = join(project, 'node_modules', 'packgate');
  mkdirSync(home, { recursive: true });
  execFileSync('tar', ['-xzf', join(folder, filename), '-C', home, '--strip-components=1']);
  const { dependencies } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as {
    dependencies: Readonly<Record<string, string>>;
  };
  for (const name of [...Object.keys(dependencies), ...others]) {
    const link = join(project, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', name), link);
  }
}
