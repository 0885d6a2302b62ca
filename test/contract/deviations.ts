import type { TargetName } from './programs.ts';

/** A clause that a target is known not to keep. It runs all the same and has to fail: a stale entry is noticed. */
export interface Deviation {
  readonly target: TargetName;
  /** Id of the clause. */
  readonly clause: string;
  /** What the target does instead. */
  readonly why: string;
  /** It depends on timing: the clause may hold as well. */
  readonly isTiming?: true;
}

type WhyByClause = Readonly<Record<string, string>>;

/** Every clause about the files of a call. */
const FILES = [
  'D34/never-logged',
  'D35/declared',
  'D36/store',
  'D37/answers',
  'D38/read',
  'D39/busy',
  'D40/deadline',
  'D40/dots',
  'D40/no-redirect',
  'D41/no-proxy',
] as const;

/** What the real Node service 0.1.10 does and the gateway passes on (protocol.md, its section I and each clause's notes). */
const NODE_ANYWHERE: WhyByClause = {
  'A14/deep-json': 'a stack overflow: 500',
  'A28/invalid-utf8': 'replaces invalid bytes with U+FFFD and accepts them',
  'D14/nothing': 'the result has no `output`',
  'D15/not-json': '500 with the text of the serialiser',
  'D18/type-list': 'gives several types as a list',
  'D22/no-paths': 'stacks show absolute paths',
  'D26/bad-verdict': 'passes any return value on as the verdict',
  'D26/boolean': 'passes the bare boolean on as the verdict',
  'D34/tool-files': 'hands `toolFiles` to the handler',
  'D34/connections': 'the context shows connections when it is printed',
  'D30/shown': 'the context shows connections and `toolFiles`',
  ...doesNotKnow(
    'pauses and connections, which came after its 2.7',
    'D42/pause',
    'D43/limits',
    'D44/not-available',
    'D47/rejected',
    'D48/no-cause',
    'D48/unknown-name',
  ),
};

/** What the gateway puts right, or hides, for its callers. */
const NODE_ITSELF: WhyByClause = {
  'A12/no-echo': 'its 404 repeats the query',
  'A22/letter-case': 'an upper-case media type is 415',
  'A22/whole-type': 'looks for the text `application/json` anywhere in the type',
  'A35/other-numbers': 'reads `1e2`, `100.0`, `+100` and `0x64` as 100',
  'A36/huge': 'the timer overflows: deadline-exceeded at once',
  'B10/other-ids': 'an id that is no UUID is config-invalid',
  'C2/host-without-value': 'serves every interface',
  'C3/port-digits': 'takes the empty text and `0x0` as port 0',
  'C35/second-signal': 'dies by the signal, without `stopped`',
  'C36/interrupt': 'dies by SIGINT without a drain',
  'D8/lenient': 'strict Ajv: unknown keywords and formats do not compile',
  'D27/built-in': 'lists and calls a guardrail that only names a built-in check',
  ...doesNotKnow('pauses and connections, which came after its 2.7', 'D5/never-logged', 'D45/never-logged'),
  ...doesNotKnow('files, which came after its 2.7', ...FILES),
};

/** The same for the real Python service 0.1.10. */
const PYTHON_ANYWHERE: WhyByClause = {
  'A14/deep-json': 'a recursion error: 500',
  'D2/version-null': 'takes a version of null as none',
  'D19/model': 'gives the issue a keyword of pydantic',
  'D22/no-paths': 'stacks show absolute paths',
  'D29/index-hash': 'sends no `indexHash`',
  'D30/shown': 'its contexts have other names: those of its language',
  ...doesNotKnow(
    'pauses and connections, which came after its 2.6',
    'D6/wait-token',
    'D42/pause',
    'D42/result',
    'D43/limits',
    'D44/not-available',
    'D47/rejected',
    'D48/no-cause',
    'D48/unknown-name',
  ),
};

const PYTHON_ITSELF: WhyByClause = {
  'A5/raw-path': 'decodes the path first: 200',
  'A17/token-twice': 'the first token counts',
  'A22/letter-case': 'an upper-case media type is 415',
  'A22/whole-type': 'looks for the text `application/json` anywhere in the type',
  'A30/both-framings': 'accepts it, the chunks win',
  'A31/large-headers': 'accepts a header of 20 kB',
  'A35/twice': 'the first deadline counts',
  'A43/announced': 'closes idle connections without announcing the time',
  'C38/outside': 'writes the error down and goes on; the call runs into its deadline',
  ...doesNotKnow('pauses and connections, which came after its 2.6', 'D5/never-logged', 'D45/never-logged'),
  ...doesNotKnow('files, which came after its 2.6', ...FILES),
  ...ignoresThePin(
    'A2/421-before-415',
    'B1/header-missing',
    'B1/header-foreign',
    'B1/context',
    'B1/context-twice',
    'B2/blanks',
    'B2/other-spellings',
    'B3/empty',
    'B3/twice',
    'B4/full',
    'B4/draining',
    'B5/before-lookup',
    'B6/check',
    'B8/same-body',
    'B9/records',
    'B9/level',
    'B10/upper-case',
    'B10/other-ids',
    'B10/no-tenant',
    'B10/not-an-id',
  ),
  'C32/long-call': 'answers the call with a 500 and ends after 10.3 s',
  'C33/half-a-body': 'ends after 10.3 s',
  'D9/order': 'looks for the handler before it judges the input',
  'D27/built-in': 'answers `check-shape-invalid` for a guardrail that only names a built-in check',
};

export const DEVIATIONS: readonly Deviation[] = [
  ...of('real Node', NODE_ANYWHERE),
  ...of('real Node', NODE_ITSELF),
  {
    target: 'real Node',
    clause: 'C37/right-after-listening',
    why: 'installs its handler after the `listening` line and may die by the signal until then',
    isTiming: true,
  },
  ...of('real Node through the gateway', NODE_ANYWHERE),
  ...of('real Node through the gateway', {
    'B8/same-body': "a foreign context is 421 in the service's own words, which the gateway passes on",
  }),
  ...of('real Python', PYTHON_ANYWHERE),
  ...of('real Python', PYTHON_ITSELF),
  ...of('real Python through the gateway', PYTHON_ANYWHERE),
];

export function deviationOf(target: TargetName, clause: string): Deviation | undefined {
  return DEVIATIONS.find((deviation) => deviation.target === target && deviation.clause === clause);
}

function of(target: TargetName, whyByClause: WhyByClause): Deviation[] {
  return Object.entries(whyByClause).map(([clause, why]) => ({ target, clause, why }));
}

/** What came with a later protocol than the service's own. */
function doesNotKnow(what: string, ...clauses: readonly string[]): WhyByClause {
  return Object.fromEntries(clauses.map((clause) => [clause, `does not know ${what}`]));
}

/** The real Python service does not know the pin: any tenant's call runs, any value of the variable boots (B11). */
function ignoresThePin(...clauses: readonly string[]): WhyByClause {
  return Object.fromEntries(clauses.map((clause) => [clause, 'ignores the tenant pin']));
}
