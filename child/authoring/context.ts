import type { CallContext as WireContext, Connection as WireConnection } from '../../shared/protocol/messages.ts';
import type { Log as ServiceLog } from '../../shared/log.ts';
import type { Pause, PauseOptions } from './pause.ts';

/** What a call carries besides its input; a handler gets it in its `ToolContext`. Fields come from the runtime. */
export type CallContext = Omit<WireContext, 'toolFiles' | 'waitToken' | 'secrets'> & {
  /** Values for `needsSpec.secrets`. Not enumerable: printing or spreading a context does not show them. */
  readonly secrets?: Readonly<Record<string, unknown>>;
};

/** An account at another app and a short-lived token for it (protocol 2.9). Never log or return it. */
export type Connection = WireConnection;

/** Writes records that carry the call's ids and trace; fields with telling names such as `token` are redacted. */
export type Log = ServiceLog;

/** Where another system posts what becomes the call's output (protocol 2.8). */
export interface WaitToken {
  /** The same every time this attempt of the call runs. */
  readonly id: string;
  /** Takes a POST of the output as JSON, from whoever knows it: hand it to the system that answers and to nobody else. */
  readonly url: string;
}

/** A file to store. */
export interface FileToStore {
  /** A text is sent as UTF-8. */
  readonly bytes: Uint8Array | string;
  /** A media type, `application/pdf`. */
  readonly type: string;
  /** For people; any characters. */
  readonly name: string;
}

/** A stored file, as the runtime describes it: a value to put into an output. */
export type FileValue = Readonly<Record<string, unknown>>;

/**
 * Stores and reads files of the run (protocol 2.10). What the runtime refuses for good is answered with the reason. Both
 * reject with an error whose `code` is `tool-files-busy` when the runtime had no room then and trying again is allowed,
 * `tool-files-ended` when the call is over, and `tool-files-failed` for anything else.
 */
export interface Files {
  /**
   * There when the tool declares `storesFiles` and the call has an `idempotencyKey`. The same bytes again, in a re-run as
   * well, give the file that was stored first. Refused as `type`: no model may be shown such bytes; `size`: over the
   * type's limit; `limit`: the call has stored 10 files; `storage`: the tenant's storage is full.
   */
  readonly store?: (file: FileToStore) => Promise<{ readonly file: FileValue } | { readonly notStored: string }>;
  /**
   * There when the tool declares `readsFiles`. Refused as `rule`: the run may not be shown that file; `gone`: it was
   * deleted; `changed`: its bytes are not the ones that were checked; `size`: over the type's limit.
   */
  readonly read?: (artifactId: string) => Promise<{ readonly bytes: Uint8Array } | { readonly notRead: string }>;
}

/** The second argument of a tool's handler. */
export interface ToolContext extends CallContext {
  /** Fires when the answer is of no use any more; its reason is `deadline-exceeded` or `cancelled`. */
  readonly abortSignal: AbortSignal;
  readonly log: Log;
  /** Undefined when the call carries no place for files: an older runtime, or the tool declares neither. */
  readonly files?: Files;
  /** Only in calls of a tool that declares `pauses`: elsewhere reading it throws, and the answer is `pause-not-available`. */
  readonly waitToken: WaitToken;
  /** What to return to wait for whoever got `waitToken.url`. Throws a `TypeError` for options that are out of range. */
  readonly pause: (options?: PauseOptions) => Pause;
  /**
   * An error to throw when the app refuses the token of a connection: the runtime renews the token and repeats the call
   * once. Throws a `TypeError` for a name that the call does not carry.
   */
  readonly connectionRejected: (connection: string) => Error;
}
