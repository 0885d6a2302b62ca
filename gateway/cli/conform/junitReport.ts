import type { Judged } from './judge.ts';
import type { Verdicts } from './verdicts.ts';

/** JUnit's XML: a test case for each clause, named after it, in one suite. */
export function junitReport({ judged, service, findings, skipped, ms }: Verdicts): string {
  const counts = `tests="${judged.length}" failures="${findings}" skipped="${skipped}" errors="0" time="${seconds(ms)}"`;
  return `${[
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="packgate conform" ${counts}>`,
    `  <testsuite name="${escape(service)}" ${counts}>`,
    ...judged.map(caseOf),
    '  </testsuite>',
    '</testsuites>',
  ].join('\n')}\n`;
}

function caseOf({ clause, outcome, ms }: Judged): string {
  const name = escape(`${clause.id}: ${clause.title}`);
  const open = `    <testcase classname="conform.${clause.id.slice(0, 1)}" name="${name}" time="${seconds(ms)}"`;
  switch (outcome.verdict) {
    case 'holds':
      return `${open}/>`;
    case 'skipped':
      return `${open}><skipped message="${escape(outcome.reason)}"/></testcase>`;
    case 'deviates': {
      const text = `expected: ${outcome.expected}\ncame: ${outcome.came}`;
      return `${open}><failure message="${escape(outcome.came)}">${escape(text)}</failure></testcase>`;
    }
  }
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}

/** For attributes and text. What XML 1.0 cannot hold at all, escaped or not, becomes a question mark; so do controls. */
function escape(text: string): string {
  return text
    .replaceAll(/[^\t\n\r\u0020-\u007e\u00a0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '?')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll('\n', '&#10;');
}
