// The numbered clauses of the pack protocol's groups A to F, each with what it is about, and why one is not tested yet.
const A = `
A1 four routes, one answer to each request
A2 the order of the checks
A3 info and probes beside the cap
A4 paths are compared exactly
A5 percent-encoded paths are other paths
A6 HEAD and OPTIONS are wrong methods
A7 the body of a GET is ignored
A8 200 for outcomes, other statuses for transport
A9 reasons of 503, with Retry-After
A10 type and length of JSON answers
A11 duration and artifact version on invokes
A12 a 404 repeats nothing of the request
A13 the body of a 500
A14 deeply nested JSON
A15 the headers that are read
A16 how header values are compared
A17 empty and repeated token headers
A18 headers that change nothing
A19 an unpinned service and the tenant header
A20 traceparent in records
A21 only application/json is taken
A22 media types in any letter case
A23 two content types
A24 ten mebibytes are the limit
A25 when 413 is answered
A26 refusals before the body is read
A27 a slow body holds its slot
A28 the body is UTF-8 JSON
A29 repeated keys, chunks, no body
A30 length and chunking together
A31 requests that HTTP refuses
A32 answers of any size
A32a bodies are relayed byte for byte
A33 the deadline and its default
A34 timeouts that are ignored
A35 disputed ways to write a timeout
A36 timeouts beyond a timer's range
A37 the answer at the deadline
A38 a handler that blocks the process
A39 a caller that leaves cancels
A40 what a cancelled call leaves
A41 a caller that leaves during its body
A42 one request held open per call
A43 idle connections and when they close
A44 silent and slow connections
A45 headers that HTTP adds
`;
const B = `
B1 what a pin refuses
B2 how tenant ids are compared
B3 empty and repeated tenant headers
B4 the pin before readiness
B5 the context's tenant after the body
B6 checks have no context
B7 probes stay open
B8 one body for every 421
B9 the record of a refusal
B10 which ids a pin takes
B11 services that ignore the pin
B12 the gateway keeps the pin for all
`;
const C = `
C1 arguments and how they are read
C2 an empty or missing host
C3 ports, caps and other variables
C4 all wrong settings in one line
C5 a token with a newline behind it
C6 the token leaves the environment
C7 the initial environment stays readable
C8 which variables a pack sees
C9 dropped names are told once
C10 children get an environment from nothing
C11 the order of a start
C12 every module before listening
C13 what a failed start tells
C14 the listening line
C15 starts that end without a line
C16 slow imports are no readiness
C17 required variables without a value
C18 the record form of lines
C19 both forms of lines are understood
C20 events and their fields
C21 the bare form of older services
C22 which calls have a record
C23 a handler's own records
C24 how a line is classified
C25 forged lines change nothing
C26 the format of the log
C27 what is redacted
C28 what handlers print
C29 calls under way may end
C30 what a draining service answers
C31 idle connections delay no exit
C32 a call longer than the drain
C33 half a body during the drain
C34 when a supervisor kills
C35 a second SIGTERM
C36 SIGINT and SIGHUP
C37 signals before and at listening
C38 exceptions outside of calls
`;
const D = `
D1 the order of parsing a message
D2 unknown keys are taken and kept
D3 tools come from the own index
D4 which version is called
D5 what a connection holds
D6 a wait token within one attempt
D7 the idempotency key
D8 schemas are the index entry's
D9 input first, then the handler
D10 the caller's input stays as it was
D11 how a handler is called
D12 the codes of outcomes
D13 ids of errors are the asked ones
D14 nothing returned is null
D15 output that cannot be JSON
D16 what an error may hold
D17 what an issue holds
D18 the params of issues
D19 issues of a model
D20 the message of a failing config
D21 what a cause holds
D22 no paths of the machine
D23 how a check is named
D24 a config is checked as sent
D25 how a check is called
D26 what a verdict is
D27 built-in checks are not called
D28 what info tells
D29 versions and the hash in info
D30 what a context shows
D31 reasons of an abort
D32 the log of a context
D33 the context in Python
D34 file tokens stay hidden
D35 when there are files
D36 how a file is stored
D37 answers to storing
D38 how a file is read
D39 no room for a file
D40 where a file token goes
D41 requests for files leave directly
D42 when a pause is an answer
D43 how long, under which name
D44 a pause without a token
D45 the wait token's address is secret
D46 how a handler pauses
D47 a refused connection
D48 how a handler says so
`;
const E = `
E1 the keys of the envelope
E2 declared variables
E3 what a tool's entry holds
E4 what a guardrail's entry holds
E5 what an agent's entry holds
E6 what a flow's entry holds
E7 module paths stay in the pack
E8 ids of built-in checks are reserved
E9 readers take unknown keys
E10 the canonical bytes
E11 lists are sorted by id
E12 keys that look like numbers
E13 same source, same bytes
E14 written whole or not at all
E15 judged before it is written
E16 the default artifact version
E17 what the report holds
E18 strict and json
E19 errors are per file
E20 of duplicates the first stays
E21 where the configuration is
E22 what is read of it
E23 the default folders
E24 patterns, and kinds by folder
E25 files that are skipped
E26 helpers begin with an underscore
E27 a tool without a version stays so
`;
const F = `
F1 only the default export counts
F2 the kind is told by structure
F3 input and output schemas
F4 the schema of a check's config
F5 Zod becomes JSON Schema
F6 flows are judged whole
F7 where a service finds the function
F8 what is indexed can be called
F9 the tool's model parses the input
F10 schemas of strict services
F11 schemas of the Python service
F12 schemas compile leniently
F13 where defaults are filled in
F14 an input that is no object
F15 how modules are loaded
F16 bundles and their map
F17 the index of local development
F18 how TypeScript loads changes nothing
`;

/** Clauses in the protocol's order: id and title. */
export const CLAUSES = [A, B, C, D, E, F].flatMap((group) =>
  group
    .trim()
    .split('\n')
    .map((line) => {
      const blank = line.indexOf(' ');
      return { id: line.slice(0, blank), title: line.slice(blank + 1) };
    }),
);

/** Why a clause has no test. */
export const NOT_TESTED = {
  D7: 'the runtime computes the key; a service hands on what it is sent (D30)',
  D33: 'about handlers written in Python, which are not ours',
  F17: 'a second index that only the released development tool writes',
};
