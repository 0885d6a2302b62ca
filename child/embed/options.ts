import { ENV } from '../../shared/process/contract.ts';
import type { EnvCheck } from '../../shared/process/contract.ts';
import { BootFailure } from '../serve/boot.ts';
import { readServeSettings } from '../serve/settings.ts';
import type { ServeSettings } from '../serve/settings.ts';

/** What a service in this process is told, besides where its index is. */
export interface ServiceOptions {
  /** What callers send as `kindgi-pack-token`: printable ASCII without blanks. */
  readonly token: string;
  /** The only tenant that is served: calls for any other are answered 421. Default: every tenant. */
  readonly tenantId?: string;
  /** Calls in flight before a further one is answered 503. Default: 32. */
  readonly maxConcurrency?: number;
  /**
   * Where the variables that the pack requires are looked for, such as `process.env`. Default: they are not checked.
   * Handlers see the process's own environment in any case; it is never changed.
   */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Whether a missing variable keeps calls out (503) or is only told. Default: `strict`. */
  readonly envCheck?: EnvCheck;
  /** A JSON file: source path → built file, for a pack that was built before. Default: none. */
  readonly bundleMap?: string;
}

/** The names that the rules of the process form know the options by. */
const NAMES = {
  token: ENV.token,
  tenantId: ENV.tenantId,
  maxConcurrency: ENV.maxConcurrency,
  envCheck: ENV.envCheck,
} as const;

/** Judges options by the rules of the process form (C.2). Throws a `BootFailure` with every problem, in the options' names. */
export function readServiceOptions(
  options: ServiceOptions,
  { index, moduleRoot, cwd }: { index: string; moduleRoot: string | undefined; cwd: string },
): ServeSettings {
  const args = ['--index', index];
  if (moduleRoot !== undefined) args.push('--module-root', moduleRoot);
  if (options.bundleMap !== undefined) args.push('--bundle-map', options.bundleMap);
  const given = Object.entries(NAMES).map(([option, name]) => {
    const value = options[option as keyof typeof NAMES];
    return [name, value === undefined ? undefined : String(value)] as const;
  });
  const read = readServeSettings(args, Object.fromEntries(given), cwd);
  const problems = 'problems' in read ? read.problems.map(inOptionNames) : [];
  // A variable may be there and empty; an option that is there and empty is a mistake that would open the service to all.
  if (options.tenantId?.trim() === '') problems.push('`tenantId`: expected an id, got an empty text');
  if ('problems' in read || problems.length > 0) throw new BootFailure(problems);
  return read.settings;
}

function inOptionNames(problem: string): string {
  return Object.entries(NAMES).reduce((text, [option, name]) => text.replaceAll(name, `\`${option}\``), problem);
}
