import { validate } from '../../shared/protocol/validate.ts';
import { createSchemaCompiler } from '../schemas.ts';
import { createSchemaLint } from './lint.ts';

/** Does ahead of time what every run of the indexer does once, whatever the pack: no code of a pack is touched. */
export async function warmIndexer(): Promise<void> {
  const lint = createSchemaLint(await createSchemaCompiler({ usesFormats: true }));
  const input = { type: 'object', properties: { text: { type: 'string', format: 'date' } } };
  const entry = { id: 'warm', input, output: input };
  lint({ kind: 'tool', id: 'warm', version: undefined, path: '', entry });
  for (const kind of ['tool', 'guardrail'] as const) validate(kind, entry);
}
