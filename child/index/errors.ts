import type { Json } from '../../shared/protocol/messages.ts';

/** What can be wrong with one file; the rest of the pack still indexes (E19). */
export type FileErrorCode =
  | 'file-import-failed'
  | 'no-default-export'
  | 'kind-mismatch'
  | 'ambiguous-kind'
  | 'zod-conversion-failed'
  | 'manifest-validation-failed'
  | 'reserved-check-id';

export interface FileError {
  readonly code: FileErrorCode;
  readonly message: string;
  /** Relative to the pack's folder. */
  readonly filePath: string;
  readonly field?: string;
  readonly cause?: Json;
}

/** What does not keep a file out of the index. */
export interface Warning {
  readonly code: 'check-id-unprefixed' | 'schema-does-not-compile' | 'schema-not-strict';
  readonly message: string;
  readonly filePath: string;
  readonly field?: string;
}

/** What makes an index impossible; nothing is written then (E19, E14). */
export type PackErrorCode =
  | 'config-not-found'
  | 'config-parse-failed'
  | 'config-invalid'
  | 'language-mismatch'
  | 'discovery-empty'
  | 'manifest-validation-failed'
  | 'output-write-failed';

export class PackError extends Error {
  readonly code: PackErrorCode;
  readonly filePath: string | undefined;
  readonly field: string | undefined;

  constructor(code: PackErrorCode, message: string, at: { filePath?: string; field?: string; cause?: unknown } = {}) {
    super(message, { cause: at.cause });
    this.name = 'PackError';
    this.code = code;
    this.filePath = at.filePath;
    this.field = at.field;
  }
}
