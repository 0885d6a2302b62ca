import type { Issue } from '../../shared/protocol/messages.ts';
import type { Log } from '../../shared/log.ts';
import { isBag } from '../modules/exports.ts';
import type { ModelCheck } from './callable.ts';
import { describeThrown } from '../cause.ts';
import { createContext } from './context.ts';
import { serialise } from './json.ts';
import { errorOutcome, resultOutcome } from './message.ts';
import type { Outcome } from './message.ts';
import type { Pack, Tool } from './pack.ts';
import type { ParsedRequest } from './request.ts';

export type InvokeMessage = Extract<ParsedRequest, { kind: 'invoke' }>;

/** Runs a tool: finds it, checks the input, calls its handler, checks what it returned (D4, D8, D9). Never rejects. */
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
  let returned: unknown;
  try {
    const parsed = handler.model === undefined ? { value: input } : await applyModel(handler.model, input);
    if ('issues' in parsed) return invalidInput(asked.id, parsed.issues);
    const { call } = handler;
    returned = await call(parsed.value, createContext(ctx, { signal, log }));
  } catch (thrown) {
    const { text, cause } = describeThrown(thrown, pack.root);
    return errorOutcome('handler-throw', `The handler of tool "${asked.id}" threw: ${text}`, subject, { cause });
  }
  return checkOutput(pack, tool, returned);
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

function checkOutput({ root }: Pack, { entry, output }: Tool, returned: unknown): Outcome {
  const subject = { toolId: entry.id };
  if (!output.ok) return brokenSchema('output', entry.id, output.error, root);
  const json = serialise(returned);
  if (!json.ok) {
    const message = `The output of tool "${entry.id}" cannot be sent as JSON: ${json.why}`;
    return errorOutcome('output-validation-failed', message, subject);
  }
  const issues = output.check(json.value);
  if (issues.length === 0) return resultOutcome(json.text);
  const message = `The output of tool "${entry.id}" does not fit its schema`;
  return errorOutcome('output-validation-failed', message, subject, { issues });
}

function invalidInput(toolId: string, issues: readonly Issue[]): Outcome {
  const message = `The input of tool "${toolId}" does not fit its schema`;
  return errorOutcome('input-validation-failed', message, { toolId }, { issues });
}

function brokenSchema(side: 'input' | 'output', toolId: string, error: Error, root: string): Outcome {
  const message = `The ${side} schema of tool "${toolId}" does not compile: ${error.message}`;
  const { cause } = describeThrown(error, root);
  return errorOutcome(`${side}-validation-failed`, message, { toolId }, { cause });
}

/** Parses the input with the tool's own model; its issues have no keyword (D17, D19). */
async function applyModel(model: ModelCheck, input: unknown): Promise<{ value: unknown } | { issues: Issue[] }> {
  const result = await model(input);
  if (!isBag(result) || !Array.isArray(result.issues)) return { value: isBag(result) ? result.value : undefined };
  const issues = result.issues as { message?: unknown; path?: readonly unknown[] }[];
  return {
    issues: issues.map(({ message, path = [] }) => ({
      instancePath: path.map((segment) => `/${pointerPart(segment)}`).join(''),
      message: String(message),
    })),
  };
}

function pointerPart(segment: unknown): string {
  const key = isBag(segment) && 'key' in segment ? segment.key : segment;
  return String(key).replaceAll('~', '~0').replaceAll('/', '~1');
}
