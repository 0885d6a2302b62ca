import type { Io } from './command.ts';

/** Colours by what they mean. */
export interface Paint {
  readonly good: (text: string) => string;
  readonly busy: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly faint: (text: string) => string;
  readonly bold: (text: string) => string;
}

const plain = (text: string): string => text;

const PLAIN: Paint = { good: plain, busy: plain, bad: plain, faint: plain, bold: plain };

const COLOURED: Paint = {
  good: coloured(32, 39),
  busy: coloured(33, 39),
  bad: coloured(31, 39),
  faint: coloured(2, 22),
  bold: coloured(1, 22),
};

/** Colours for stdout: only on a terminal that shows them, and not where `NO_COLOR` is set. */
export function paintFor(io: Pick<Io, 'env' | 'isTty'>): Paint {
  return hasColours(io) ? COLOURED : PLAIN;
}

export function hasColours({ env, isTty }: Pick<Io, 'env' | 'isTty'>): boolean {
  const isUnwanted = (env.NO_COLOR ?? '') !== '' || env.TERM === 'dumb';
  return isTty.stdout && !isUnwanted;
}

/** By the codes that turn it on and off. */
export function coloured(on: number, off: number): (text: string) => string {
  return (text) => (text === '' ? '' : `\u001b[${on}m${text}\u001b[${off}m`);
}
