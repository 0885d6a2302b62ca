// `npm run clauses`: which clause of the protocol is tested where, and which is not, with the reason. A clause counts as
// tested where the name of a test begins with its number (`E14 E15: …`, or the number alone in a table of tests), where the
// table of shared/conform has it, or where clauseList.mjs says which behaviour it is.
// Exit 1 when a clause is neither tested nor has a reason, or has both, or a test names a clause that does not exist.
// An argument is a folder to look in instead of the project.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { CLAUSES, NOT_TESTED } from './clauseList.mjs';

const root = resolve(process.argv[2] ?? dirname(dirname(fileURLToPath(import.meta.url))));

const ID = '[A-F]\\d+a?';
/** A text that begins with numbers, ranges (`D36–D38`) and parts (`E.3`), then a colon or nothing more. */
const PART = `(?:${ID}(?:[-–]${ID})?|[A-F]\\.\\d+)`;
const NUMBERS = new RegExp(`(['"\`])(${PART}(?:[ ,]+${PART})*)(?:: |\\1)`, 'g');
/** In the table: `A24/limit`, and `A2` for what a clause shows as well. */
const TABLE_ID = new RegExp(`['"](${ID})(?:/[\\w-]+)?['"]`, 'g');

function filesIn(folder, ending) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => relative(root, join(entry.parentPath ?? entry.path, entry.name)))
    .filter((file) => !file.includes('node_modules'))
    .sort();
}

/** The clauses that the words before a name's colon mean. */
function idsOf(words) {
  return [...words.matchAll(new RegExp(`(${ID})(?:[-–](${ID}))?`, 'g'))].flatMap(([, first, last]) => {
    if (last === undefined) return [first];
    const from = Number.parseInt(first.slice(1), 10);
    const count = Number.parseInt(last.slice(1), 10) - from + 1;
    return Array.from({ length: Math.max(count, 1) }, (_, at) => `${first[0]}${from + at}`);
  });
}

/** Clause → files in which it is tested. */
function findTested() {
  const tested = new Map();
  const note = (id, file) => tested.set(id, (tested.get(id) ?? new Set()).add(file));
  for (const file of filesIn('test', '.test.ts')) {
    for (const [, , words] of readFileSync(join(root, file), 'utf8').matchAll(NUMBERS)) {
      for (const id of idsOf(words)) note(id, file);
    }
  }
  for (const file of filesIn('shared/conform/clauses', '.ts')) {
    for (const [, id] of readFileSync(join(root, file), 'utf8').matchAll(TABLE_ID)) note(id, file);
  }
  return tested;
}

const tested = findTested();
const width = Math.max(...CLAUSES.map(({ title }) => title.length));
const problems = [];
let count = 0;
for (const { id, title } of CLAUSES) {
  const files = [...(tested.get(id) ?? [])];
  const reason = NOT_TESTED[id];
  if (files.length > 0) count += 1;
  const where = files.length > 0 ? files.join(', ') : `not yet: ${reason ?? 'NO REASON GIVEN'}`;
  console.log(`${id.padEnd(5)}${title.padEnd(width + 2)}${where}`);
  if (files.length === 0 && reason === undefined) problems.push(`${id} (${title}) is not tested and has no reason`);
  if (files.length > 0 && reason !== undefined)
    problems.push(`${id} is tested, so its reason in clauseList.mjs is stale`);
}
const known = new Set(CLAUSES.map(({ id }) => id));
for (const [id, files] of tested) {
  if (!known.has(id)) problems.push(`${id} is no clause, but named in ${[...files].join(', ')}`);
}
console.log(`\n${CLAUSES.length} clauses: ${count} tested, ${CLAUSES.length - count} not yet`);
for (const problem of problems) console.error(`clauses: ${problem}`);
process.exit(problems.length > 0 ? 1 : 0);
