/**
 * Why a request for files gave no answer. `tool-files-busy`: the runtime had no room then and did nothing, so trying again
 * is allowed (D39). `tool-files-ended`: the call is over and its token with it. `tool-files-failed`: anything else.
 */
export type FilesErrorCode = 'tool-files-busy' | 'tool-files-ended' | 'tool-files-failed';

/** Names neither the token nor the place it is for: what a handler throws is shown and logged (D34, D40). */
export class FilesError extends Error {
  readonly code: FilesErrorCode;
  /** Status of the runtime's answer, where there was one. */
  readonly status: number | undefined;

  constructor(code: FilesErrorCode, message: string, status?: number) {
    super(message);
    this.name = 'FilesError';
    this.code = code;
    this.status = status;
  }
}
