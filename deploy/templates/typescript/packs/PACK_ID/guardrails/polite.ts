import type { Guardrail } from 'packgate/pack';

/** An answer must not shout. */
export default {
  id: 'PACK_ID.no-shouting',
  kind: 'output',
  action: { 'on-violation': 'block' },
  check: {
    id: 'PACK_ID.polite',
    evaluate(_config, { output = '' }) {
      const isShouted = /\p{L}/u.test(output) && output === output.toUpperCase();
      return isShouted ? { passed: false, reason: 'it is all in capitals' } : { passed: true };
    },
  },
} satisfies Guardrail;
