import { pathText } from './problem.ts';
import type { Path, Problem, Warning } from './problem.ts';
import type { Source } from './source.ts';

/** What is said about one place. `at` is what the position points to: the value, unless said otherwise. */
export interface Finding {
  readonly expected: string;
  readonly got: string;
  readonly todo?: string;
  readonly at?: 'key' | 'value';
}

/** Collects everything found in one configuration: each thing once, in the order of the file. */
export class Report {
  readonly #file: string;
  readonly #source: Source;
  readonly #problems = new Map<string, Problem>();
  readonly #warnings = new Map<string, Warning>();
  /** Texts of all places that have a problem, and of all places around them. */
  readonly #places = new Set<string>();

  constructor(file: string, source: Source) {
    this.#file = file;
    this.#source = source;
    for (const { position, expected, got } of source.faults) {
      this.#problems.set(`${position.line}:${position.column}`, { file, position, path: '', expected, got });
    }
  }

  problem(path: Path, { at = 'value', ...finding }: Finding): void {
    const text = pathText(path);
    const position = this.#source.positionOf(path, at);
    // Settings that many deployments share are judged once for each of them, and shown once.
    this.#problems.set(JSON.stringify([text, finding]), { file: this.#file, position, path: text, ...finding });
    this.suspect(path);
  }

  /** What is at `path`, or should be, is known to be wrong: a problem that was reported is about it. */
  suspect(path: Path): void {
    for (let length = 0; length <= path.length; length += 1) this.#places.add(pathText(path.slice(0, length)));
  }

  warn(path: Path, text: string): void {
    const place = { file: this.#file, position: this.#source.positionOf(path, 'key'), path: pathText(path) };
    this.#warnings.set(JSON.stringify([place.path, text]), { ...place, text });
  }

  /** Whether something at or below `path` is wrong already: what follows from that is not said too. */
  isBad(path: Path): boolean {
    return this.#places.has(pathText(path));
  }

  get problems(): Problem[] {
    return inOrder([...this.#problems.values()]);
  }

  get warnings(): Warning[] {
    return inOrder([...this.#warnings.values()]);
  }
}

function inOrder<T extends Problem | Warning>(findings: T[]): T[] {
  const line = (finding: T): number => finding.position?.line ?? 0;
  const column = (finding: T): number => finding.position?.column ?? 0;
  return findings.toSorted((a, b) => line(a) - line(b) || column(a) - column(b));
}
