import { EXIT } from '../../shared/process/contract.ts';
import { readBundleMap } from '../modules/bundleMap.ts';
import type { OnLoopEmpty } from '../modules/load.ts';
import { INDEX_USAGE, readIndexArguments } from './arguments.ts';
import { PackError } from './errors.ts';
import { indexPack } from './indexPack.ts';
import type { IndexReport } from './indexPack.ts';

/** What the indexer gets from its process. */
export interface IndexProcess {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  readonly onLoopEmpty: OnLoopEmpty;
  /** The folder for what is built from TypeScript. */
  readonly buildDir: () => string;
  /** The same folder when it outlives the process: starts of the service find there what was worked out. */
  readonly keptDir: string | undefined;
  /** This program's version. */
  readonly version: () => string;
}

const NAME = 'packgate-child index';

/** The whole run of the indexer. Resolves with its exit code (E.3). */
export async function index(host: IndexProcess): Promise<number> {
  const read = readIndexArguments(host.args, host.cwd);
  switch (read.kind) {
    case 'help':
      host.stdout(INDEX_USAGE);
      return EXIT.ok;
    case 'version':
      host.stdout(`${host.version()}\n`);
      return EXIT.ok;
    case 'usage':
      host.stderr(`${NAME}: ${read.problem}\n\n${INDEX_USAGE}`);
      return EXIT.usage;
    case 'run':
      break;
  }
  const { args } = read;
  const map = args.bundleMap === undefined ? undefined : await readBundleMap(args.bundleMap);
  if (map !== undefined && 'problem' in map) {
    host.stderr(`${NAME}: ${map.problem}\n`);
    return EXIT.usage;
  }
  try {
    const report = await indexPack(args, map, host);
    if (args.isJson) host.stdout(jsonLine({ kind: 'ok', value: report }));
    else tell(report, host);
    return args.isStrict && report.fileErrors.length > 0 ? EXIT.failed : EXIT.ok;
  } catch (error) {
    if (!(error instanceof PackError)) throw error;
    const { code, message, filePath, field } = error;
    if (args.isJson) host.stdout(jsonLine({ kind: 'err', error: { code, message, filePath, field } }));
    else host.stderr(`${NAME}: ${code}: ${message}\n`);
    return EXIT.failed;
  }
}

/** The report for programs on one side, what is wrong for people on the other: a line each. */
function tell(report: IndexReport, { stdout, stderr }: IndexProcess): void {
  stdout(`${JSON.stringify(report, null, 2)}\n`);
  for (const { code, message } of report.fileErrors) stderr(`${NAME}: ${code}: ${message}\n`);
  for (const { code, message } of report.warnings) stderr(`${NAME}: warning: ${code}: ${message}\n`);
}

function jsonLine(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}
