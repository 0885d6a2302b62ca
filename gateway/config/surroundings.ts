import type { Report } from './report.ts';

/** What the parts of a configuration are judged against, and where they report. */
export interface Surroundings {
  /** The gateway's own environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Folder of the configuration file, absolute: relative paths count from here. */
  readonly folder: string;
  readonly report: Report;
}
