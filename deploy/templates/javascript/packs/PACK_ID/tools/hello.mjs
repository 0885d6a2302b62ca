/**
 * Greets somebody.
 * @type {import('packgate/pack').Tool<{ name: string }, { greeting: string }>}
 */
export default {
  id: 'PACK_ID.hello',
  version: '0.1.0',
  description: 'Greets somebody by name.',
  input: {
    type: 'object',
    properties: { name: { type: 'string', minLength: 1 } },
    required: ['name'],
    additionalProperties: false,
  },
  output: { type: 'object', properties: { greeting: { type: 'string' } }, required: ['greeting'] },
  handler({ name }, { log }) {
    log.info('greeting somebody');
    return { greeting: `Hello, ${name}!` };
  },
};
