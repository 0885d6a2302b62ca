import { isBag, failedResult, unwrap } from '../modules/exports.ts';
import type { Bag } from '../modules/exports.ts';

export type Callable = (...args: readonly unknown[]) => unknown;

/** A Standard Schema's own check (what Zod 4 and others offer under `~standard`). */
export type ModelCheck = (value: unknown) => unknown;

/** What a module offers to be called, or why there is nothing. */
export type Found =
  | { readonly ok: true; readonly call: Callable; readonly model: ModelCheck | undefined }
  | { readonly ok: false; readonly why: string };

const TOOL = { names: ['default', 'handler', 'run'], inner: ['handler', 'run'], nested: [] } as const;
const CHECK = { names: ['evaluate', 'default', 'check'], inner: ['evaluate'], nested: ['check'] } as const;

/** A tool's handler: `default`, `handler` or `run`, a function or an object that has it one level in (F7). */
export function findHandler(exports: Bag): Found {
  return find(
    exports,
    TOOL,
    'no function in `default`, `handler` or `run`: export default { id, input, output, handler }',
  );
}

/** A guardrail's check: `evaluate`, `default` or `check`, a function or an object with `evaluate` or with a `check` (F7, F8). */
export function findCheck(exports: Bag): Found {
  return find(
    exports,
    CHECK,
    'no function in `evaluate`, `default` or `check`: export default { id, check: { evaluate } }',
  );
}

function find(exports: Bag, places: typeof TOOL | typeof CHECK, none: string): Found {
  for (const name of places.names) {
    const candidate = unwrap(exports[name]);
    const call = callableIn(candidate, places);
    if (call !== undefined) return { ok: true, call, model: modelOf(candidate) };
  }
  const failed = failedResult(exports.default);
  return { ok: false, why: failed === undefined ? none : `its default export is a failed Result: ${failed.text}` };
}

function callableIn(candidate: unknown, { inner, nested }: typeof TOOL | typeof CHECK): Callable | undefined {
  if (typeof candidate === 'function') return candidate as Callable;
  if (!isBag(candidate)) return undefined;
  for (const name of inner) {
    if (typeof candidate[name] === 'function') return candidate[name] as Callable;
  }
  for (const name of nested) {
    const call = callableIn(unwrap(candidate[name]), { names: [], inner, nested: [] } as never);
    if (call !== undefined) return call;
  }
  return undefined;
}

/** The check of a tool's `inputZod`: defaults, transforms and refinements apply (F9). */
function modelOf(candidate: unknown): ModelCheck | undefined {
  const model = isBag(candidate) ? candidate.inputZod : undefined;
  const standard = isBag(model) && '_zod' in model ? model['~standard'] : undefined;
  return isBag(standard) && typeof standard.validate === 'function' ? (standard.validate as ModelCheck) : undefined;
}
