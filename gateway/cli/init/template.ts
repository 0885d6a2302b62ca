import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A language that packs are written in, and the templates' folder of it. */
export interface Language {
  readonly folder: string;
  /** What has to be there before the pack runs; undefined where nothing has. */
  readonly remark: string | undefined;
}

/** By what `--language` says. */
export const LANGUAGES: ReadonlyMap<string, Language> = new Map([
  ['ts', { folder: 'typescript', remark: undefined }],
  ['js', { folder: 'javascript', remark: undefined }],
  [
    'python',
    { folder: 'python', remark: 'The pack needs "pip install kindgi", for python3 or in its own .venv, first.' },
  ],
]);

/** A file to be written: its path within the folder, and its text. */
export interface TemplateFile {
  readonly path: string;
  readonly text: string;
  /** Whether it is only written where there is none. */
  readonly isOptional: boolean;
}

const TEMPLATES = join('deploy', 'templates');
/** The packer of npm takes a `.gitignore` for its own. */
const GITIGNORE = 'gitignore';

/** The files of a language's template with the names filled in, and where packgate lies. */
export async function filledTemplate(
  { folder }: Language,
  { id, tenant }: { readonly id: string; readonly tenant: string },
): Promise<{ readonly files: readonly TemplateFile[]; readonly root: string }> {
  const root = packageRoot();
  const filled = (text: string): string => text.replaceAll('PACK_ID', id).replaceAll('TENANT_ID', tenant);
  const files: TemplateFile[] = [];
  for (const source of ['common', folder].map((name) => join(root, TEMPLATES, name))) {
    for (const entry of await readdir(source, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const file = join(entry.parentPath, entry.name);
      const path = entry.name === GITIGNORE ? '.gitignore' : filled(relative(source, file));
      files.push({ path, text: filled(await readFile(file, 'utf8')), isOptional: entry.name === GITIGNORE });
    }
  }
  return { files: files.toSorted((a, b) => (a.path < b.path ? -1 : 1)), root };
}

/** The folder of the package: a clone, or what npm installed. Sources and build lie at different depths in it. */
function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, TEMPLATES))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error(`the folder ${TEMPLATES} is missing: this installation is not whole`);
    folder = parent;
  }
  return folder;
}
