/** What a test measured, for whoever reads its output; a test's verdict never rests on it. */
export function printFigures(line: string): void {
  process.stdout.write(`${line}\n`);
}
