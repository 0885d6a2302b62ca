// The released Node pack service that we measure ourselves against, where there is one.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { transform } from 'esbuild';

/** Command and first arguments of the real Node service, and its own Node; or why there is none. Found as the tests find it. */
export async function findRealNodeService(root) {
  const source = await readFile(join(root, 'test', 'support', 'realServices.ts'), 'utf8');
  const { code } = await transform(source, { loader: 'ts', format: 'esm' });
  const { findRealServices } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
  const found = findRealServices();
  if (!found.isFound) return found;
  const [node, program] = found.nodeService;
  return { isFound: true, node, program };
}
