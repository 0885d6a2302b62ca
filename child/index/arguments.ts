import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

/** What the indexer was told (E.3); every path absolute. */
export interface IndexArguments {
  readonly packDir: string;
  readonly config: string | undefined;
  readonly output: string;
  readonly artifactVersion: string | undefined;
  readonly publishedAt: string | undefined;
  readonly bundleMap: string | undefined;
  /** Where the bundles of the map lie. */
  readonly moduleRoot: string;
  readonly isStrict: boolean;
  readonly isJson: boolean;
}

/** `usage`: why the arguments are wrong. `help` and `version` were asked for. */
export type ReadArguments =
  | { readonly kind: 'run'; readonly args: IndexArguments }
  | { readonly kind: 'help' | 'version' }
  | { readonly kind: 'usage'; readonly problem: string };

export const INDEX_USAGE = `packgate-child index --pack-dir FOLDER [options]

Reads kindgi.config.*, imports the files of tools/, guardrails/, agents/ and flows/, and writes the pack's index.

  --pack-dir FOLDER           the pack (required)
  --config FILE               its configuration; default: kindgi.config.{ts,mts,mjs,js,cjs} in the folder
  --output FILE               the index to write; default: FOLDER/index.json
  --artifact-version TEXT     default: YYYYMMDD.N, N growing within the day
  --published-at TIME         ISO 8601; default: now
  --bundle-map FILE           index the sources it names from their bundles, by the sources' paths
  --module-root FOLDER        where those bundles lie; needs --bundle-map; default: the pack's folder
  --strict                    exit 1 when a file has an error
  --json                      one line of JSON on standard output, also for errors
  -h, --help  -v, --version

Example: packgate-child index --pack-dir packs/support --output packs/support/dist/index.json
`;

/** Reads the words behind `index`; relative paths are meant from `cwd`. */
export function readIndexArguments(words: readonly string[], cwd: string): ReadArguments {
  const usage = (problem: string): ReadArguments => ({ kind: 'usage', problem });
  try {
    const { values } = parseArgs({
      args: [...words],
      options: {
        'pack-dir': { type: 'string' },
        config: { type: 'string' },
        output: { type: 'string' },
        'artifact-version': { type: 'string' },
        'published-at': { type: 'string' },
        'bundle-map': { type: 'string' },
        'module-root': { type: 'string' },
        strict: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
        version: { type: 'boolean', short: 'v', default: false },
      },
    });
    if (values.help) return { kind: 'help' };
    if (values.version) return { kind: 'version' };
    if (values['pack-dir'] === undefined) return usage('--pack-dir is required');
    if (values['module-root'] !== undefined && values['bundle-map'] === undefined) {
      return usage('--module-root needs --bundle-map');
    }
    const absolute = (path: string | undefined): string | undefined =>
      path === undefined ? undefined : resolve(cwd, path);
    const packDir = resolve(cwd, values['pack-dir']);
    return {
      kind: 'run',
      args: {
        packDir,
        config: absolute(values.config),
        output: absolute(values.output) ?? resolve(packDir, 'index.json'),
        artifactVersion: values['artifact-version'],
        publishedAt: values['published-at'],
        bundleMap: absolute(values['bundle-map']),
        moduleRoot: absolute(values['module-root']) ?? packDir,
        isStrict: values.strict,
        isJson: values.json,
      },
    };
  } catch (error) {
    return usage(error instanceof Error ? error.message : String(error));
  }
}
