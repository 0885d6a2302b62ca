import { ERROR_CODES } from './codes.ts';
import { PROTOCOL_VERSION } from './limits.ts';

/**
 * The pack protocol's messages, schema version 2.10.0, as JSON Schema draft 2020-12. Messages allow no other keys (D2),
 * which binds whoever writes one; a service reads requests leniently and does not use `request` for it. Open are
 * secrets, config, settings blocks, issues and a check's result.
 */
export const PROTOCOL_SCHEMA = {
  $id: 'packgate:protocol',
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $defs: {
    version: { const: PROTOCOL_VERSION },
    request: { oneOf: [{ $ref: '#/$defs/toolInvoke' }, { $ref: '#/$defs/checkInvoke' }] },
    response: {
      oneOf: [
        { $ref: '#/$defs/toolResult' },
        { $ref: '#/$defs/toolPause' },
        { $ref: '#/$defs/checkResult' },
        { $ref: '#/$defs/error' },
      ],
    },

    toolInvoke: {
      type: 'object',
      properties: {
        v: { $ref: '#/$defs/version' },
        kind: { const: 'invoke' },
        tool: {
          type: 'object',
          properties: { id: { type: 'string', minLength: 1 }, version: { type: 'string' } },
          required: ['id'],
          additionalProperties: false,
        },
        input: true,
        ctx: { $ref: '#/$defs/callContext' },
      },
      required: ['v', 'kind', 'tool', 'input', 'ctx'],
      additionalProperties: false,
    },
    checkInvoke: {
      type: 'object',
      properties: {
        v: { $ref: '#/$defs/version' },
        kind: { const: 'check-invoke' },
        check: {
          type: 'object',
          properties: { id: { type: 'string', minLength: 1 } },
          required: ['id'],
          additionalProperties: false,
        },
        config: { type: 'object' },
        trace: true,
      },
      required: ['v', 'kind', 'check', 'config', 'trace'],
      additionalProperties: false,
    },

    /** What a call carries besides its input (D3–D6). */
    callContext: {
      type: 'object',
      properties: {
        tenantId: { type: 'string' },
        runId: { type: 'string' },
        projectId: { type: 'string' },
        orgId: { type: 'string' },
        requestId: { type: 'string' },
        idempotencyKey: { type: 'string', format: 'uuid' },
        env: { type: 'object', additionalProperties: { type: 'string' } },
        secrets: { type: 'object' },
        connections: { type: 'object', additionalProperties: { $ref: '#/$defs/connection' } },
        config: { type: 'object' },
        settings: { type: 'object', additionalProperties: { type: 'object' } },
        waitToken: {
          type: 'object',
          properties: { id: { type: 'string' }, url: { type: 'string', format: 'uri' } },
          required: ['id', 'url'],
          additionalProperties: false,
        },
        toolFiles: {
          type: 'object',
          properties: { url: { type: 'string', format: 'uri' }, token: { type: 'string' } },
          required: ['url', 'token'],
          additionalProperties: false,
        },
      },
      required: ['tenantId', 'runId'],
      additionalProperties: false,
    },
    connection: {
      type: 'object',
      properties: {
        connectionId: { type: 'string' },
        app: { type: 'string' },
        appName: { type: 'string' },
        accessToken: { type: 'string' },
        account: {
          type: 'object',
          properties: { id: { type: 'string' }, label: { type: 'string' } },
          required: ['id', 'label'],
          additionalProperties: false,
        },
        expiresAt: { type: 'string', format: 'date-time' },
      },
      required: ['connectionId', 'app', 'appName', 'accessToken', 'account'],
      additionalProperties: false,
    },

    toolResult: {
      type: 'object',
      properties: { v: { $ref: '#/$defs/version' }, kind: { const: 'result' }, output: true },
      required: ['v', 'kind', 'output'],
      additionalProperties: false,
    },
    /** At most 24 days (D43). */
    toolPause: {
      type: 'object',
      properties: {
        v: { $ref: '#/$defs/version' },
        kind: { const: 'pause' },
        timeoutMs: { type: 'integer', minimum: 1, maximum: 2_073_600_000 },
        name: { type: 'string' },
      },
      required: ['v', 'kind'],
      additionalProperties: false,
    },
    checkResult: {
      type: 'object',
      properties: {
        v: { $ref: '#/$defs/version' },
        kind: { const: 'check-result' },
        result: { $ref: '#/$defs/verdict' },
      },
      required: ['v', 'kind', 'result'],
      additionalProperties: false,
    },
    /** A check's result, open beyond these fields (D26). */
    verdict: {
      type: 'object',
      properties: {
        passed: { type: 'boolean' },
        reason: { type: 'string' },
        judgeResponse: { type: 'string' },
        attributes: { type: 'object' },
      },
      required: ['passed'],
    },
    error: {
      type: 'object',
      properties: {
        v: { $ref: '#/$defs/version' },
        kind: { const: 'error' },
        code: { enum: ERROR_CODES },
        message: { type: 'string' },
        toolId: { type: 'string' },
        checkId: { type: 'string' },
        cause: true,
        issues: { type: 'array', items: { $ref: '#/$defs/issue' } },
        connection: { type: 'string' },
      },
      required: ['v', 'kind', 'code', 'message'],
      additionalProperties: false,
    },
    /** Ajv-shaped, open; `keyword` is absent when a model's own validation failed (D17). */
    issue: {
      type: 'object',
      properties: {
        instancePath: { type: 'string', pattern: '^(/|$)' },
        message: { type: 'string' },
        schemaPath: { type: 'string' },
        keyword: { type: 'string' },
        params: { type: 'object' },
      },
      required: ['instancePath', 'message'],
    },

    /** The answer to `GET /v1/info` (D28). */
    info: {
      type: 'object',
      properties: {
        protocol: { $ref: '#/$defs/version' },
        packId: { type: 'string' },
        packVersion: { type: 'string' },
        artifactVersion: { type: 'string' },
        indexHash: { type: 'string', pattern: '^sha256:[0-9a-f]{64}$' },
        tools: {
          type: 'array',
          items: {
            type: 'object',
            properties: { id: { type: 'string' }, version: { type: 'string' } },
            required: ['id'],
            additionalProperties: false,
          },
        },
        checks: { type: 'array', items: { type: 'string' } },
        missingEnv: { type: 'array', items: { type: 'string' } },
      },
      required: ['protocol', 'packId', 'packVersion', 'artifactVersion', 'tools', 'checks'],
      additionalProperties: false,
    },
  },
} as const;
