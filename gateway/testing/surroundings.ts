/** What a test's process gives a gateway that lives in it: the test runner's program is not ours, so nobody else can. */
export function processSurroundings(): {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
} {
  return { env: process.env, cwd: process.cwd() };
}
