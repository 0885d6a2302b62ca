import { request } from 'node:http';
import type { Briefing, FakeCall, FakeReply } from '../script.ts';

/** The way to the test that says what this service does. */
export class Control {
  readonly #socketPath: string;

  constructor(socketPath: string) {
    this.#socketPath = socketPath;
  }

  /** This process has started. */
  started(pid: number): Promise<Briefing> {
    return this.#ask('/start', { pid }) as Promise<Briefing>;
  }

  /** A call has been read to its end. Rejects when nobody is there to say what it is answered. */
  called(call: FakeCall): Promise<FakeReply> {
    return this.#ask('/call', call) as Promise<FakeReply>;
  }

  #ask(path: string, question: unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const asked = request({ socketPath: this.#socketPath, path, method: 'POST', agent: false }, (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('error', reject);
        answer.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          if (answer.statusCode === 200) resolve(JSON.parse(text));
          else reject(new Error(text));
        });
      });
      asked.on('error', reject);
      asked.end(JSON.stringify(question));
    });
  }
}
