import { orderCommand } from './order.ts';

/** `packgate stop`. */
export const stop = orderCommand('stop', {
  summary: 'Stop a deployment; its calls get 503 until it is started',
  does: 'end its process; calls get 503',
});
