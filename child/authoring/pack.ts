/**
 * `packgate/pack`: everything a pack is written and typed with, and nothing that runs besides identity functions and the
 * two marks a handler can give its service. It needs no other package; Zod is known by its structure.
 */
export { defineAgent } from './agent.ts';
export type { Agent } from './agent.ts';
export type { CallContext, Connection, Files, FileToStore, FileValue, Log, ToolContext, WaitToken } from './context.ts';
export { connectionRejected } from './connectionRejected.ts';
export { defineFlow } from './flow.ts';
export type { Flow, FlowEdge, FlowNode } from './flow.ts';
export { defineGuardrail } from './guardrail.ts';
export type { Check, CheckBindings, Guardrail, Trace, Verdict } from './guardrail.ts';
export { pause } from './pause.ts';
export type { Pause, PauseOptions } from './pause.ts';
export type { JsonSchema, ZodModel } from './schema.ts';
export { defineTool } from './tool.ts';
export type { Effect, NeedsSpec, Tool, ToolFacts } from './tool.ts';
