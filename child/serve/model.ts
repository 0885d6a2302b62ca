import type { Issue } from '../../shared/protocol/messages.ts';
import { isBag } from '../modules/exports.ts';
import type { ModelCheck } from './callable.ts';

/** Parses the input with the tool's own model; its issues have no keyword (D17, D19). */
export async function applyModel(model: ModelCheck, input: unknown): Promise<{ value: unknown } | { issues: Issue[] }> {
  const result = await model(input);
  if (!isBag(result) || !Array.isArray(result.issues)) return { value: isBag(result) ? result.value : undefined };
  const issues = result.issues as { message?: unknown; path?: readonly unknown[] }[];
  return {
    issues: issues.map(({ message, path = [] }) => ({
      instancePath: path.map((segment) => `/${pointerPart(segment)}`).join(''),
      message: String(message),
    })),
  };
}

function pointerPart(segment: unknown): string {
  const key = isBag(segment) && 'key' in segment ? segment.key : segment;
  return String(key).replaceAll('~', '~0').replaceAll('/', '~1');
}
