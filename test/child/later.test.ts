import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { waitForOrders } from '../../child/later.ts';

const ORDERS = { args: ['--index', 'i.json'], env: { TOKEN: 'x' } };

describe('a process that waits for its orders', () => {
  it('has them whole, however they come', async () => {
    const input = new PassThrough();
    const waiting = waitForOrders(input);
    const text = JSON.stringify(ORDERS);
    input.write(text.slice(0, 7));
    input.end(text.slice(7));
    expect(await waiting).toEqual(ORDERS);
  });

  it('has none when whoever would have given them has gone', async () => {
    const input = new PassThrough();
    const waiting = waitForOrders(input);
    input.end();
    expect(await waiting).toBeUndefined();
  });
});
