import { expect } from 'vitest';
import { matchers } from './matchers.ts';
import type { PackMatchers } from './matchers.ts';

/** `import 'packgate/testing/vitest'` once, in a test or in `setupFiles`: `expect` has the matchers then, with their types. */
expect.extend(matchers);

declare module 'vitest' {
  interface Matchers<T> extends PackMatchers<void> {}
}
