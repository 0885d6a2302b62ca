import type { Log } from '../../shared/log.ts';
import { runHandler } from './handler.ts';
import { errorOutcome } from './message.ts';
import type { Outcome } from './message.ts';
import type { Pack, Tool } from './pack.ts';
import type { ParsedRequest } from './request.ts';
import { brokenSchema, invalidInput } from './validation.ts';

export type InvokeMessage = Extract<ParsedRequest, { kind: 'invoke' }>;

/** Runs a tool: finds it, checks the input, then all that its handler does (D4, D8, D9). Never rejects. */
export async function runTool(
  pack: Pack,
  { tool: asked, input, ctx }: InvokeMessage,
  { signal, log }: { signal: AbortSignal; log: Log },
): Promise<Outcome> {
  const subject = { toolId: asked.id };
  const tool = findTool(pack, asked);
  if ('outcome' in tool) return tool;

  if (!tool.input.ok) return brokenSchema('input', asked.id, tool.input.error, pack.root);
  const issues = tool.input.check(input);
  if (issues.length > 0) return invalidInput(asked.id, issues);

  const { handler } = tool;
  if (!handler.ok) {
    const where = `Module ${tool.entry.modulePath} of tool "${asked.id}"`;
    return errorOutcome('handler-shape-invalid', `${where} has no handler: ${handler.why}`, subject);
  }
  return runHandler(pack, tool, handler, { input, ctx, signal, log });
}

/** The entry that a call means, or the error why there is none (D4). */
function findTool(pack: Pack, { id, version }: InvokeMessage['tool']): Tool | Outcome {
  const subject = { toolId: id };
  const versions = pack.tools.get(id);
  if (versions === undefined) return errorOutcome('tool-not-in-pack', `No tool "${id}" in this pack`, subject);
  const only = version === undefined && versions.length === 1 ? versions[0] : undefined;
  const tool = version === undefined ? only : versions.find(({ entry }) => entry.version === version);
  if (tool !== undefined) return tool;
  const has = versions.map(({ entry }) => entry.version ?? 'one without a version').join(', ');
  const asked = version === undefined ? 'the call names none' : `the call asks for "${version}"`;
  return errorOutcome('tool-version-mismatch', `Tool "${id}" is here in ${has}; ${asked}`, subject);
}
