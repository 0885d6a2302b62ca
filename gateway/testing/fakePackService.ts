import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Json } from '../../shared/protocol/messages.ts';
import { ControlServer } from './controlServer.ts';
import type { FakeCall, FakeReply, FakeStart } from './script.ts';
import type { TenantSettings } from './settings.ts';

const PROGRAM = fileURLToPath(new URL('./fake/main.js', import.meta.url));

/** Stands for every tool and check that has no reply of its own. */
const ANY = '*';

/** What a call is answered, or what makes the answer out of the call. */
export type FakeScript = FakeReply | ((call: FakeCall) => FakeReply | Promise<FakeReply>);

export interface FakePackOptions {
  /** Default: `fake`. */
  readonly packId?: string;
  /** Ids of its tools, each with what it answers; a list of ids: each answers its input. Default: `fake.echo`. */
  readonly tools?: readonly string[] | Readonly<Record<string, FakeScript>>;
  /** The same of its checks, which pass unless told otherwise. Default: none. */
  readonly checks?: readonly string[] | Readonly<Record<string, FakeScript>>;
  /** How it starts. Default: it is ready at once. */
  readonly start?: FakeStart;
  /** Settings of its deployment, as in a configuration: `{ idle: '1s' }`. */
  readonly settings?: Readonly<Record<string, unknown>>;
}

/**
 * A pack service without a pack: a real process that keeps the process contract, and answers what a test says, also
 * while it runs. Give it to one gateway at a time, for one tenant or for several.
 */
export interface FakePackService {
  /** From now on calls of this tool or check (`*`: of all that have no reply of their own) are answered this. */
  answer(id: string, script: FakeScript): void;
  /** The next call of it (`*`: of any) is answered this; several are taken in order. Before what `answer` says. */
  next(id: string, script: FakeScript): void;
  /** From now on its processes start like this. */
  start(script: FakeStart): void;
  /** Its next process starts like this; several are taken in order. */
  nextStart(script: FakeStart): void;
  /** What it was sent, in order; of one tool or check where one is named. */
  calls(id?: string): readonly FakeCall[];
  /** Settles with the calls as soon as there are that many. No time limit: that is the test's. */
  received(count: number, id?: string): Promise<readonly FakeCall[]>;
  /** Process ids of its starts, in order. */
  starts(): readonly number[];
  /** Forgets calls and starts, and every reply that was not used; `answer` and `start` stay. */
  forget(): void;
}

/** A fake as the gateway that hosts it has it. */
export interface HostableFake extends FakePackService {
  /** Opens it in a folder of its own. Returns the tenant's settings. */
  open(folder: string): Promise<TenantSettings>;
  close(): Promise<void>;
}

export function fakePackService(options: FakePackOptions = {}): FakePackService {
  return new Fake(options);
}

export function isFake(value: object): value is HostableFake {
  return value instanceof Fake;
}

interface Waiting {
  readonly isThere: () => boolean;
  readonly resolve: () => void;
}

class Fake implements HostableFake {
  readonly #options: FakePackOptions;
  readonly #tools: readonly string[];
  readonly #checks: readonly string[];
  readonly #answers = new Map<string, FakeScript>();
  readonly #next = new Map<string, FakeScript[]>();
  readonly #nextStarts: FakeStart[] = [];
  #calls: FakeCall[] = [];
  #pids: number[] = [];
  #waiting: Waiting[] = [];
  #start: FakeStart;
  #server: ControlServer | undefined;

  constructor(options: FakePackOptions) {
    this.#options = options;
    this.#start = options.start ?? {};
    this.#tools = this.#take(options.tools ?? ['fake.echo']);
    this.#checks = this.#take(options.checks ?? []);
  }

  answer(id: string, script: FakeScript): void {
    this.#checkId(id);
    this.#answers.set(id, script);
  }

  next(id: string, script: FakeScript): void {
    this.#checkId(id);
    this.#next.set(id, [...(this.#next.get(id) ?? []), script]);
  }

  start(script: FakeStart): void {
    this.#start = script;
  }

  nextStart(script: FakeStart): void {
    this.#nextStarts.push(script);
  }

  calls(id?: string): readonly FakeCall[] {
    return this.#calls.filter((call) => id === undefined || call.id === id);
  }

  async received(count: number, id?: string): Promise<readonly FakeCall[]> {
    const isThere = (): boolean => this.calls(id).length >= count;
    if (!isThere()) await new Promise<void>((resolve) => this.#waiting.push({ isThere, resolve }));
    return this.calls(id);
  }

  starts(): readonly number[] {
    return [...this.#pids];
  }

  forget(): void {
    this.#calls = [];
    this.#pids = [];
    this.#next.clear();
    this.#nextStarts.length = 0;
  }

  async open(folder: string): Promise<TenantSettings> {
    if (this.#server !== undefined) throw new Error('a fake pack service can be with one gateway at a time only');
    const server = new ControlServer({
      onStart: (pid) => {
        this.#pids.push(pid);
        return { start: this.#pids.length, script: this.#nextStarts.shift() ?? this.#start };
      },
      onCall: (call) => this.#reply(call),
    });
    this.#server = server;
    await mkdir(folder);
    const index = join(folder, 'index.json');
    await writeFile(index, `${JSON.stringify(this.#index(), undefined, 2)}\n`);
    const control = join(folder, 'control');
    await server.open(control);
    return {
      ...this.#options.settings,
      pack: folder,
      index,
      runtime: 'command',
      command: [process.execPath, PROGRAM, '--control', control],
    };
  }

  async close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    await server?.close();
  }

  async #reply(call: FakeCall): Promise<FakeReply> {
    this.#calls.push(call);
    const isOver = this.#waiting.filter(({ isThere }) => isThere());
    this.#waiting = this.#waiting.filter((one) => !isOver.includes(one));
    for (const { resolve } of isOver) resolve();
    const script =
      this.#next.get(call.id)?.shift() ??
      this.#next.get(ANY)?.shift() ??
      this.#answers.get(call.id) ??
      this.#answers.get(ANY) ??
      defaultReply(call);
    return typeof script === 'function' ? script(call) : script;
  }

  /** Keeps the replies that come with the ids; returns the ids. */
  #take(given: readonly string[] | Readonly<Record<string, FakeScript>>): readonly string[] {
    if (Array.isArray(given)) return given as readonly string[];
    const scripts = Object.entries(given as Readonly<Record<string, FakeScript>>);
    for (const [id, script] of scripts) this.#answers.set(id, script);
    return scripts.map(([id]) => id);
  }

  /** A misspelt id would let a test pass for the wrong reason. */
  #checkId(id: string): void {
    const known = [...this.#tools, ...this.#checks];
    if (id === ANY || known.includes(id)) return;
    throw new Error(`expected the id of one of its tools and checks (${known.join(', ')}) or "*", got "${id}"`);
  }

  #index(): Json {
    const { packId = 'fake' } = this.#options;
    return {
      agents: [],
      artifactVersion: '20250101.1',
      flows: [],
      guardrails: this.#checks.map((id) => ({
        action: { 'on-violation': 'block' },
        checkModulePath: 'fake.mjs',
        id,
        kind: 'output',
      })),
      packId,
      packVersion: '1.0.0',
      publishedAt: '2025-01-01T00:00:00.000Z',
      tools: this.#tools.map((id) => ({ id, input: {}, modulePath: 'fake.mjs', output: {}, version: '1.0.0' })),
      v: 1,
    };
  }
}

function defaultReply({ kind, input }: FakeCall): FakeReply {
  return kind === 'invoke' ? { result: input ?? null } : { result: { passed: true } };
}
