/** Answers its input. */
export default {
  id: 'echo.say',
  version: '1.0.0',
  description: 'Answers its input.',
  input: {
    type: 'object',
    required: ['message'],
    additionalProperties: false,
    properties: { message: { type: 'string', minLength: 1 } },
  },
  output: {
    type: 'object',
    required: ['message'],
    properties: { message: { type: 'string' } },
  },
  handler: ({ message }: { message: string }) => ({ message }),
};
