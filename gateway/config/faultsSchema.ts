import { CALL_FAULTS, START_FAULTS } from './faultRule.ts';
import type { Schema } from './schema.ts';

const rule: Schema = {
  type: 'object',
  additionalProperties: false,
  required: ['fault'],
  properties: {
    tenant: {
      type: 'string',
      minLength: 1,
      description: 'Only calls to this tenant. Default: all.',
      expected: "a tenant's id",
    },
    tool: {
      type: 'string',
      minLength: 1,
      description: 'Only calls of this tool or check. Default: all.',
      expected: 'the id of a tool or a check',
    },
    nth: {
      type: 'integer',
      minimum: 1,
      description: 'Only this one, counted from 1 for each tenant and tool apart.',
      expected: 'a whole number from 1',
    },
    every: {
      type: 'integer',
      minimum: 1,
      description: 'Every so many, counted from 1 for each tenant and tool apart.',
      expected: 'a whole number from 1',
    },
    probability: {
      type: 'number',
      minimum: 0,
      maximum: 1,
      description: 'Each with this probability; which ones, the seed decides.',
      expected: 'a number from 0 to 1',
    },
    seed: {
      type: 'integer',
      description: 'Of `probability`: the same seed picks the same calls. Default: 1.',
      expected: 'a whole number',
    },
    fault: {
      // YAML reads an unquoted 421 as a number.
      enum: [421, 500, 503, ...CALL_FAULTS, ...START_FAULTS],
      description: 'What goes wrong.',
      expected: `one of ${[...CALL_FAULTS, ...START_FAULTS].join(', ')}`,
    },
    ms: {
      type: 'integer',
      minimum: 1,
      maximum: 86_400_000,
      description: 'Of `late`: how much later the answer is passed on, in milliseconds.',
      expected: 'a whole number of milliseconds from 1',
    },
  },
  expected: 'a mapping with fault, and tenant, tool, nth, every, probability, seed or ms',
};

/** `faults` of a configuration. */
export const FAULTS_SCHEMA: Schema = {
  type: 'array',
  items: rule,
  description:
    'Faults on order, to test what a runtime makes of them. Only in a process that was started with `--allow-faults`.',
  expected: 'a list of faults',
};
