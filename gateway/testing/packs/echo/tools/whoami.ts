/** Says for whom it was called. */
export default {
  id: 'echo.whoami',
  version: '1.0.0',
  description: 'Says for which tenant and run it was called.',
  input: { type: 'object' },
  output: {
    type: 'object',
    required: ['tenantId', 'runId'],
    properties: { tenantId: { type: 'string' }, runId: { type: 'string' } },
  },
  handler: (_input: object, { tenantId, runId }: { tenantId: string; runId: string }) => ({ tenantId, runId }),
};
