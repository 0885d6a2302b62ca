import { LineSplitter } from './lines.ts';
import type { OutputBudget } from './outputBudget.ts';
import type { OnShownLine } from './stderr.ts';

/** Reads a process's stdout: nothing on it is believed, it is shown as far as the budget goes. */
export class StdoutReader {
  readonly #splitter: LineSplitter;
  readonly #budget: OutputBudget;

  constructor(budget: OutputBudget, onShown: OnShownLine) {
    this.#budget = budget;
    const onLine = (bytes: Buffer, cutBytes: number): void => {
      if (bytes.length === 0 || !budget.take(bytes.length)) return;
      onShown({ type: 'output', text: bytes.toString('utf8') }, cutBytes);
    };
    this.#splitter = new LineSplitter(onLine, {
      isWanted: () => !budget.isUsedUp,
      onSkipped: (lines) => budget.drop(lines),
    });
  }

  push(chunk: Buffer): void {
    this.#budget.refill();
    this.#splitter.push(chunk);
  }

  end(): void {
    this.#splitter.end();
  }
}
