import type { Duplex } from 'node:stream';
import { LineSplitter } from '../../supervisor/lines.ts';
import type { OutputSinks } from '../../supervisor/process.ts';
import type { Following, Watcher } from '../source.ts';

/** Where a child's inspector is reached: on loopback, under an id that only the child and we know. */
export interface InspectorPlace {
  readonly port: number;
  /** `/<uuid>` */
  readonly path: string;
}

const LISTENING = /^Debugger listening on ws:\/\/127\.0\.0\.1:(\d+)(\/[0-9a-f-]{36})$/;
const WAITING = 'Waiting for the debugger to disconnect...';

/** What Node says on stderr when it has an inspector: for whoever started it, and no output of the pack. */
export function isInspectorTalk(line: string): boolean {
  return (
    LISTENING.test(line) ||
    line === WAITING ||
    line === 'Debugger attached.' ||
    line.startsWith('For help, see: https://nodejs.org/') ||
    line.startsWith('Debugger ending on ws://127.0.0.1:')
  );
}

/** One process with an inspector, and the debuggers that are connected to it. */
interface Child {
  readonly place: InspectorPlace;
  readonly sessions: Set<Duplex>;
}

/**
 * The inspectors of the packs' processes, by tenant: the newest process of each is the one that is debugged. While one is
 * being started to follow another, that may be one that never serves: then it is the one before again.
 */
export class InspectedChildren implements Watcher {
  /** Oldest first. */
  readonly #living = new Map<string, readonly Child[]>();
  readonly #waiting = new Map<string, Set<(child: Child) => void>>();
  readonly #attached = new Map<string, number>();

  readonly follow: Watcher['follow'] = ({ tenantId, runtime }, spec, sinks): Following => {
    if (runtime.kind !== 'node') return { spec, sinks };
    let child: Child | undefined;
    const lines = new LineSplitter((bytes) => {
      const line = bytes.toString('utf8');
      const [, port = '', path = ''] = LISTENING.exec(line) ?? [];
      if (child === undefined && path !== '') {
        child = { place: { port: Number(port), path }, sessions: new Set() };
        this.#opened(tenantId, child);
      }
      // It has ended all else and stays for its debuggers, who are to find the next one.
      if (line === WAITING) disconnect(child);
    });
    const watched: OutputSinks = {
      onStdout: sinks.onStdout,
      onStderr: (chunk) => {
        lines.push(chunk);
        sinks.onStderr(chunk);
      },
    };
    return {
      spec: { ...spec, args: ['--inspect=127.0.0.1:0', ...spec.args] },
      sinks: watched,
      onLaunched: ({ exited }) =>
        void exited.then(() => {
          const left = (this.#living.get(tenantId) ?? []).filter((one) => one !== child);
          this.#living.set(tenantId, left);
          disconnect(child);
        }),
    };
  };

  /** Where a debugger of this tenant is to be led, as soon as there is a process; undefined when none comes in time. */
  async placeOf(tenantId: string, withinMs: number): Promise<InspectorPlace | undefined> {
    const current = this.#living.get(tenantId)?.at(-1);
    if (current !== undefined) return current.place;
    const waiting = this.#waiting.get(tenantId) ?? new Set();
    this.#waiting.set(tenantId, waiting);
    return new Promise((resolve) => {
      const found = (child: Child): void => end(child.place);
      const timer = setTimeout(() => end(undefined), withinMs);
      const end = (place: InspectorPlace | undefined): void => {
        clearTimeout(timer);
        waiting.delete(found);
        resolve(place);
      };
      waiting.add(found);
    });
  }

  /** A debugger is connected to the process at this place, until its socket closes. */
  attach(tenantId: string, place: InspectorPlace, socket: Duplex): void {
    const child = this.#living.get(tenantId)?.find((one) => one.place === place);
    if (child === undefined) {
      // It has gone while the two were made known to each other.
      socket.destroy();
      return;
    }
    child.sessions.add(socket);
    this.#attached.set(tenantId, (this.#attached.get(tenantId) ?? 0) + 1);
    socket.once('close', () => {
      child.sessions.delete(socket);
      this.#attached.set(tenantId, (this.#attached.get(tenantId) ?? 1) - 1);
    });
  }

  /** Whether somebody debugs it: its calls may then take as long as that takes. */
  isAttached(tenantId: string): boolean {
    return (this.#attached.get(tenantId) ?? 0) > 0;
  }

  #opened(tenantId: string, child: Child): void {
    this.#living.set(tenantId, [...(this.#living.get(tenantId) ?? []), child]);
    for (const found of this.#waiting.get(tenantId) ?? []) found(child);
  }
}

function disconnect(child: Child | undefined): void {
  for (const socket of child?.sessions ?? []) socket.destroy();
}
