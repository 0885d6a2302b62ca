import type { JsonObject } from '../../../shared/protocol/messages.ts';
import { textMatching } from './pattern.ts';

/** A text for each format that services check (F11). */
const FORMATS: Readonly<Record<string, string>> = {
  'date-time': '2025-01-31T12:00:00Z',
  date: '2025-01-31',
  time: '12:00:00Z',
  duration: 'PT1H',
  uuid: '3f2b8c1e-4a5d-4e6f-9a0b-1c2d3e4f5a6b',
  email: 'somebody@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/',
  'uri-reference': '/here',
  'json-pointer': '/here',
  regex: '^x$',
};

const WORD = 'text';
/** Longer ones are left to those who know what they want. */
const MAX_LENGTH = 100_000;

/** A text that fits a string's schema, and what may be wrong with it. */
export function sampleText(schema: JsonObject): { readonly text: string; readonly doubt?: string } {
  const { format, pattern, minLength, maxLength } = schema;
  const [least, most] = [
    typeof minLength === 'number' ? minLength : 0,
    typeof maxLength === 'number' ? maxLength : Infinity,
  ];
  const base = baseText(format, pattern, least);
  if (base === undefined) return { text: WORD, doubt: `it has to match ${typeof pattern === 'string' ? pattern : ''}` };
  const length = base.length;
  if (length >= least && length <= most) return { text: base };
  const wanted = Math.max(least, Math.min(length, most));
  const isFree = typeof format !== 'string' && typeof pattern !== 'string';
  if (isFree && wanted <= MAX_LENGTH) return { text: base.repeat(Math.ceil(wanted / length)).slice(0, wanted) };
  return { text: base, doubt: `its length has to be ${least} to ${most}` };
}

function baseText(format: unknown, pattern: unknown, least: number): string | undefined {
  if (typeof pattern === 'string') return textMatching(pattern, least);
  if (typeof format === 'string' && Object.hasOwn(FORMATS, format)) return FORMATS[format];
  return WORD;
}
