import { classifyLine, stringList } from '../../shared/process/records.ts';
import type { StderrLine } from '../../shared/process/records.ts';
import { LineSplitter } from './lines.ts';
import type { OutputBudget } from './outputBudget.ts';

/** What a starting service said of itself. Anyone in its process can have said it (C25). */
export interface Said {
  /** Port of the first listening line; later ones do not count. */
  readonly port: number | undefined;
  readonly problems: readonly string[];
  readonly refusedConfig: boolean;
}

const OPEN_BRACE = 0x7b;

/** A line to show: what it is, and how many bytes of it were cut off. */
export type OnShownLine = (line: StderrLine, cutBytes: number) => void;

/**
 * Reads a service's stderr: keeps what the start needs to know, passes lines on to be shown as far as the budget goes,
 * believes nothing more.
 */
export class StderrReader {
  readonly #splitter: LineSplitter;
  readonly #budget: OutputBudget;
  readonly #onListening: () => void;
  #port: number | undefined;
  #problems: readonly string[] = [];
  #refusedConfig = false;

  constructor(onListening: () => void, budget: OutputBudget, onShown: OnShownLine) {
    this.#onListening = onListening;
    this.#budget = budget;
    // However much noise there is around it, the line that says where it listens, or why not, is found.
    const mayTell = (firstByte: number | undefined): boolean => this.#port === undefined && firstByte === OPEN_BRACE;
    const onLine = (bytes: Buffer, cutBytes: number): void => {
      if (bytes.length === 0) return;
      const isShown = budget.take(bytes.length);
      if (!isShown && !mayTell(bytes[0])) return;
      const line = classifyLine(bytes.toString('utf8'));
      if (line.type === 'event') this.#note(line.event, line.fields);
      if (isShown) onShown(line, cutBytes);
    };
    this.#splitter = new LineSplitter(onLine, {
      isWanted: (firstByte) => !budget.isUsedUp || mayTell(firstByte),
      onSkipped: (lines) => budget.drop(lines),
    });
  }

  get said(): Said {
    return { port: this.#port, problems: this.#problems, refusedConfig: this.#refusedConfig };
  }

  push(chunk: Buffer): void {
    this.#budget.refill();
    this.#splitter.push(chunk);
  }

  end(): void {
    this.#splitter.end();
  }

  #note(event: string, fields: Readonly<Record<string, unknown>>): void {
    if (event === 'listening' && this.#port === undefined && isPort(fields.port)) {
      this.#port = fields.port;
      this.#onListening();
    }
    if (event !== 'boot-failed' && event !== 'config-invalid') return;
    this.#problems = stringList(fields.problems);
    this.#refusedConfig = event === 'config-invalid';
  }
}

function isPort(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= 65535;
}
