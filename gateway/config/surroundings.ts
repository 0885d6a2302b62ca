import { readText } from './files.ts';
import type { FileText } from './files.ts';
import type { Report } from './report.ts';

/** What the parts of a configuration are judged against, and where they report. */
export interface Surroundings {
  /** The gateway's own environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Folder of the file that is read, absolute: relative paths count from here. */
  readonly folder: string;
  readonly report: Report;
  /** Takes every file and folder whose change changes what comes out. */
  readonly sources: Set<string>;
  /** What was read from pipes: they can be read once, a configuration again and again. */
  readonly pipes: Map<string, string>;
  /** A path as the reader of messages knows it. */
  readonly shown: (path: string) => string;
}

/** The text of a file that is a part of the configuration. A pipe is no source: nobody can write it again. */
export async function readPart(
  path: string,
  maxBytes: number,
  { sources, pipes }: Pick<Surroundings, 'sources' | 'pipes'>,
): Promise<FileText> {
  const kept = pipes.get(path);
  if (kept !== undefined) return { text: kept, isPipe: true };
  const found = await readText(path, maxBytes);
  if ('text' in found && found.isPipe) pipes.set(path, found.text);
  else sources.add(path);
  return found;
}
