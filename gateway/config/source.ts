import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import type { Document, Node, Pair, YAMLError } from 'yaml';
import type { Path, Position } from './problem.ts';

/** More values than this, with every alias written out, are no configuration but a bomb. */
const MAX_VALUES = 200_000;
const MAX_DEPTH = 100;
/** One slip can make the parser stumble over every following line. */
const MAX_FAULTS = 20;

/** Something wrong with the text itself; completes "expected …, got …". */
export interface Fault {
  readonly position: Position;
  readonly expected: string;
  readonly got: string;
}

/** The text of a configuration, read as data, that still knows where everything stands. */
export interface Source {
  /**
   * Plain data. Its objects have no prototype, so `__proto__` and `constructor` are keys like any other; keys are what
   * is written in the file (`0042` stays `0042`). Undefined where the text is no YAML.
   */
  readonly value: unknown;
  readonly faults: readonly Fault[];
  /** Of the value at `path`, or of its key; of the nearest thing around it where there is none. */
  positionOf(path: Path, part: 'key' | 'value'): Position;
}

/** Reads YAML 1.2 (and so JSON): its core schema only, no tags, no merge keys, one document. Never throws. */
export function readSource(text: string): Source {
  const lines = new LineCounter();
  const options = { lineCounter: lines, prettyErrors: false, schema: 'core', uniqueKeys: isSameKey } as const;
  const document = parseDocument(text, options);
  const positionAt = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  const faults = syntaxFaults([...document.errors, ...document.warnings], positionAt);
  // After a duplicate key or a tag the tree is still what was written, and the rest of it can be judged in the same go.
  const isWhole = document.errors.every((error) => error.code === 'DUPLICATE_KEY');
  const reading = new Reading(document);
  const value = isWhole ? reading.plain(document.contents, 0) : undefined;
  for (const { node, ...fault } of reading.faults) faults.push({ position: positionAt(startOf(node)), ...fault });
  return {
    value,
    faults,
    positionOf: (path, part) => positionAt(startOf(nodeAt(document, path, part))),
  };
}

/** Turns the tree into plain data. */
class Reading {
  readonly faults: { node: unknown; expected: string; got: string }[] = [];
  readonly #document: Document.Parsed;
  #valueCount = 0;

  constructor(document: Document.Parsed) {
    this.#document = document;
  }

  plain(node: unknown, depth: number): unknown {
    this.#valueCount += 1;
    if (this.#valueCount > MAX_VALUES || depth > MAX_DEPTH) {
      if (this.faults.every(({ got }) => got !== 'far more')) {
        const expected = `at most ${MAX_VALUES} values, nested ${MAX_DEPTH} deep, aliases written out`;
        this.faults.push({ node, expected, got: 'far more' });
      }
      return undefined;
    }
    if (isScalar(node)) return node.value;
    if (isSeq(node)) return node.items.map((item) => this.plain(item, depth + 1));
    if (isMap(node)) return this.#plainMap(node.items, depth);
    if (!isAlias(node)) return null;
    const target = node.resolve(this.#document);
    if (target !== undefined) return this.plain(target, depth + 1);
    this.faults.push({ node, expected: 'an alias of something above it', got: 'an unknown one' });
    return undefined;
  }

  #plainMap(pairs: readonly Pair[], depth: number): unknown {
    const map: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
    for (const pair of pairs) {
      const key = keyText(pair.key);
      if (key === undefined) {
        this.faults.push({ node: pair.key, expected: 'a text as key', got: 'something else' });
      } else if (!Object.hasOwn(map, key)) {
        map[key] = this.plain(pair.value, depth + 1);
      }
    }
    return map;
  }
}

/** The parser's own texts quote the file, which may hold a secret in the wrong place; so these are ours. */
const SYNTAX: Readonly<Record<string, readonly [expected: string, got: string]>> = {
  DUPLICATE_KEY: ['every key once', 'one a second time'],
  TAG_RESOLVE_FAILED: ['no tags', 'one'],
  BAD_DIRECTIVE: ['no directives', 'one'],
  MULTIPLE_DOCS: ['one document', 'several'],
  TAB_AS_INDENT: ['blanks as indentation', 'a tab'],
  BAD_INDENT: ['indentation that fits the lines above', 'another, or a bracket that is not closed'],
  MISSING_CHAR: ['valid YAML', 'a quote, bracket or other mark that is not closed'],
  BLOCK_AS_IMPLICIT_KEY: ['one key and its value on a line', 'a second colon (quote the text that holds it)'],
  BAD_SCALAR_START: ['a value', 'a character that no plain value starts with (quote the text)'],
  BAD_DQ_ESCAPE: ['a valid escape in double quotes', 'another (single quotes take a backslash as it is)'],
  RESOURCE_EXHAUSTION: ['a configuration', 'something nested far too deep'],
};

function syntaxFaults(errors: readonly YAMLError[], positionAt: (offset: number) => Position): Fault[] {
  const faults: Fault[] = [];
  for (const { code, pos } of errors) {
    const position = positionAt(pos[0]);
    if (faults.length === MAX_FAULTS) break;
    // The first stumble of a line says what is wrong, the following ones say what came of it.
    if (faults.some((fault) => fault.position.line === position.line)) continue;
    const [expected, got] = SYNTAX[code] ?? ['valid YAML', 'something else'];
    faults.push({ position, expected, got });
  }
  return faults;
}

function isSameKey(a: unknown, b: unknown): boolean {
  const text = keyText(a);
  return text !== undefined && text === keyText(b);
}

/** A key as it is written: `1e2` is no 100 and `true` no truth when it names a tenant. */
function keyText(key: unknown): string | undefined {
  if (!isScalar(key)) return undefined;
  return typeof key.value === 'string' ? key.value : key.source === '' ? undefined : key.source;
}

function nodeAt(document: Document.Parsed, path: Path, part: 'key' | 'value'): unknown {
  let node: unknown = document.contents;
  let key: unknown = node;
  for (const step of path) {
    const container = isAlias(node) ? node.resolve(document) : node;
    if (isSeq(container) && typeof step === 'number' && container.items[step] !== undefined) {
      node = key = container.items[step];
      continue;
    }
    const pair = isMap(container) ? container.items.find((item) => keyText(item.key) === step) : undefined;
    if (pair === undefined) return key;
    key = pair.key;
    node = pair.value ?? pair.key;
  }
  return part === 'key' ? key : node;
}

function startOf(node: unknown): number {
  return (node as Partial<Node> | null | undefined)?.range?.[0] ?? 0;
}
