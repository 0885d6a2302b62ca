/** The middle of some numbers, the upper one of two. */
export function median(numbers) {
  return [...numbers].sort((left, right) => left - right)[Math.floor(numbers.length / 2)];
}

/** Rows of cells as aligned text, the first cell to the left and numbers to the right. */
export function table(rows) {
  const widths = rows[0].map((_, at) => Math.max(...rows.map((row) => String(row[at]).length)));
  return rows
    .map((row) =>
      row
        .map((cell, at) => (at === 0 ? cell.padEnd(widths[at]) : String(cell).padStart(widths[at])))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
