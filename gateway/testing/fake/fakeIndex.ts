import { createHash } from 'node:crypto';
import { PROTOCOL_VERSION } from '../../../shared/protocol/limits.ts';
import type { PackInfo } from '../../../shared/protocol/messages.ts';
import type { FakeCall } from '../script.ts';

interface IndexFile {
  readonly packId: string;
  readonly packVersion: string;
  readonly artifactVersion: string;
  readonly tools: readonly { readonly id: string; readonly version?: string }[];
  readonly guardrails: readonly { readonly id: string }[];
}

/** What a service needs of its index: who it is, and what it has. */
export class FakeIndex {
  readonly #file: IndexFile;
  readonly #hash: string;

  constructor(bytes: Buffer) {
    this.#file = JSON.parse(bytes.toString()) as IndexFile;
    this.#hash = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
  }

  get identity(): { readonly packId: string; readonly artifactVersion: string } {
    const { packId, artifactVersion } = this.#file;
    return { packId, artifactVersion };
  }

  has({ kind, id }: Pick<FakeCall, 'kind' | 'id'>): boolean {
    return (kind === 'invoke' ? this.#file.tools : this.#file.guardrails).some((entry) => entry.id === id);
  }

  info(missingEnv: readonly string[]): PackInfo {
    const { packId, packVersion, artifactVersion, tools, guardrails } = this.#file;
    return {
      protocol: PROTOCOL_VERSION,
      packId,
      packVersion,
      artifactVersion,
      indexHash: this.#hash,
      tools: tools.map(({ id, version }) => ({ id, ...(version !== undefined && { version }) })),
      checks: guardrails.map(({ id }) => id),
      missingEnv,
    };
  }
}
