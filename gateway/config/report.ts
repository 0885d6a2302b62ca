import { pathText } from './problem.ts';
import type { Path, Position, Problem, Warning } from './problem.ts';
import type { Source } from './source.ts';

/** What is said about one place. `at` is what the position points to: the value, unless said otherwise. */
export interface Finding {
  readonly expected: string;
  readonly got: string;
  readonly todo?: string;
  readonly at?: 'key' | 'value';
}

/** A file that is judged, as it is best named to the reader, and its text. */
interface Written {
  readonly file: string;
  readonly source: Source;
}

/** Collects everything found in one configuration: each thing once, file by file, in their order. */
export class Report {
  readonly #main: Written;
  /** Tenants that are written in files of their own, by id. */
  readonly #tenants = new Map<string, Written>();
  readonly #problems = new Map<string, Problem>();
  readonly #warnings = new Map<string, Warning>();
  /** Texts of all places that have a problem, and of all places around them. */
  readonly #places = new Set<string>();

  constructor(file: string, source: Source) {
    this.#main = { file, source };
    this.#takeFaults(this.#main);
  }

  /** From now on, what is said about `tenants.<id>` is said about that file. */
  includeTenant(id: string, file: string, source: Source): void {
    const written = { file, source };
    this.#tenants.set(id, written);
    this.#takeFaults(written);
    if (source.faults.length > 0) this.suspect(['tenants', id]);
  }

  /** Something about a file as a whole. */
  fileProblem(file: string, { expected, got, todo }: Omit<Finding, 'at'>): void {
    const problem = { file, path: '', expected, got, ...(todo !== undefined && { todo }) };
    this.#problems.set(JSON.stringify(problem), problem);
  }

  problem(path: Path, { at = 'value', ...finding }: Finding): void {
    const place = this.#placeOf(path, at);
    // Settings that many deployments share are judged once for each of them, and shown once.
    this.#problems.set(JSON.stringify([place.file, place.path, finding]), { ...place, ...finding });
    this.suspect(path);
  }

  /** What is at `path`, or should be, is known to be wrong: a problem that was reported is about it. */
  suspect(path: Path): void {
    for (let length = 0; length <= path.length; length += 1) this.#places.add(pathText(path.slice(0, length)));
  }

  warn(path: Path, text: string): void {
    const place = this.#placeOf(path, 'key');
    this.#warnings.set(JSON.stringify([place.file, place.path, text]), { ...place, text });
  }

  /** Whether something at or below `path` is wrong already: what follows from that is not said too. */
  isBad(path: Path): boolean {
    return this.#places.has(pathText(path));
  }

  get problems(): Problem[] {
    return this.#inOrder([...this.#problems.values()]);
  }

  get warnings(): Warning[] {
    return this.#inOrder([...this.#warnings.values()]);
  }

  #takeFaults({ file, source }: Written): void {
    for (const { position, expected, got } of source.faults) {
      const problem = { file, position, path: '', expected, got };
      this.#problems.set(JSON.stringify(problem), problem);
    }
  }

  #placeOf(path: Path, at: 'key' | 'value'): { file: string; position: Position; path: string } {
    const [top, id, ...rest] = path;
    const own = top === 'tenants' && typeof id === 'string' ? this.#tenants.get(id) : undefined;
    const { file, source } = own ?? this.#main;
    const inFile = own === undefined ? path : rest;
    return { file, position: source.positionOf(inFile, at), path: pathText(inFile) };
  }

  #inOrder<T extends Problem | Warning>(findings: T[]): T[] {
    const files = [this.#main, ...this.#tenants.values()].map(({ file }) => file);
    const rank = new Map(files.map((file, index) => [file, index]));
    const fileRank = ({ file }: T): number => rank.get(file) ?? files.length;
    const line = (finding: T): number => finding.position?.line ?? 0;
    const column = (finding: T): number => finding.position?.column ?? 0;
    return findings.toSorted((a, b) => fileRank(a) - fileRank(b) || line(a) - line(b) || column(a) - column(b));
  }
}
