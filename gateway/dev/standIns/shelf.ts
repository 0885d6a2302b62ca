import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Most that a shelf holds. */
export interface ShelfBounds {
  /** How many files. */
  readonly files: number;
  /** Of all of them together. */
  readonly bytes: number;
  /** Of one. */
  readonly fileBytes: number;
}

export const SHELF_BOUNDS: ShelfBounds = { files: 1_000, bytes: 256 * 2 ** 20, fileBytes: 32 * 2 ** 20 };

/** What there is to know of a file beside its bytes. Name and type are its writer's: any text. */
export interface FileFacts {
  /** Whose it is; only that tenant's calls read it. */
  readonly tenantKey: string;
  readonly name: string;
  readonly type: string;
}

export interface KeptFile extends FileFacts {
  readonly id: string;
  readonly size: number;
}

/**
 * Files in a folder of their own that is gone at the end; one that an earlier loop left behind is emptied first. Nothing
 * of a file's name is ever a path.
 *
 * Safety: never more than the bounds. Progress: what may go makes room, what was released first goes first.
 */
export class Shelf {
  readonly #folder: string;
  readonly #bounds: ShelfBounds;
  /** By id, the oldest first. */
  readonly #files = new Map<string, KeptFile>();
  /** Ids of those that may go when room is needed, in the order in which they were released. */
  readonly #released = new Set<string>();
  readonly #writing = new Set<Promise<void>>();
  #bytes = 0;

  private constructor(folder: string, bounds: ShelfBounds) {
    this.#folder = folder;
    this.#bounds = bounds;
  }

  static async open(folder: string, bounds = SHELF_BOUNDS): Promise<Shelf> {
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return new Shelf(folder, bounds);
  }

  /** Undefined when there is no room for it. */
  async keep({ tenantKey, name, type }: FileFacts, bytes: Buffer): Promise<KeptFile | undefined> {
    if (!this.#makeRoom(bytes.length)) return undefined;
    const file: KeptFile = { id: randomUUID(), tenantKey, name, type, size: bytes.length };
    this.#files.set(file.id, file);
    this.#bytes += file.size;
    const written = writeFile(this.#pathOf(file), bytes, { flag: 'wx', mode: 0o600 });
    this.#writing.add(written);
    try {
      await written;
      return file;
    } catch (cause) {
      this.drop(file);
      if (['ENOSPC', 'EDQUOT'].includes((cause as NodeJS.ErrnoException).code ?? '')) return undefined;
      throw cause;
    } finally {
      this.#writing.delete(written);
    }
  }

  find(id: string): KeptFile | undefined {
    return this.#files.get(id);
  }

  /** Undefined when it went meanwhile. */
  async read(file: KeptFile): Promise<Buffer | undefined> {
    return readFile(this.#pathOf(file)).catch((cause: NodeJS.ErrnoException) => {
      if (cause.code === 'ENOENT') return undefined;
      throw cause;
    });
  }

  /** It stays as long as there is room. */
  release(file: KeptFile): void {
    if (this.#files.has(file.id)) this.#released.add(file.id);
  }

  drop(file: KeptFile): void {
    if (!this.#files.delete(file.id)) return;
    this.#released.delete(file.id);
    this.#bytes -= file.size;
    // Should it stay for whatever reason, it goes with the folder.
    rm(this.#pathOf(file), { force: true }).catch(() => undefined);
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#writing);
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 3 });
  }

  // Private

  #makeRoom(bytes: number): boolean {
    const { files, bytes: most, fileBytes } = this.#bounds;
    if (bytes > fileBytes || bytes > most) return false;
    for (const id of this.#released) {
      if (this.#files.size < files && this.#bytes + bytes <= most) break;
      const file = this.#files.get(id);
      if (file !== undefined) this.drop(file);
    }
    return this.#files.size < files && this.#bytes + bytes <= most;
  }

  #pathOf({ id }: KeptFile): string {
    return join(this.#folder, id);
  }
}

/** Tells bytes from others. */
export function digestOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('base64url');
}
