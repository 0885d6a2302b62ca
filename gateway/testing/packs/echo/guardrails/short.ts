/** Passes an output that is short. */
export default {
  id: 'echo.short',
  kind: 'output',
  action: { 'on-violation': 'block' },
  check: 'echo.short',
  configSchema: {
    type: 'object',
    additionalProperties: false,
    properties: { max: { type: 'integer', minimum: 0 } },
  },
  evaluate({ max = 100 }: { max?: number }, trace: { output?: unknown } | undefined) {
    const { length } = JSON.stringify(trace?.output ?? '');
    return length <= max ? { passed: true } : { passed: false, reason: `${length} characters, at most ${max}` };
  },
};
