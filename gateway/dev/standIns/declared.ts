import { readFile } from 'node:fs/promises';

/** What a tool's index entry says it uses of a runtime (E3). */
export interface Declared {
  readonly files: boolean;
  readonly pauses: boolean;
}

/**
 * What the tool declares; a runtime sends a call nothing else of the kind (D3). Where nothing serves yet there is no
 * telling, and everything is offered: a service keeps from its handler what the tool does not declare.
 */
export async function declaredIn(indexPath: string | undefined, toolId: string): Promise<Declared> {
  if (indexPath === undefined) return { files: true, pauses: true };
  const { tools } = JSON.parse(await readFile(indexPath, 'utf8')) as { readonly tools?: unknown };
  const entries = (Array.isArray(tools) ? (tools as unknown[]) : []).filter(
    (entry): entry is Readonly<Record<string, unknown>> =>
      typeof entry === 'object' && entry !== null && 'id' in entry && entry.id === toolId,
  );
  const says = (flag: string): boolean => entries.some((entry) => entry[flag] === true);
  return { files: says('storesFiles') || says('readsFiles'), pauses: says('pauses') };
}
