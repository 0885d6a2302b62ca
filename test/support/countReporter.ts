import type { Reporter, TestModule } from 'vitest/node';

/** A skipped test says why at the end of its name: `… – skipped: reason`. */
const REASON = /\(?(?:– )?skipped: (.*?)\)?$/;

/** Prints what was skipped and why and, as the very last line, `N passed, N failed, N skipped`. */
export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const counts = { passed: 0, failed: errors.length, skipped: 0 };
    const reasons = new Map<string, number>();
    for (const module of modules) {
      const before = counts.passed + counts.failed + counts.skipped;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === 'passed') counts.passed += 1;
        else if (state === 'failed') counts.failed += 1;
        else {
          counts.skipped += 1;
          const [group = ''] = test.fullName.split(' > ');
          const why = `${group}: ${REASON.exec(test.fullName)?.[1] ?? 'NO REASON GIVEN'}`;
          reasons.set(why, (reasons.get(why) ?? 0) + 1);
        }
      }
      // A file that could not be loaded has no tests and is a failure all the same.
      if (before === counts.passed + counts.failed + counts.skipped && module.state() === 'failed') counts.failed += 1;
    }
    const lines = [...reasons].map(([why, count]) => `  ${count} of ${why}`);
    const skips = lines.length > 0 ? ['', 'SKIPPED', ...lines] : [];
    process.on('exit', () => {
      process.stdout.write(
        `${[...skips, '', `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`].join('\n')}\n`,
      );
    });
  }
}
