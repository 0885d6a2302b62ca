import type { IndexSchemas } from '../schemas.ts';
import { schemasOf } from '../serve/pack.ts';
import { readPackIndex } from '../serve/packIndex.ts';

/**
 * Stores the compiled schemas of the index that was just written, which the indexer compiled anyway: the first start on it
 * is as quick as a later one then. What fails here costs no more than that.
 */
export async function keepSchemas(indexPath: string, schemas: IndexSchemas, folder: string): Promise<void> {
  const read = await readPackIndex(indexPath);
  if ('problems' in read) return;
  try {
    await schemas.keep(schemasOf(read.index), folder);
  } catch {
    // The folder cannot be written: the first start compiles, and says so.
  }
}
