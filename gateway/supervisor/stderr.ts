import { classifyLine, stringList } from '../../shared/process/records.ts';
import type { StderrLine } from '../../shared/process/records.ts';
import { LineSplitter } from './lines.ts';

/** What a starting service said of itself. Anyone in its process can have said it (C25). */
export interface Said {
  /** Port of the first listening line; later ones do not count. */
  readonly port: number | undefined;
  readonly problems: readonly string[];
  readonly refusedConfig: boolean;
}

/** A line to show: what it is, and how many bytes of it were cut off. */
export type OnShownLine = (line: StderrLine, cutBytes: number) => void;

/** Reads a service's stderr: keeps what the start needs to know, passes every line on to be shown, believes nothing more. */
export class StderrReader {
  readonly #splitter: LineSplitter;
  readonly #onListening: () => void;
  #port: number | undefined;
  #problems: readonly string[] = [];
  #refusedConfig = false;

  constructor(onListening: () => void, onShown: OnShownLine) {
    this.#onListening = onListening;
    this.#splitter = new LineSplitter((text, cutBytes) => {
      const line = classifyLine(text);
      if (line.type === 'event') this.#note(line.event, line.fields);
      if (text.trim() !== '') onShown(line, cutBytes);
    });
  }

  get said(): Said {
    return { port: this.#port, problems: this.#problems, refusedConfig: this.#refusedConfig };
  }

  push(chunk: Buffer): void {
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
