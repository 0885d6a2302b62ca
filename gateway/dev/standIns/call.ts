import { randomBytes, randomUUID } from 'node:crypto';
import { tenantKey } from '../../../shared/protocol/tenantId.ts';
import type { ComingCall } from '../../admin/host.ts';
import { digestOf } from './shelf.ts';
import type { KeptFile, Shelf } from './shelf.ts';

/** What a pause said of itself (D43). */
export interface Pause {
  readonly name?: string;
  readonly timeoutMs?: number;
}

/** Most that one call stores (D37), and most that it is given. */
const MAX_FILES = 10;

/** Both ends of a deadline are not seen at the same moment. */
const GRACE_MS = 10_000;

/**
 * What a call has to do with the stand-ins: its secrets, its files, and what it waits for.
 *
 * `open → over`: the handler's token opens nothing once the call is over, or past its deadline.
 */
export class StandInCall {
  readonly tenantId: string;
  readonly tenantKey: string;
  readonly toolId: string;
  /** Opens files to the handler (D36). */
  readonly token = secret();
  /** In addresses that only whoever makes the call knows. */
  readonly key = secret();
  readonly waitId = randomUUID();
  /** In the address that the output of a pause is posted to: knowing it is the permission (D45). */
  readonly waitKey = secret();
  readonly #shelf: Shelf;
  readonly #endsAt: number;
  /** By digest: the same bytes again are the file that was stored first (D37). Held from before it is written. */
  readonly #stored = new Map<string, Promise<KeptFile | undefined>>();
  readonly #given = new Map<string, KeptFile>();
  #isOver = false;
  #pause: Pause | undefined;
  #isAnswered = false;

  /** With its deadline the call's token ends (D40). */
  constructor({ tenantId, toolId, timeoutMs }: ComingCall, shelf: Shelf, now: number) {
    this.tenantId = tenantId;
    this.tenantKey = tenantKey(tenantId);
    this.toolId = toolId;
    this.#shelf = shelf;
    this.#endsAt = now + timeoutMs + GRACE_MS;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  isOpen(now: number): boolean {
    return !this.#isOver && now < this.#endsAt;
  }

  /** Undefined unless it paused. */
  get pause(): Pause | undefined {
    return this.#pause;
  }

  /** Whether somebody may still answer: it is under way, or has paused. */
  isWaiting(now: number): boolean {
    return this.isOpen(now) || this.#pause !== undefined;
  }

  /** False when it was answered before. */
  answer(): boolean {
    if (this.#isAnswered) return false;
    this.#isAnswered = true;
    return true;
  }

  /** For the handler to read, under a name of the caller's choice. False when there is no room. */
  async give(name: string, type: string, bytes: Buffer): Promise<boolean> {
    if (this.#given.size >= MAX_FILES && !this.#given.has(name)) return false;
    const file = await this.#shelf.keep({ tenantKey: this.tenantKey, name, type }, bytes);
    if (file === undefined) return false;
    const before = this.#given.get(name);
    if (before !== undefined) this.#shelf.drop(before);
    this.#given.set(name, file);
    return true;
  }

  /** What the handler stores; else why it is not stored (D37). */
  async store(name: string, type: string, bytes: Buffer): Promise<KeptFile | 'limit' | 'storage'> {
    const digest = digestOf(bytes);
    const known = this.#stored.get(digest);
    if (known !== undefined) return (await known) ?? 'storage';
    if (this.#stored.size >= MAX_FILES) return 'limit';
    const storing = this.#shelf.keep({ tenantKey: this.tenantKey, name, type }, bytes);
    this.#stored.set(digest, storing);
    try {
      const file = await storing;
      if (file === undefined) this.#stored.delete(digest);
      return file ?? 'storage';
    } catch (cause) {
      this.#stored.delete(digest);
      throw cause;
    }
  }

  /** A file that the handler may read: one that was given to this call, or one of its tenant's. */
  readable(id: string): KeptFile | undefined {
    const given = this.#given.get(id);
    if (given !== undefined) return given;
    const file = this.#shelf.find(id);
    return file?.tenantKey === this.tenantKey ? file : undefined;
  }

  /** Files that it stored and that are still there. */
  async stored(): Promise<readonly KeptFile[]> {
    const files = await Promise.all([...this.#stored.values()].map((storing) => storing.catch(() => undefined)));
    return files.filter((file) => file !== undefined && this.#shelf.find(file.id) !== undefined) as KeptFile[];
  }

  /** Nothing more is stored or read; what was stored stays while there is room. */
  async end(pause?: Pause): Promise<readonly KeptFile[]> {
    this.#isOver = true;
    this.#pause = pause;
    const files = await this.stored();
    this.#letGo(files);
    return files;
  }

  /** It is forgotten: nobody says any more that it is over. */
  async forget(): Promise<void> {
    this.#isOver = true;
    this.#letGo(await this.stored());
  }

  #letGo(stored: readonly KeptFile[]): void {
    for (const file of this.#given.values()) this.#shelf.drop(file);
    this.#given.clear();
    for (const file of stored) this.#shelf.release(file);
  }
}

function secret(): string {
  return randomBytes(24).toString('base64url');
}
