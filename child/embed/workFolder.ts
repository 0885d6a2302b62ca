import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A temporary folder of one service, made when it is first needed. */
export class WorkFolder {
  #path: string | undefined;

  /** Its path; the folder is there from now on. */
  path(): string {
    this.#path ??= mkdtempSync(join(tmpdir(), 'packgate-service-'));
    return this.#path;
  }

  /** Writes a file into it and gives the file's path. */
  write(name: string, text: string): string {
    const file = join(this.path(), name);
    writeFileSync(file, text);
    return file;
  }

  /** Removes it, if there is one. */
  remove(): void {
    if (this.#path !== undefined) rmSync(this.#path, { recursive: true, force: true });
    this.#path = undefined;
  }
}
