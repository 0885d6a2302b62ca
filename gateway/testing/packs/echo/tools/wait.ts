import { setTimeout as pause } from 'node:timers/promises';

/** Answers its input after that long; its cancellation ends the wait. */
export default {
  id: 'echo.wait',
  version: '1.0.0',
  description: 'Answers its input after that many milliseconds.',
  input: {
    type: 'object',
    required: ['ms'],
    additionalProperties: false,
    properties: { ms: { type: 'integer', minimum: 0 } },
  },
  output: { type: 'object', required: ['ms'], properties: { ms: { type: 'integer' } } },
  async handler({ ms }: { ms: number }, { abortSignal }: { abortSignal?: AbortSignal }) {
    await pause(ms, undefined, abortSignal && { signal: abortSignal });
    return { ms };
  },
};
