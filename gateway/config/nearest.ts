/**
 * The one of `known` that `word` was probably meant to be, or undefined when none is near: at most one slip (a letter
 * too many, missing, wrong or swapped with its neighbour) per three letters. Letter case is no slip.
 */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  // Long words are no typing slips, and the comparison is quadratic.
  if (word.length > 64) return undefined;
  let best: string | undefined;
  let bestSlips = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of known) {
    const slips = slipsBetween(word.toLowerCase(), candidate.toLowerCase());
    if (slips < bestSlips) {
      best = candidate;
      bestSlips = slips;
    }
  }
  return best;
}

/** Distance of Damerau and Levenshtein in its restricted form: no letter takes part in two slips. */
function slipsBetween(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const isSame = a[i - 1] === b[j - 1];
      let slips = Math.min(at(last, j) + 1, at(row, j - 1) + 1, at(last, j - 1) + (isSame ? 0 : 1));
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (isSwap) slips = Math.min(slips, at(before, j - 2) + 1);
      row.push(slips);
    }
    before = last;
    last = row;
  }
  return at(last, b.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
