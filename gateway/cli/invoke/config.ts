import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, parse, resolve } from 'node:path';
import { EXIT } from '../../../shared/process/contract.ts';
import { troubleOf } from '../../config/files.ts';
import { readSource } from '../../config/source.ts';
import { isTenantFile } from '../../config/tenantsDir.ts';
import { CommandError, DEFAULT_CONFIG_FILE } from '../command.ts';
import type { Io } from '../command.ts';

/** A deployment as it is written down, as far as a caller cares. */
export interface WrittenDeployment {
  readonly name: string;
  readonly isDefault: boolean;
  /** Absolute; undefined where it is not written where it is looked for. */
  readonly path: string | undefined;
  /** Its `index:`, absolute. */
  readonly index: string | undefined;
}

/** What a configuration says to those who call its gateway. */
export interface WrittenGateway {
  /** The file as the user named it. */
  readonly file: string;
  /** Its folder, from which its paths count. */
  readonly folder: string;
  readonly listen: string | undefined;
  /** Absolute. */
  readonly stateDir: string;
  readonly tenants: ReadonlyMap<string, readonly WrittenDeployment[]>;
}

type Table = Readonly<Record<string, unknown>>;

const DEFAULT_STATE_DIR = '.packgate';
const SHORT_FORM_NAME = 'default';

/**
 * Reads of a configuration only what calling needs, and leniently: a caller has neither its secrets nor its packs, and
 * what else may be wrong with it is not a caller's business. Undefined where none is named and none is here.
 * @throws {CommandError} 78, when the one that is named cannot be read, or is no YAML.
 */
export async function readWritten(named: string | undefined, { cwd }: Io): Promise<WrittenGateway | undefined> {
  const file = named ?? DEFAULT_CONFIG_FILE;
  const path = resolve(cwd, file);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (named === undefined && (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new CommandError(EXIT.badConfig, `${file} cannot be read: ${troubleOf(error)}`, 'Name another with -c.');
  }
  const { value } = readSource(text);
  if (!isTable(value)) {
    throw new CommandError(EXIT.badConfig, `${file} is broken`, 'Say "packgate check" to see where.');
  }
  const folder = dirname(path);
  const tenants = new Map<string, readonly WrittenDeployment[]>();
  for (const [id, tenant] of Object.entries(tableAt(value, 'tenants'))) tenants.set(id, deploymentsOf(tenant, folder));
  const tenantsDir = textAt(value, 'tenantsDir');
  if (tenantsDir !== undefined) await addTenantsOf(resolve(folder, tenantsDir), tenants);
  const stateDir = resolve(folder, textAt(value, 'stateDir') ?? DEFAULT_STATE_DIR);
  return { file, folder, listen: textAt(value, 'listen'), stateDir, tenants };
}

async function addTenantsOf(folder: string, tenants: Map<string, readonly WrittenDeployment[]>): Promise<void> {
  const names = (await readdir(folder).catch((): string[] => [])).filter(isTenantFile);
  for (const name of names.toSorted()) {
    const text = await readFile(join(folder, name), 'utf8').catch(() => '');
    tenants.set(parse(name).name, deploymentsOf(readSource(text).value, folder));
  }
}

function deploymentsOf(tenant: unknown, folder: string): readonly WrittenDeployment[] {
  if (!isTable(tenant)) return [];
  if (tenant.packs === undefined) return [deploymentOf(SHORT_FORM_NAME, tenant, folder)];
  return Object.entries(tableAt(tenant, 'packs')).map(([name, pack]) =>
    deploymentOf(name, isTable(pack) ? pack : {}, folder),
  );
}

function deploymentOf(name: string, written: Table, folder: string): WrittenDeployment {
  const [path, index] = [textAt(written, 'pack') ?? textAt(written, 'path'), textAt(written, 'index')];
  return {
    name,
    isDefault: written.default === true,
    path: path === undefined ? undefined : resolve(folder, path),
    index: index === undefined ? undefined : resolve(folder, index),
  };
}

function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function tableAt(table: Table, key: string): Table {
  const value = table[key];
  return isTable(value) ? value : {};
}

function textAt(table: Table, key: string): string | undefined {
  const value = table[key];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
