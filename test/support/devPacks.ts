import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A pack in a folder of its own that can be changed as its author would. */
export interface DevPack {
  readonly folder: string;
  readonly toolId: string;
  /** Writes the tool so that it answers `{ answer }`. */
  readonly save: (answer: string | number, more?: string) => void;
  /** Writes any text into the file of the tool. */
  readonly write: (text: string) => void;
  /** The tool's file, from the folder. */
  readonly file: string;
  /** Saves it with a syntax error. */
  readonly breakIt: () => void;
  /** Where that is: `FILE:LINE`. */
  readonly broken: string;
}

/** A TypeScript pack with one tool, `<name>.answer`, and a helper that the tool imports. */
export function createTypeScriptPack(parent: string, name: string, answer: string | number = 0): DevPack {
  const folder = join(parent, name);
  mkdirSync(join(folder, 'tools'), { recursive: true });
  mkdirSync(join(folder, 'lib'), { recursive: true });
  const file = 'tools/answer.ts';
  const write = (text: string): void => writeFileSync(join(folder, file), text);
  const save: DevPack['save'] = (value, more = '') => {
    write(
      [
        "import { answerOf } from '../lib/answer.ts';",
        '',
        `const value: string | number = ${JSON.stringify(value)};`,
        '',
        'export default {',
        `  id: '${name}.answer',`,
        "  description: 'Gives the answer of this version',",
        "  input: { type: 'object' },",
        "  output: { type: 'object' },",
        '  handler: () => {',
        '    const answer = answerOf(value);',
        '    return answer;',
        '  },',
        '};',
        more,
        '',
      ].join('\n'),
    );
  };
  writeFileSync(join(folder, 'kindgi.config.ts'), `export default { pack: { id: '${name}', version: '1.0.0' } };\n`);
  writeFileSync(
    join(folder, 'lib', 'answer.ts'),
    'export function answerOf(answer: string | number): { answer: string | number } {\n  return { answer };\n}\n',
  );
  save(answer);
  const breakIt = (): void => write("export default {\n  id: 'answer',\n  input: {;\n};\n");
  return { folder, toolId: `${name}.answer`, save, write, file, breakIt, broken: `${file}:3` };
}

/** The same in Python, for the released service. */
export function createPythonPack(parent: string, name: string, answer: string | number = 0): DevPack {
  const folder = join(parent, name);
  mkdirSync(join(folder, 'tools'), { recursive: true });
  const file = 'tools/answer.py';
  const write = (text: string): void => writeFileSync(join(folder, file), text);
  const save: DevPack['save'] = (value, more = '') => {
    write(
      [
        'from kindgi import tool',
        '',
        'ANY = {"type": "object"}',
        '',
        '',
        `@tool(id="${name}.answer", description="Gives the answer of this version", input=ANY, output=ANY)`,
        'def answer(given):',
        `    return {"answer": ${JSON.stringify(value)}}`,
        more,
        '',
      ].join('\n'),
    );
  };
  writeFileSync(join(folder, 'pyproject.toml'), `[tool.kindgi.pack]\nid = "${name}"\nversion = "1.0.0"\n`);
  save(answer);
  const breakIt = (): void => write('from kindgi import tool\n\ndef answer(given:\n    return 1\n');
  return { folder, toolId: `${name}.answer`, save, write, file, breakIt, broken: `${file}:3` };
}
