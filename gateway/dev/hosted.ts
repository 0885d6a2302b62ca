import { relative } from 'node:path';
import { ENV } from '../../shared/process/contract.ts';
import type { DeploymentSettings } from '../config/configuration.ts';
import { readDeployments } from '../config/deployments.ts';
import { isFile } from '../config/files.ts';
import type { RawPack } from '../config/raw.ts';
import { Report } from '../config/report.ts';
import { readSource } from '../config/source.ts';
import type { FoundPack } from './find.ts';

/** A pack with its tenant. */
export interface HostedPack extends FoundPack {
  readonly tenantId: string;
}

/** What is told from outside about how packs are run. */
export interface HostOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute, or a name: for Python packs without a virtual environment of their own. */
  readonly python?: string;
}

/** The settings that a pack is developed with, and what is wrong with them, in words for its author. */
export interface Hosted {
  readonly settings: DeploymentSettings | undefined;
  readonly problems: readonly string[];
}

const NAME = 'default';
const ENV_FILE = '.env';

/** As every deployment's, but for what makes developing slower or gets in its way. */
const SETTINGS: RawPack = {
  envCheck: 'warn',
  idle: 'never',
  // Whoever mends a pack is not to wait for it.
  restart: { min: '100ms', max: '2s', healthy: '5s' },
};

/** Reads how a pack is to be run: what its folder says, and the `.env` in it. Never throws. */
export async function settingsOf(pack: HostedPack, { env, python }: HostOptions): Promise<Hosted> {
  const { path, kind, tenantId } = pack;
  const hasEnvFile = await isFile(`${path}/${ENV_FILE}`);
  const report = new Report(pack.name, readSource('{}'));
  const raw = {
    ...SETTINGS,
    path,
    runtime: kind,
    ...(hasEnvFile && { envFiles: [ENV_FILE] }),
    ...(kind === 'python' && python !== undefined && { python }),
  };
  const sources = new Set<string>();
  const surroundings = {
    env,
    folder: path,
    report,
    sources,
    pipes: new Map<string, string>(),
    shown: (part: string) => relative(path, part),
  };
  const [settings] = await readDeployments({ tenants: { [tenantId]: raw } }, new Map(), surroundings);
  const problems = report.problems.map(
    ({ path: place, expected, got, todo }) =>
      `${place.includes('envFiles') ? `${pack.name}/${ENV_FILE}` : pack.name}: expected ${expected}, got ${got}${todo === undefined ? '' : `. ${todo}`}`,
  );
  if (settings === undefined) return { settings, problems };
  // The index is always built here: one that lies in the folder is of an earlier build.
  const { index: _, ...own } = settings;
  return { settings: { ...own, name: NAME, env: { ...own.env, [ENV.envFilter]: 'off' } }, problems };
}
