/** What a terminal would act on instead of showing: controls, directions, invisible marks, halves of characters. */
const ACTING = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Text of others on one line, safe to show: what a terminal would act on is written as `\u{1b}`. */
export function printable(text: string): string {
  return text.replaceAll(ACTING, (character) => {
    if (character === '\t') return ' ';
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  });
}

/** As `printable`, one line of output for each line of the text. */
export function printableLines(text: string): string[] {
  return text.trimEnd().split(/\r?\n/).map(printable);
}

/** Data as JSON that is safe to show, too: the same characters as JSON escapes. */
export function jsonText(data: unknown): string {
  const text = JSON.stringify(data, undefined, 2).replaceAll(ACTING, (character) =>
    character === '\n' ? character : escapeUnits(character),
  );
  return `${text}\n`;
}

function escapeUnits(character: string): string {
  let escaped = '';
  for (let at = 0; at < character.length; at += 1) {
    escaped += `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`;
  }
  return escaped;
}
