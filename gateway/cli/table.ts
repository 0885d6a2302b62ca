/** Puts colour around a cell of a row; what it returns looks as wide as the cell. */
export type PaintCell = (cell: string, column: number, row: readonly string[]) => string;

/** Lines of a table with a head, its columns as wide as they need to be. */
export function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  paint: PaintCell = (cell) => cell,
): string[] {
  const lines = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...lines.map((cells) => cells[column]?.length ?? 0)));
  return lines.map((cells) =>
    cells
      .map((cell, column) => {
        const text = cells === head ? cell : paint(cell, column, cells);
        return text + ' '.repeat((widths[column] ?? 0) - cell.length);
      })
      .join('  ')
      .trimEnd(),
  );
}
