/** Chance that can be repeated: the same seed gives the same numbers, on every machine. */
export interface Random {
  /** At least 0 and below 1. */
  readonly fraction: () => number;
  /** A whole number from `from` to `to`, both included. */
  readonly between: (from: number, to: number) => number;
  /** One of a list that is not empty. */
  readonly oneOf: <T>(list: readonly T[]) => T;
}

/** Mulberry32: a few operations a number, and good enough to choose faults and moments with. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const fraction = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (from: number, to: number): number => from + Math.floor(fraction() * (to - from + 1));
  return {
    fraction,
    between,
    oneOf: <T>(list: readonly T[]): T => {
      if (list.length === 0) throw new RangeError('there is nothing to choose from');
      return list[between(0, list.length - 1)] as T;
    },
  };
}
