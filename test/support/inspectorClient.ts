import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import type { SourceMapPayload } from 'node:module';
import { fileURLToPath } from 'node:url';
import { WebSocket } from 'undici';
import { until } from './files.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A debugger, as far as tests need one: the inspector's protocol over a WebSocket, sources found by their source maps. */
export class InspectorClient {
  readonly #socket: WebSocket;
  readonly #answers = new Map<number, (message: Fields) => void>();
  readonly #scripts: { readonly scriptId: unknown; readonly url: string; readonly sourceMapURL: string }[] = [];
  /** Every pause so far: where, as `FILE:LINE` of the source, counted from 1. */
  readonly pauses: string[] = [];
  #count = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => this.#take(JSON.parse(String(data)) as Fields));
  }

  /** Rejects when the connection is refused. */
  static async connect(address: string): Promise<InspectorClient> {
    const socket = new WebSocket(address);
    const client = new InspectorClient(socket);
    await new Promise<void>((resolve, reject) => {
      socket.addEventListener('open', () => resolve());
      socket.addEventListener('error', () => reject(new Error(`no debugger gets in at ${address}`)));
    });
    await client.ask('Runtime.enable');
    await client.ask('Debugger.enable');
    return client;
  }

  get isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN;
  }

  close(): void {
    this.#socket.close();
  }

  ask(method: string, params: Fields = {}): Promise<Fields> {
    this.#count += 1;
    const id = this.#count;
    return new Promise((resolve, reject) => {
      this.#answers.set(id, (message) => {
        if (message.error === undefined) resolve(message.result as Fields);
        else reject(new Error(`${method}: ${JSON.stringify(message.error)}`));
      });
      this.#socket.send(JSON.stringify({ id, method, params }));
    });
  }

  /** By the path of a source, as it ends, and a line counted from 1. */
  async breakAt(source: string, line: number): Promise<void> {
    const found = await until(`a script made of ${source}`, () => this.#generated(source, line));
    await this.ask('Debugger.setBreakpointByUrl', { url: found.url, lineNumber: found.line });
  }

  #take(message: Fields): void {
    if (typeof message.id === 'number') {
      this.#answers.get(message.id)?.(message);
      this.#answers.delete(message.id);
      return;
    }
    const params = (message.params ?? {}) as Fields;
    if (message.method === 'Debugger.scriptParsed') {
      const { scriptId, url, sourceMapURL } = params as { scriptId: string; url: string; sourceMapURL?: string };
      if (sourceMapURL) this.#scripts.push({ scriptId, url, sourceMapURL });
    }
    if (message.method === 'Debugger.paused') this.pauses.push(this.#placeOf(params));
  }

  #generated(source: string, line: number): { url: string; line: number } | undefined {
    for (const { url, sourceMapURL } of this.#scripts) {
      const payload = sourceMapOf(url, sourceMapURL);
      if (payload?.sources.some((name) => name.endsWith(source)) !== true) continue;
      const map = new SourceMap(payload);
      const lines = payload.mappings.split(';').length;
      for (let at = 0; at < lines; at += 1) {
        for (let column = 0; column < 80; column += 1) {
          const entry = map.findEntry(at, column);
          if ('originalLine' in entry && entry.originalSource.endsWith(source) && entry.originalLine === line - 1)
            return { url, line: at };
        }
      }
    }
    return undefined;
  }

  #placeOf({ callFrames }: Fields): string {
    const [frame] = callFrames as { location: { scriptId: string; lineNumber: number; columnNumber: number } }[];
    const location = frame?.location;
    const script = this.#scripts.find(({ scriptId }) => scriptId === location?.scriptId);
    const payload = script && sourceMapOf(script.url, script.sourceMapURL);
    if (location === undefined || script === undefined || payload === undefined) return 'elsewhere';
    const entry = new SourceMap(payload).findEntry(location.lineNumber, location.columnNumber);
    return 'originalLine' in entry ? `${entry.originalSource}:${entry.originalLine + 1}` : script.url;
  }
}

function sourceMapOf(url: string, sourceMapURL: string): SourceMapPayload | undefined {
  if (!url.startsWith('file:')) return undefined;
  try {
    return JSON.parse(readFileSync(fileURLToPath(new URL(sourceMapURL, url)), 'utf8')) as SourceMapPayload;
  } catch {
    return undefined;
  }
}
