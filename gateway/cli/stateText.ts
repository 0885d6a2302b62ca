import type { Paint } from './paint.ts';

/** The state of a deployment or an instance, or the outcome of a start, in the colour that it deserves. */
export function stateText(state: string, paint: Paint): string {
  switch (state) {
    case 'ready':
      return paint.good(state);
    case 'starting':
    case 'running':
    case 'draining':
      return paint.busy(state);
    case 'cooling':
    case 'failed':
      return paint.bad(state);
    default:
      return paint.faint(state);
  }
}
