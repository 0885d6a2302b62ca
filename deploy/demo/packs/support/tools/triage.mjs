const QUEUES = [
  { queue: 'billing', words: ['invoice', 'refund', 'charged', 'payment', 'price'] },
  { queue: 'access', words: ['password', 'login', 'locked', 'sign in', 'two-factor'] },
  { queue: 'outage', words: ['down', 'error', 'crash', 'timeout', 'unavailable'] },
];
const URGENT = ['urgent', 'immediately', 'asap', 'production', 'down'];

/** Sorts a ticket into a queue by what it talks about. */
export default {
  id: 'support.triage',
  version: '1.0.0',
  description: 'Sorts a support ticket into a queue with a priority.',
  input: {
    type: 'object',
    required: ['subject'],
    additionalProperties: false,
    properties: {
      subject: { type: 'string', minLength: 1 },
      text: { type: 'string', default: '' },
    },
  },
  output: {
    type: 'object',
    required: ['queue', 'priority', 'matched'],
    properties: {
      queue: { type: 'string', enum: ['billing', 'access', 'outage', 'general'] },
      priority: { type: 'string', enum: ['normal', 'high'] },
      matched: { type: 'array', items: { type: 'string' } },
    },
  },
  handler({ subject, text }, { log }) {
    const ticket = `${subject} ${text}`.toLowerCase();
    const scored = QUEUES.map(({ queue, words }) => ({
      queue,
      matched: words.filter((word) => ticket.includes(word)),
    }));
    scored.sort((a, b) => b.matched.length - a.matched.length);
    const best = scored[0];
    const queue = best.matched.length > 0 ? best.queue : 'general';
    log.info('ticket sorted', { queue });
    return { queue, priority: URGENT.some((word) => ticket.includes(word)) ? 'high' : 'normal', matched: best.matched };
  },
};
