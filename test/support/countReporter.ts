import type { Reporter, TestModule } from 'vitest/node';

/** Prints the skips with their reasons' names and, as the very last line, `N passed, N failed, N skipped`. */
export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const counts = { passed: 0, failed: errors.length, skipped: 0 };
    const skipped: string[] = [];
    for (const module of modules) {
      const before = counts.passed + counts.failed + counts.skipped;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === 'passed') counts.passed += 1;
        else if (state === 'failed') counts.failed += 1;
        else {
          counts.skipped += 1;
          skipped.push(test.fullName);
        }
      }
      // A file that could not be loaded has no tests and is a failure all the same.
      if (before === counts.passed + counts.failed + counts.skipped && module.state() === 'failed') counts.failed += 1;
    }
    const lines = skipped.length > 0 ? ['', 'skipped:', ...skipped.map((name) => `  ${name}`)] : [];
    process.on('exit', () => {
      process.stdout.write(
        `${[...lines, '', `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`].join('\n')}\n`,
      );
    });
  }
}
