/** What is used of an issue of ajv. */
export interface KeywordIssue {
  readonly instancePath: string;
  readonly keyword?: string;
  readonly message?: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

/** Issues as one line for authors: `/nodes/0 must have required property 'ref'; …`, with the names that ajv keeps apart. */
export function issueWords(issues: readonly KeywordIssue[]): string {
  return issues.map((issue) => `${issue.instancePath} ${wordsOf(issue)}`.trim()).join('; ');
}

function wordsOf({ keyword = '', message = keyword, params = {} }: KeywordIssue): string {
  switch (keyword) {
    case 'additionalProperties':
      return `must not have "${String(params.additionalProperty)}"`;
    case 'enum':
      return `must be one of ${JSON.stringify(params.allowedValues)}`;
    case 'const':
      return `must be ${JSON.stringify(params.allowedValue)}`;
    case 'discriminator':
      return `has an unknown "${String(params.tag)}": ${JSON.stringify(params.tagValue) ?? 'none'}`;
    default:
      return message;
  }
}
