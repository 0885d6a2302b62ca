import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';

import type { Issue } from '../../shared/protocol/messages.ts';
import type { Checker } from '../schemas.ts';

/** What compiling a schema gave, now or at an earlier start. */
export type Compiled = ValidateFunction | Error;

/** For schemas that any value fits. */
export const ACCEPTS_ALL: Checker = { ok: true, check: () => [] };

export function checkerOf(compiled: Compiled): Checker {
  if (compiled instanceof Error) return { ok: false, error: compiled };
  return {
    ok: true,
    check(value) {
      try {
        return compiled(value) ? [] : (compiled.errors ?? []).map(toIssue);
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        // A recursive schema over a value that is nested thousands deep.
        return [{ instancePath: '', message: 'is nested too deep to be checked' }];
      }
    },
  };
}

function toIssue({ instancePath, schemaPath, keyword, params, message }: ErrorObject): Issue {
  return { instancePath, schemaPath, keyword, params: withTypeText(params), message: message ?? keyword };
}

/** Several allowed types are one text, joined with commas (D18). */
function withTypeText(params: ErrorObject['params']): Record<string, unknown> {
  const { type } = params as { type?: unknown };
  return Array.isArray(type) ? { ...params, type: type.join(',') } : params;
}
