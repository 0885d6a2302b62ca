/** Where something stands in a configuration: the keys and list indexes that lead to it. */
export type Path = readonly (string | number)[];

/** Counted from 1, as editors do. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** One thing that keeps a configuration from being used. Its texts hold no value that may be a secret. */
export interface Problem {
  /** The configuration file, as it is best named to the reader. */
  readonly file: string;
  /** Missing where there is no file to point into. */
  readonly position?: Position;
  /** `tenants.acme.packs.crm.idle`; empty for the file as a whole. */
  readonly path: string;
  /** Completes "expected …". */
  readonly expected: string;
  /** Completes "got …". */
  readonly got: string;
  /** What to do about it, as a sentence. */
  readonly todo?: string;
}

/** Something that works, but probably not as meant. */
export interface Warning {
  readonly file: string;
  readonly position: Position;
  readonly path: string;
  readonly text: string;
}

/** `file:line:column: path: expected …, got …. What to do.` */
export function problemText({ expected, got, todo, ...place }: Problem): string {
  return `${placeText(place)}: expected ${expected}, got ${got}${todo === undefined ? '' : `. ${todo}`}`;
}

/** `file:line:column: path: warning: …` */
export function warningText({ text, ...place }: Warning): string {
  return `${placeText(place)}: warning: ${text}`;
}

/** `tenants."a.b".packs.crm.hosts[0]`: keys that could be misread are quoted. */
export function pathText(path: Path): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else text += `${text === '' ? '' : '.'}${/^[\w-]+$/.test(step) ? step : JSON.stringify(step)}`;
  }
  return text;
}

function placeText(place: { file: string; position?: Position; path: string }): string {
  const { file, position, path } = place;
  const at = position === undefined ? file : `${file}:${position.line}:${position.column}`;
  return path === '' ? at : `${at}: ${path}`;
}
