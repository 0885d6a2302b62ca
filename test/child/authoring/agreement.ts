/**
 * What the service gives a handler is what the types of `packgate/pack` promise. Judged by the compiler: nothing here
 * compiles when one side is changed alone.
 */
import type {
  CallContext,
  Files as AuthorFiles,
  FileToStore,
  Log,
  Pause as AuthorPause,
} from '../../../child/authoring/pack.ts';
import type { Files, NewFile } from '../../../child/serve/files.ts';
import type { Pause } from '../../../child/serve/pause.ts';
import type { CallContext as SentContext } from '../../../shared/protocol/messages.ts';
import type { Log as ServiceLog } from '../../../shared/log.ts';

type Is<Given extends Promised, Promised> = [Given, Promised];

export type Agreement = [
  Is<Required<Files>['read'], Required<AuthorFiles>['read']>,
  Is<FileToStore, NewFile>,
  Is<Pause, AuthorPause>,
  Is<AuthorPause, Pause>,
  Is<ServiceLog, Log>,
  Is<SentContext, CallContext>,
];
