import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { ComingCall } from '../../admin/host.ts';
import type { Clock } from '../../clock.ts';
import { openListener } from '../../listener.ts';
import { standInsApp } from './app.ts';
import { StandInCall } from './call.ts';
import type { Pause } from './call.ts';
import type { Declared } from './declared.ts';
import { Shelf } from './shelf.ts';
import type { KeptFile, ShelfBounds } from './shelf.ts';

/** What stands in for a runtime during one call. Every text in it is a secret of that call. */
export interface StandInOffer {
  /** `ctx.toolFiles`; left out for a tool that declares no use of files. */
  readonly toolFiles?: { readonly url: string; readonly token: string };
  /** `ctx.waitToken`; left out for a tool that does not declare that it pauses. */
  readonly waitToken?: { readonly id: string; readonly url: string };
  /** Where whoever makes the call gives it files (PUT `<call>/files/<name>`) and says that it is over (POST `<call>/over`). */
  readonly call: string;
}

/** What happens at the stand-ins, for those who are to be told. */
export interface StandInEvents {
  /** A call paused; `url` is where its output is posted to, and not for a log. */
  readonly onPaused: (call: ComingFacts, pause: Pause, url: string) => void;
  /** Its output was posted. Nothing goes on by that: there is no run. */
  readonly onAnswered: (call: ComingFacts, output: unknown) => void;
}

export type ComingFacts = Pick<ComingCall, 'tenantId' | 'toolId'>;

export interface StandInsOptions extends StandInEvents {
  /** Of its own: emptied first, removed at the end. */
  readonly folder: string;
  readonly clock: Clock;
  readonly bounds?: ShelfBounds;
}

/** Calls that are remembered, for pauses that are answered late; beyond it the oldest is forgotten. */
const MAX_CALLS = 1_000;
const MAX_CONNECTIONS = 256;
const MAX_HEADER_BYTES = 32 * 1024;

/**
 * What a runtime has ready for its calls, for a loop that has no runtime: a place for files (D.10) and addresses that
 * pauses are answered at (D.11). A listener on loopback of its own; each call has secrets of its own.
 */
export class StandIns {
  readonly #options: StandInsOptions;
  readonly #server: Server;
  readonly #shelf: Shelf;
  /** By digest of each of its secrets, so that how long a look-up takes tells nothing of them. The oldest first. */
  readonly #bySecret = new Map<string, StandInCall>();
  readonly #calls = new Set<StandInCall>();
  #origin = '';

  private constructor(options: StandInsOptions, server: Server, shelf: Shelf) {
    this.#options = options;
    this.#server = server;
    this.#shelf = shelf;
  }

  /** Rejects with what keeps it from opening. */
  static async open(options: StandInsOptions): Promise<StandIns> {
    const { folder, bounds, clock, onAnswered } = options;
    const shelf = await Shelf.open(folder, bounds);
    const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES });
    server.maxConnections = MAX_CONNECTIONS;
    const standIns = new StandIns(options, server, shelf);
    const app = standInsApp({
      shelf,
      now: () => clock.now(),
      ...(bounds && { fileBytes: bounds.fileBytes }),
      callOf: (what, secret) => {
        const call = standIns.#bySecret.get(hashed(secret));
        return call?.[what] === secret ? call : undefined;
      },
      urlOf: (call) => standIns.#urlOf(call),
      end: (call, pause) => standIns.#end(call, pause),
      onAnswered,
    });
    server.on('request', app);
    try {
      standIns.#origin = await openListener(server, { kind: 'tcp', host: '127.0.0.1', port: 0 });
    } catch (cause) {
      await shelf.close();
      throw cause;
    }
    return standIns;
  }

  /** What the call is to carry. */
  offer(coming: ComingCall, { files, pauses }: Declared): StandInOffer {
    const call = new StandInCall(coming, this.#shelf, this.#options.clock.now());
    this.#remember(call);
    return {
      ...(files && { toolFiles: { url: `${this.#origin}/files`, token: call.token } }),
      ...(pauses && { waitToken: { id: call.waitId, url: this.#waitUrlOf(call) } }),
      call: this.#urlOf(call),
    };
  }

  /** Cuts what is under way; nothing of it is left. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    this.#server.closeAllConnections();
    await closed;
    await this.#shelf.close();
  }

  // Private

  #remember(call: StandInCall): void {
    this.#calls.add(call);
    for (const secret of secretsOf(call)) this.#bySecret.set(hashed(secret), call);
    if (this.#calls.size <= MAX_CALLS) return;
    const [oldest] = this.#calls;
    if (oldest === undefined) return;
    this.#calls.delete(oldest);
    for (const secret of secretsOf(oldest)) this.#bySecret.delete(hashed(secret));
    void oldest.forget();
  }

  async #end(call: StandInCall, pause: Pause | undefined): Promise<readonly KeptFile[]> {
    if (call.isOver) return call.stored();
    const files = await call.end(pause);
    if (pause !== undefined) this.#options.onPaused(call, pause, this.#waitUrlOf(call));
    return files;
  }

  #urlOf({ key }: StandInCall): string {
    return `${this.#origin}/calls/${key}`;
  }

  #waitUrlOf({ waitKey }: StandInCall): string {
    return `${this.#origin}/waits/${waitKey}`;
  }
}

function secretsOf({ token, key, waitKey }: StandInCall): readonly string[] {
  return [token, key, waitKey];
}

function hashed(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}
