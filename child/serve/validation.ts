import type { Issue } from '../../shared/protocol/messages.ts';
import { describeThrown } from '../cause.ts';
import { errorOutcome } from './message.ts';
import type { Outcome } from './message.ts';

/** The input does not fit the index's schema, or the tool's own model (D12). */
export function invalidInput(toolId: string, issues: readonly Issue[]): Outcome {
  const message = `The input of tool "${toolId}" does not fit its schema`;
  return errorOutcome('input-validation-failed', message, { toolId }, { issues });
}

/** What the handler returned does not fit the index's schema (D12). */
export function invalidOutput(toolId: string, issues: readonly Issue[]): Outcome {
  const message = `The output of tool "${toolId}" does not fit its schema`;
  return errorOutcome('output-validation-failed', message, { toolId }, { issues });
}

/** A schema of the index that does not compile: no issues, the reason is the cause (D12). */
export function brokenSchema(side: 'input' | 'output', toolId: string, error: Error, root: string): Outcome {
  const message = `The ${side} schema of tool "${toolId}" does not compile: ${error.message}`;
  const { cause } = describeThrown(error, root);
  return errorOutcome(`${side}-validation-failed`, message, { toolId }, { cause });
}
