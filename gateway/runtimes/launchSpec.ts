/**
 * What is needed to start a process: plain data, made by a runtime from a deployment's settings (and later wrapped by
 * an isolation). Only `supervisor/process.ts` starts anything.
 */
export interface LaunchSpec {
  /** Absolute path, or a name looked up in `env.PATH`. */
  readonly command: string;
  readonly args: readonly string[];
  /** Working folder. */
  readonly cwd: string;
  /** The whole environment; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  /** Gives it standard input, to be written to; a pack service has none (H2). Default: none. */
  readonly hasInput?: boolean;
}
