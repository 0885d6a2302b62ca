import { isBag } from '../modules/exports.ts';
import type { Bag } from '../modules/exports.ts';

/** The kinds of primitives a pack has. */
export const KINDS = ['tool', 'guardrail', 'agent', 'flow'] as const;
export type Kind = (typeof KINDS)[number];

/** The folder and list of a kind: `tools` of `tool`. */
export function pluralOf(kind: Kind): `${Kind}s` {
  return `${kind}s`;
}

/** `a tool`, `an agent`. */
export function oneOf(kind: Kind): string {
  return `${kind === 'agent' ? 'an' : 'a'} ${kind}`;
}

/** The kind of a primitive by its structure, in this order; undefined when it has none (F2). */
export function detectKind(value: unknown): Kind | undefined {
  if (!isBag(value) || typeof value === 'function') return undefined;
  if (typeof value.handler === 'function' && (value.input !== undefined || value.inputZod !== undefined)) return 'tool';
  if (typeof value.kind === 'string' && isBag(value.action) && 'on-violation' in value.action) return 'guardrail';
  if (isInstructions(value.instructions) && Array.isArray(value.tools)) return 'agent';
  if (Array.isArray(value.nodes) && Array.isArray(value.edges)) return 'flow';
  return undefined;
}

function isInstructions(value: Bag[string]): boolean {
  if (typeof value === 'string') return true;
  return isBag(value) && typeof value.prompt === 'string' && typeof value.version === 'string';
}
