/** Always throws. */
export default {
  id: 'echo.fail',
  version: '1.0.0',
  description: 'Always fails.',
  input: { type: 'object', properties: { message: { type: 'string', default: 'it fails, as it was asked to' } } },
  output: {},
  handler({ message }: { message: string }): never {
    throw new Error(message);
  },
};
