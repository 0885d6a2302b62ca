import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { ENV } from '../../shared/process/contract.ts';
import type { Path } from './problem.ts';
import { present } from './raw.ts';
import type { RawEnvValue, RawSettings } from './raw.ts';
import { ENV_NAME_PATTERN } from './settingsSchema.ts';
import { readPart } from './surroundings.ts';
import type { Surroundings } from './surroundings.ts';

const NAME = new RegExp(ENV_NAME_PATTERN);
const MAX_FILE_BYTES = 1024 * 1024;
/** What the gateway itself sets; a pack that changed it could not be reached, found or read. */
const OWN_NAMES: ReadonlySet<string> = new Set([ENV.port, ENV.logFormat, ENV.buildDir]);
const OWN_PREFIX = 'KINDGI_PACK_';

/**
 * The pack's environment as one level (`defaults`, a tenant, a pack) has it: its `envFiles` in their order, then its
 * `env`. Values are never reported.
 */
export async function readEnv(
  settings: RawSettings,
  path: Path,
  surroundings: Surroundings,
): Promise<ReadonlyMap<string, string>> {
  const values = new Map<string, string>();
  for (const [index, file] of present(settings.envFiles)) {
    const place = [...path, 'envFiles', index];
    for (const [name, value] of await readEnvFile(file, place, surroundings)) values.set(name, value);
  }
  for (const [name, raw] of Object.entries(settings.env ?? {})) {
    const place = [...path, 'env', name];
    if (!isOwn(name, place, surroundings)) {
      const value = await readValue(raw, place, surroundings);
      if (value !== undefined) values.set(name, value);
    }
  }
  return values;
}

async function readEnvFile(file: string, path: Path, surroundings: Surroundings): Promise<[string, string][]> {
  const { folder, report } = surroundings;
  const found = await readPart(resolve(folder, file), MAX_FILE_BYTES, surroundings);
  if ('trouble' in found) {
    report.problem(path, { expected: 'a dotenv file that can be read', got: found.trouble });
    return [];
  }
  const entries = Object.entries(parseEnv(found.text)).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  // Node's parser passes over a line that it does not understand, or takes it for a name, depending on its version.
  if (!isDotenv(found.text) || !entries.every(([name]) => NAME.test(name))) {
    report.problem(path, { expected: 'a dotenv file of lines NAME=value', got: 'another line in it (not shown)' });
    return [];
  }
  return entries.filter(([name, value]) => !isOwn(name, path, surroundings) && isPassable(value, path, surroundings));
}

/** One line, or a quoted value over several: nothing, a comment, or a name and its value. */
const DOTENV_LINE =
  /[ \t]*(?:#[^\n]*|(?:export[ \t]+)?[\w.-]+[ \t]*=[ \t]*(?:"[^"]*"|'[^']*'|`[^`]*`|[^\n]*)[^\n]*)?\r?(?:\n|$)/y;

/** Whether every line is one of a dotenv file. */
function isDotenv(text: string): boolean {
  let at = 0;
  while (at < text.length) {
    DOTENV_LINE.lastIndex = at;
    if (!DOTENV_LINE.test(text)) return false;
    at = DOTENV_LINE.lastIndex;
  }
  return true;
}

function isOwn(name: string, path: Path, { report }: Surroundings): boolean {
  if (!OWN_NAMES.has(name) && !name.startsWith(OWN_PREFIX)) return false;
  report.problem(path, {
    expected: "names of the pack's own",
    got: `${name}, which the gateway sets`,
    todo: 'Remove it',
    at: 'key',
  });
  return true;
}

async function readValue(raw: RawEnvValue, path: Path, surroundings: Surroundings): Promise<string | undefined> {
  const value = await resolveValue(raw, path, surroundings);
  return value !== undefined && isPassable(value, path, surroundings) ? value : undefined;
}

async function resolveValue(raw: RawEnvValue, path: Path, surroundings: Surroundings): Promise<string | undefined> {
  const { env, folder, report } = surroundings;
  if (typeof raw === 'string') return raw;
  if ('env' in raw) {
    const value = env[raw.env];
    if (value !== undefined) return value;
    report.problem([...path, 'env'], {
      expected: 'a variable that is set where the gateway runs',
      got: `${raw.env}, which is not`,
      todo: 'Set it (an empty value counts)',
    });
    return undefined;
  }
  const file = await readPart(resolve(folder, raw.file), MAX_FILE_BYTES, surroundings);
  if ('text' in file) return file.text.replace(/[\r\n]+$/, '');
  report.problem([...path, 'file'], { expected: 'a file that can be read', got: file.trouble });
  return undefined;
}

function isPassable(value: string, path: Path, { report }: Surroundings): boolean {
  if (!value.includes('\0')) return true;
  report.problem(path, {
    expected: 'a value that an environment can hold',
    got: 'one with a NUL character (not shown)',
  });
  return false;
}
