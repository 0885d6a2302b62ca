import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type * as Kit from '../../gateway/testing/testing.ts';

const DIST = process.env.PACKGATE_TEST_DIST ?? fileURLToPath(new URL('../../dist', import.meta.url));

/** The entry of `packgate/testing` as its users have it: built, since it starts programs that are beside it. */
export const KIT_ENTRY = pathToFileURL(join(DIST, 'gateway', 'testing', 'testing.js')).href;

export const kit = (await import(KIT_ENTRY)) as typeof Kit;
