import { orderCommand } from './order.ts';

/** `packgate start`. */
export const start = orderCommand('start', {
  summary: 'Start a deployment that is stopped, or that waits to be tried again',
  does: 'start it now',
});
