import { orderCommand } from './order.ts';

/** `packgate rollback`. */
export const rollback = orderCommand('rollback', {
  summary: 'Go back to the build that a deployment served before',
  does: 'serve its previous build again',
});
