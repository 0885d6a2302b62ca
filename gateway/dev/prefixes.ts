import { coloured } from '../cli/paint.ts';
import { printable } from '../cli/printable.ts';

/** Told apart on dark and on light terminals, red and green left for what they mean. */
const COLOURS = [36, 35, 34, 33, 96, 95, 94, 93].map((code) => coloured(code, 39));

/** A name wider than this is not waited for by the others' columns. */
const MAX_WIDTH = 24;

/** The prefixes of the packs' lines: names in a column, each in a colour of its own that it keeps. */
export class Prefixes {
  readonly #hasColours: boolean;
  readonly #places = new Map<string, { readonly name: string; readonly place: number }>();
  #width = 0;

  constructor(hasColours: boolean) {
    this.#hasColours = hasColours;
  }

  add(tenantId: string, name: string): void {
    const text = printable(name);
    this.#places.set(tenantId, { name: text, place: this.#places.get(tenantId)?.place ?? this.#places.size });
    this.#width = Math.max(this.#width, Math.min(text.length, MAX_WIDTH));
  }

  /** With two blanks behind it. Of nobody's: in the column of the names, empty. */
  of(tenantId: string | undefined): string {
    const known = tenantId === undefined ? undefined : this.#places.get(tenantId);
    const text = (known?.name ?? '').padEnd(this.#width);
    const colour = COLOURS[(known?.place ?? 0) % COLOURS.length];
    return `${this.#hasColours && known !== undefined && colour !== undefined ? colour(text) : text}  `;
  }
}
