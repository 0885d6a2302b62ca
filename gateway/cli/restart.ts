import { orderCommand } from './order.ts';

/** `packgate restart`. */
export const restart = orderCommand('restart', {
  summary: "Replace a deployment's process by a new one of the same build, without losing a call",
  does: 'replace its process',
});
