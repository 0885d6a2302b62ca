import { readFile } from 'node:fs/promises';
import { sampleOf } from '../cli/invoke/sample.ts';
import type { Paint } from '../cli/paint.ts';
import { printable } from '../cli/printable.ts';

/** What there is to know once: where calls go, and how the shell of a caller gets the `token` that was made for this run. */
export function welcomeLines(address: string, token: string | undefined, { bold, faint }: Paint): string[] {
  const first = `${bold('packgate dev')} on ${address} ${faint('(Ctrl+C stops it).')}`;
  if (token === undefined) return [`${first} ${faint('Callers send $PACKGATE_TOKEN as it is set here.')}`];
  return [`${first} ${faint('To call it from another shell:')}`, `export PACKGATE_TOKEN=${token}`];
}

/** A command line that calls a tool of the pack, ready to be pasted; none where its index has no tool. */
export async function callLine(indexPath: string, tenantId: string, address: string): Promise<string | undefined> {
  const tool = await firstTool(indexPath);
  if (tool === undefined) return undefined;
  const input = tool.input === undefined ? '{}' : JSON.stringify(sampleOf(tool.input).value);
  return `packgate invoke ${quoted(tool.id)} ${quoted(input)} --url ${address} --tenant ${quoted(tenantId)}`;
}

interface Tool {
  readonly id: string;
  readonly input: Parameters<typeof sampleOf>[0] | undefined;
}

/** What the index was built from is the author's: nothing of its shape is taken on trust. */
async function firstTool(indexPath: string): Promise<Tool | undefined> {
  try {
    const { tools } = JSON.parse(await readFile(indexPath, 'utf8')) as { tools?: unknown };
    const [first] = Array.isArray(tools) ? (tools as unknown[]) : [];
    if (typeof first !== 'object' || first === null) return undefined;
    const { id, input } = first as { id?: unknown; input?: unknown };
    const isSchema =
      typeof input === 'boolean' || (typeof input === 'object' && input !== null && !Array.isArray(input));
    return typeof id === 'string' ? { id, input: isSchema ? (input as Tool['input']) : undefined } : undefined;
  } catch {
    return undefined;
  }
}

/** One word for a shell, as it stands where that is plain. */
function quoted(text: string): string {
  const shown = printable(text);
  return /^[\w./:@-]+$/.test(shown) ? shown : `'${shown.replaceAll("'", `'\\''`)}'`;
}
