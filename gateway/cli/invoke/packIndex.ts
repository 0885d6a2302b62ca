import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { EXIT } from '../../../shared/process/contract.ts';
import type { JsonObject } from '../../../shared/protocol/messages.ts';
import { tenantKey } from '../../../shared/protocol/tenantId.ts';
import { troubleOf } from '../../config/files.ts';
import { nearest } from '../../config/nearest.ts';
import { Builds } from '../../supervisor/builds.ts';
import { readServing } from '../../supervisor/servingFile.ts';
import { deploymentFolder } from '../../supervisor/stateDir.ts';
import { CommandError } from '../command.ts';
import type { WrittenGateway } from './config.ts';
import { isObject } from './input.ts';
import { printable } from '../printable.ts';

/**
 * Files that may hold the index of what serves the tenant, the likeliest first: configured, beside the pack, and as the
 * gateway built it. Those of the default deployment come first.
 */
export function indexPaths(tenant: string, written: WrittenGateway): string[] {
  const key = tenantKey(tenant);
  const deployments = [...written.tenants].find(([id]) => tenantKey(id) === key)?.[1] ?? [];
  const inOrder = deployments.toSorted((a, b) => Number(b.isDefault) - Number(a.isDefault));
  return inOrder.flatMap(({ name, path, index }) => {
    if (index !== undefined) return [index];
    const beside = path === undefined ? [] : [join(path, 'dist', 'index.json'), join(path, 'index.json')];
    return [...beside, ...builtIndex(written.stateDir, tenant, name)];
  });
}

/**
 * The input schema of a tool in the first of these index files that is there and has it. Undefined where none is there.
 * @throws {CommandError} when a file cannot be read, or none has the tool.
 */
export async function inputSchemaOf(
  tool: { readonly id: string; readonly version: string | undefined },
  paths: readonly string[],
): Promise<JsonObject | boolean | undefined> {
  const known: string[] = [];
  for (const path of paths) {
    const tools = await readTools(path);
    if (tools === undefined) continue;
    const same = tools.filter(({ id }) => id === tool.id);
    const entry = tool.version === undefined ? same.at(-1) : same.find(({ version }) => version === tool.version);
    const input: unknown = entry?.input;
    if (isObject(input) || typeof input === 'boolean') return input;
    known.push(...tools.flatMap(({ id }) => (typeof id === 'string' ? [id] : [])));
  }
  if (known.length === 0) return undefined;
  const near = nearest(tool.id, known);
  const hint =
    near === undefined ? `It has ${known.slice(0, 12).map(printable).join(', ')}.` : `Did you mean ${printable(near)}?`;
  throw new CommandError(EXIT.failed, `the index has no tool ${printable(tool.id)}`, hint);
}

/** The index file that `--index` names. */
export function namedIndex(file: string, cwd: string): string[] {
  return [resolve(cwd, file)];
}

async function readTools(path: string): Promise<readonly JsonObject[] | undefined> {
  let index: unknown;
  try {
    index = JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    const why = error instanceof SyntaxError ? 'it is not JSON' : troubleOf(error);
    throw new CommandError(EXIT.failed, `the index ${path} cannot be read: ${why}`, 'Name another with --index.');
  }
  const tools: unknown = isObject(index) ? index.tools : undefined;
  return Array.isArray(tools) ? (tools as unknown[]).filter(isObject) : [];
}

function builtIndex(stateDir: string, tenant: string, name: string): string[] {
  const { servingPath, buildsDir } = deploymentFolder(stateDir, tenant, name);
  try {
    const serving = readServing(servingPath);
    return serving === undefined ? [] : [new Builds(buildsDir).indexOf(serving.kept)];
  } catch {
    // Another user's, or damaged: then there is none to be had from there.
    return [];
  }
}
