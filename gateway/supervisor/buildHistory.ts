import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import { readServing, writeServing } from './servingFile.ts';
import type { Serving } from './servingFile.ts';

/** A build as it was served or is about to be. */
export interface Served {
  readonly id: string;
  /** From the copy of its code, because an operator went back to it. */
  readonly isSnapshot: boolean;
  /** What of the settings it was made by. */
  readonly basis: string;
}

export interface BuildHistoryOptions {
  readonly log: Logger;
  /** What of the settings of now a build is made by. */
  readonly basis: string;
  /** The command that ends a rollback, for the warning that one is in force. */
  readonly reload: string;
}

/**
 * Which builds of a deployment have served, and which one is gone back to. Kept in a file, so that a rollback outlives
 * the gateway, and so that one is possible right after a start with a new pack.
 */
export class BuildHistory {
  readonly #path: string;
  readonly #log: Logger;
  #kept: Served | undefined;
  /** Whether `kept` was kept in this life of the gateway: it may be started again as it is. */
  #isOfThisLife = false;
  #before: string | undefined;
  #newest: string | undefined;
  #chosen: string | undefined;
  #written: Serving | undefined;

  constructor(path: string, { log, basis, reload }: BuildHistoryOptions) {
    this.#path = path;
    this.#log = log;
    try {
      this.#written = readServing(path);
    } catch (cause) {
      log.warn({ event: 'serving-unreadable', err: cause }, 'which build was served is not known; it is made anew');
    }
    if (this.#written === undefined) return;
    const { kept, previous } = this.#written;
    // With other settings than it was made by, an earlier build is no more served than a later one.
    const isSnapshot = this.#written.isRolledBack && this.#written.basis === basis;
    this.#kept = { id: kept, isSnapshot, basis: this.#written.basis };
    this.#before = previous;
    if (!isSnapshot) return;
    const text = `serves an EARLIER build of the pack, because of a rollback; "${reload}" returns to its folder`;
    log.warn({ event: 'rolled-back', build: kept }, text);
  }

  get isRolledBack(): boolean {
    return this.#kept?.isSnapshot ?? false;
  }

  /**
   * The build before the one in the pack's folder, as that was when last looked at. That is the serving one, as long as
   * the one in the folder has not served: it failed, or has not been tried since the gateway was started.
   */
  get previous(): string | undefined {
    if (this.isRolledBack) return undefined;
    return this.#newest !== undefined && this.#newest === this.#kept?.id ? this.#before : this.#kept?.id;
  }

  /** Builds that something may yet be started from; the one that serves first. */
  get ids(): readonly string[] {
    return [this.#kept?.id, this.#before, this.#newest, this.#chosen].filter((id) => id !== undefined);
  }

  /** What is started unless somebody wants to look at the pack's folder, or the settings are others than it was made by. */
  startable(basis: string): Served | undefined {
    const kept = this.#kept;
    return (this.#isOfThisLife || kept?.isSnapshot === true) && kept?.basis === basis ? kept : undefined;
  }

  /** The next start goes back to it. */
  choose(id: string): void {
    this.#chosen = id;
  }

  /** Gives what was chosen, once. */
  takeChosen(): { readonly id: string } | undefined {
    const id = this.#chosen;
    this.#chosen = undefined;
    return id === undefined ? undefined : { id };
  }

  /** What was made of the pack's folder when it was last looked at; undefined when nothing could be. */
  found(id: string | undefined): void {
    this.#newest = id;
  }

  /** It serves. */
  keep(build: Served): void {
    if (build.id !== this.#kept?.id) this.#before = this.#kept?.id;
    this.#kept = build;
    this.#isOfThisLife = true;
  }

  /** Writes down what has changed. Never rejects: a disk that is full costs a rollback, not the service. */
  async save(): Promise<void> {
    if (this.#kept === undefined) return;
    const { id, isSnapshot, basis } = this.#kept;
    const serving = { kept: id, previous: this.#before, isRolledBack: isSnapshot, basis };
    if (isDeepStrictEqual(serving, this.#written)) return;
    try {
      await writeServing(this.#path, serving);
      this.#written = serving;
    } catch (cause) {
      const text = 'which build is served cannot be written down: the gateway will not know it after its next start';
      this.#log.warn({ event: 'serving-unwritable', err: cause }, text);
    }
  }
}
