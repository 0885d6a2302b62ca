import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { STUB_CHECK, STUB_TOOL } from './calls.ts';
import { readJsonLines } from './files.ts';

/** The stub child: a pack service that misbehaves on request. */
export const STUB = fileURLToPath(new URL('../fixtures/children/stub.mjs', import.meta.url));

/** Switches of the stub; each is described in `fixtures/children/stub/behaviour.mjs`. Times in milliseconds. */
export interface StubBehaviour {
  readonly bootDelayMs?: number;
  readonly conversation?: 'record' | 'bare' | 'choppy' | 'stdout';
  readonly giantLineBytes?: number;
  readonly bootFailure?: {
    readonly afterMs?: number;
    readonly noiseBytes?: number;
    readonly problems?: readonly string[];
    readonly exitCode?: number;
  };
  readonly readyDelayMs?: number | 'never';
  readonly dieAfterListeningMs?: number;
  readonly missingEnv?: readonly string[];
  readonly checksHeader?: boolean;
  readonly checksContext?: boolean;
  readonly dieAfterBodyBytes?: number;
  readonly onTerminate?: 'drain' | 'ignore';
  readonly leaveDelayMs?: number;
  readonly lastWords?: string;
  readonly starts?: Readonly<Record<number, StubBehaviour>>;
}

interface Note {
  /** Number of the start it was written in, from 1. */
  readonly start: number;
  readonly pid: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** A call of a tool or check it has, read completely. */
export interface Run extends Note {
  readonly id: string;
  readonly requestId: string;
  readonly tenantId: string;
  readonly bodyBytes: number;
  readonly headers: Readonly<Record<string, string>>;
}

export interface StubEvent extends Note {
  readonly event: 'request' | 'ready' | 'early-call' | 'call-closed' | 'signal' | 'stopped';
  readonly path?: string;
  readonly requestId?: string;
  readonly wasAnswered?: boolean;
  readonly signal?: string;
}

/** A folder that is a stub's module root, and the notes its processes leave there. */
export interface StubPack {
  readonly folder: string;
  readonly runs: () => Run[];
  readonly starts: () => Pick<Note, 'pid' | 'at'>[];
  readonly events: (name?: StubEvent['event']) => StubEvent[];
  /** Switches for the next starts. */
  readonly behave: (behaviour: StubBehaviour) => void;
  /** A tenant's entry in the configuration, with settings of its own. */
  readonly deployment: (settings?: Readonly<Record<string, unknown>>) => Record<string, unknown>;
}

export function createStubPack(parent: string, name: string, behaviour: StubBehaviour = {}): StubPack {
  const folder = join(parent, name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'index.json'), `${JSON.stringify(stubIndex(name), undefined, 2)}\n`);
  const behave = (switches: StubBehaviour): void =>
    writeFileSync(join(folder, 'behaviour.json'), JSON.stringify(switches));
  behave(behaviour);
  return {
    folder,
    behave,
    runs: () => readJsonLines(join(folder, 'runs.jsonl')),
    starts: () => readJsonLines(join(folder, 'starts.jsonl')),
    events: (event) =>
      readJsonLines<StubEvent>(join(folder, 'events.jsonl')).filter(
        (note) => event === undefined || note.event === event,
      ),
    deployment: (settings = {}) => ({
      pack: folder,
      runtime: 'command',
      command: [process.execPath, STUB],
      ...settings,
    }),
  };
}

function stubIndex(name: string): unknown {
  return {
    agents: [],
    artifactVersion: '20250101.1',
    flows: [],
    guardrails: [{ action: { 'on-violation': 'block' }, checkModulePath: 'check.mjs', id: STUB_CHECK, kind: 'output' }],
    packId: `stub-${name}`,
    packVersion: '1.0.0',
    publishedAt: '2025-01-01T00:00:00.000Z',
    tools: [{ id: STUB_TOOL, input: {}, modulePath: 'act.mjs', output: {}, version: '1.0.0' }],
    v: 1,
  };
}
