import { randomUUID } from 'node:crypto';
import { basename, relative, resolve } from 'node:path';
import { EXIT } from '../../shared/process/contract.ts';
import { CommandError, UsageError } from './command.ts';
import type { Command, Io, Options } from './command.ts';
import { nextCommands } from './init/commands.ts';
import { filledTemplate, LANGUAGES } from './init/template.ts';
import type { Language } from './init/template.ts';
import { findInTheWay, writeAll } from './init/write.ts';
import { jsonText, printable } from './printable.ts';

const OPTIONS = {
  language: {
    type: 'string',
    value: [...LANGUAGES.keys()].join('|'),
    help: 'what the pack is written in (default: ts)',
  },
  name: {
    type: 'string',
    value: 'id',
    help: "the pack's id, which begins those of its tools (default: the folder's name)",
  },
} as const satisfies Options;

/** Where the folder's name makes no id. */
const FALLBACK_ID = 'hello';
const ID = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/;
const MAX_ID_LENGTH = 40;

/** `packgate init`: a pack and a configuration to begin with. */
export const init: Command<typeof OPTIONS> = {
  name: 'init',
  summary: 'Write a minimal pack and a configuration that hosts it',
  usage: 'packgate init [folder] [--language ts|js|python] [--name <id>] [--json]',
  arguments: [{ name: 'folder', isRequired: false, help: 'where to (default: here); nothing in it is overwritten' }],
  options: OPTIONS,
  examples: [
    { line: 'packgate init my-packs', does: 'a TypeScript pack in a new folder, and what to type next' },
    { line: 'packgate init --language python --name acme', does: 'a Python pack, here; its tool is acme.hello' },
  ],
  async run({ language: asked = 'ts', name, json = false }, io, { folder: given = '.' }) {
    const language = LANGUAGES.get(asked);
    if (language === undefined) {
      throw new UsageError('--language is none that there is', `Write one of ${[...LANGUAGES.keys()].join(', ')}.`);
    }
    const folder = resolve(io.cwd, given);
    const id = name === undefined ? idFrom(basename(folder)) : checkedId(name);
    const tenant = randomUUID();
    const { files, root } = await filledTemplate(language, { id, tenant });
    const inTheWay = await findInTheWay(folder, files);
    if (inTheWay.length > 0) {
      const names = inTheWay.map((path) => `  ${shown(path, io)}\n`).join('');
      io.stderr.write(`packgate: nothing was written, because these are in the way:\n${names}`);
      return EXIT.failed;
    }
    const paths = await writeAll(folder, files).catch((error: Error) => {
      throw new CommandError(
        EXIT.failed,
        `${shown(folder, io)} cannot be written: ${error.message}`,
        'Name another folder.',
      );
    });
    const commands = await nextCommands({ root, folder, id }, io);
    if (json) {
      io.stdout.write(jsonText({ folder, pack: id, tenant, files: paths, commands }));
      return EXIT.ok;
    }
    const shownPaths = paths.map((path) => shown(path, io));
    io.stdout.write(whatIsThere(shownPaths, language, commands));
    return EXIT.ok;
  },
};

function whatIsThere(paths: readonly string[], { remark }: Language, commands: readonly string[]): string {
  return [
    'written:',
    ...paths.map((path) => `  ${path}`),
    '',
    'From here to an answered call, in one terminal:',
    '',
    ...commands.map((command) => `  ${command}`),
    '',
    ...(remark === undefined ? [] : [remark]),
    'The token is in that terminal only. The log is in packgate.log; "kill %1" stops the gateway.',
    '',
  ].join('\n');
}

function idFrom(name: string): string {
  const id = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_ID_LENGTH)
    .replaceAll(/^[-0-9]+|-+$/g, '');
  return ID.test(id) ? id : FALLBACK_ID;
}

function checkedId(name: string): string {
  if (ID.test(name) && name.length <= MAX_ID_LENGTH) return name;
  const hint = `An id has up to ${MAX_ID_LENGTH} small letters and digits, a letter first, and single hyphens between them.`;
  throw new UsageError('--name is no id of a pack', hint);
}

function shown(path: string, { cwd }: Io): string {
  const short = relative(cwd, path);
  return printable(short === '' ? '.' : short.startsWith('..') ? path : short);
}
