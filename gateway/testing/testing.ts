/**
 * `packgate/testing`: a gateway, fake pack services, a client and matchers, to test what becomes of a 421, a 503 and a
 * 500. It needs no test runner; `packgate/testing/vitest` is for vitest.
 */
export { assertMayHaveRun, assertResult, assertTenantMismatch, assertToolError, assertTryAgain } from './assertions.ts';
export { BrokenAnswer } from './brokenAnswer.ts';
export { createClient } from './client.ts';
export type {
  Answer,
  CallAnswer,
  CheckOptions,
  ClientOptions,
  InfoAnswer,
  InvokeOptions,
  PackClient,
  SendOptions,
} from './client.ts';
export { fakePackService } from './fakePackService.ts';
export type { FakePackOptions, FakePackService, FakeScript } from './fakePackService.ts';
export { createGateway } from './gateway.ts';
export type { TestGateway, TestGatewayOptions } from './gateway.ts';
export { matchers } from './matchers.ts';
export type { PackMatchers } from './matchers.ts';
export { packs } from './packs.ts';
export type { FakeAnswer, FakeCall, FakeReply, FakeStart } from './script.ts';
export type { FaultSettings, Tenant, TenantSettings, TokenSettings } from './settings.ts';
