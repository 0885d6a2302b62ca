/** Faults that a call meets. */
export const CALL_FAULTS = [
  '421',
  '503',
  '503-without-retry-after',
  '500',
  'late',
  'half-answer',
  'cut',
] as const satisfies readonly string[];

/** Faults that the start of a process meets. */
export const START_FAULTS = ['never-ready', 'forged-line'] as const satisfies readonly string[];

export type CallFault = (typeof CALL_FAULTS)[number];
export type StartFault = (typeof START_FAULTS)[number];
export type FaultKind = CallFault | StartFault;

/** Which of the calls, or starts, that a rule is about meet its fault. Counted from 1, for each tenant and tool apart. */
export type FaultPick =
  | { readonly kind: 'all' }
  | { readonly kind: 'nth'; readonly n: number }
  | { readonly kind: 'every'; readonly n: number }
  /** Each with this probability, as a hash of the seed says: the same seed picks the same ones. */
  | { readonly kind: 'probability'; readonly p: number; readonly seed: number };

/** A fault on order: what is to go wrong, and when. Of several rules that fit, the first counts. */
export interface FaultRule {
  /** Key (`tenantKey`) of the only tenant it is about; absent: all. */
  readonly tenant?: string;
  /** Id of the only tool or check it is about; absent: all. Never there for a start. */
  readonly tool?: string;
  readonly pick: FaultPick;
  readonly fault: FaultKind;
  /** How much later than it came the answer is passed on, in milliseconds; 0 for anything but `late`. */
  readonly ms: number;
}
