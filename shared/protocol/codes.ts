/**
 * Why running pack code gave no result: the `code` of an error message. Such an answer has status 200, because the
 * service reached the point of running (or judging) the call. Protocol D12.
 */
export const ERROR_CODES = [
  'input-validation-failed',
  'output-validation-failed',
  'handler-import-failed',
  'handler-shape-invalid',
  'handler-throw',
  'connection-rejected',
  'check-shape-invalid',
  'malformed-message',
  'unknown-protocol-version',
  'unexpected-message-kind',
  'tool-not-in-pack',
  'check-not-in-pack',
  'tool-version-mismatch',
  'deadline-exceeded',
  'cancelled',
  'pause-not-available',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];
