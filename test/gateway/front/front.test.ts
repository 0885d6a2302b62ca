import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Refusal } from '../../../shared/http/refusal.ts';
import { Auth } from '../../../gateway/front/auth.ts';
import { Interrupt } from '../../../gateway/front/interrupt.ts';
import { Room } from '../../../gateway/front/room.ts';
import { routeOf } from '../../../gateway/front/route.ts';
import { Directory } from '../../../gateway/front/tenant.ts';
import type { Entry } from '../../../gateway/front/tenant.ts';
import { traceIdOf } from '../../../gateway/front/record.ts';
import { systemClock } from '../../../gateway/clock.ts';
import { Lane } from '../../../gateway/lane/lane.ts';

function codeOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    return error instanceof Refusal ? error.code : String(error);
  }
  return 'nothing thrown';
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

describe('the routes (A1, A4, A5, A6)', () => {
  it('are four, compared exactly, with the query cut off', () => {
    expect(routeOf('POST', '/v1/invoke')).toBe('invoke');
    expect(routeOf('GET', '/v1/info?a=b')).toBe('info');
    for (const url of ['/healthz/', '/HEALTHZ', '//healthz', '/healthz#a', 'http://x/healthz', '*', '/%68ealthz', '']) {
      expect(codeOf(() => routeOf('GET', url))).toBe('not-found');
    }
  });

  it('take one method each', () => {
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'PUT']) {
      expect(codeOf(() => routeOf(method, '/v1/invoke'))).toBe('method-not-allowed');
    }
    expect(codeOf(() => routeOf('HEAD', '/healthz'))).toBe('method-not-allowed');
  });
});

describe('a token', () => {
  const auth = new Auth([
    { sha256: sha256('any-token'), tenants: 'any' },
    { sha256: sha256('crm-token'), tenants: ['a'], deployment: 'crm' },
  ]);

  it('opens what it was given for', () => {
    expect(auth.check({ 'kindgi-pack-token': 'any-token' }).opens('whoever')).toBe(true);
    const bound = auth.check({ 'kindgi-pack-token': 'crm-token' });
    expect([bound.opens('a'), bound.opens('b'), bound.deployment]).toEqual([true, false, 'crm']);
  });

  it('is refused when missing, empty, wrong, of other letter case, or sent twice', () => {
    for (const token of [undefined, '', 'other', 'ANY-token', 'any-token, any-token']) {
      const headers = token === undefined ? {} : { 'kindgi-pack-token': token };
      expect(codeOf(() => auth.check(headers))).toBe('bad-token');
    }
  });
});

describe('the deployment of a call', () => {
  const silent = { onWanted: () => undefined, onOutcome: () => undefined };
  const entry = (tenantId: string, name: string, more: Partial<Entry> = {}): Entry => ({
    tenantId,
    name,
    isDefault: false,
    hosts: [],
    ...more,
    lane: new Lane({ tenantId, deployment: name, queue: { size: 1, waitMs: 1 } }, silent),
  });
  const uuid = '3f2b8c1e-4a5d-4e6f-9a0b-1c2d3e4f5a6b';
  const directory = new Directory([
    entry('a', 'billing', { isDefault: true }),
    entry('a', 'crm', { hosts: ['crm.example.com'], serviceName: 'kp-3cucd7odz45ehmqamwqa' }),
    entry(uuid, 'default', { isDefault: true }),
    entry('constructor', 'default', { isDefault: true }),
    entry('__proto__', 'default', { isDefault: true }),
  ]);
  const any = { opens: () => true, deployment: undefined };
  const find = (
    tenantId: string | undefined,
    host?: string,
    grant: typeof any | { opens: () => boolean; deployment: string } = any,
  ): string => {
    const headers = {
      ...(tenantId !== undefined && { 'kindgi-tenant-id': tenantId }),
      ...(host !== undefined && { host }),
    };
    try {
      return directory.find(headers, grant).settings.deployment;
    } catch (error) {
      return error instanceof Refusal ? error.code : String(error);
    }
  };

  it('is the one whose host the request names, with or without a port, in any letter case', () => {
    expect(find('a', 'crm.example.com')).toBe('crm');
    expect(find('a', 'CRM.example.com:8443')).toBe('crm');
  });

  it('is the one whose Kindgi service name the host begins with (G2)', () => {
    expect(find('a', 'kp-3cucd7odz45ehmqamwqa-xyz.run.example.com')).toBe('crm');
    expect(find('a', 'kp-3cucd7odz45ehmqamwqa.example.com')).toBe('crm');
    expect(find('a', 'kp-3cucd7odz45ehmqamwqax.example.com')).toBe('billing');
  });

  it('is else the one the token is bound to, else the default', () => {
    expect(find('a', 'other.example.com', { opens: () => true, deployment: 'crm' })).toBe('crm');
    expect(find('a', 'other.example.com')).toBe('billing');
    expect(find('a')).toBe('billing');
  });

  it('is never one of another tenant than the header names (B1)', () => {
    expect(find(uuid, 'crm.example.com')).toBe('pack-tenant-mismatch');
  });

  it('is never one that the token is not bound to', () => {
    expect(find('a', 'crm.example.com', { opens: () => true, deployment: 'billing' })).toBe('pack-tenant-mismatch');
    expect(find(uuid, undefined, { opens: () => true, deployment: 'crm' })).toBe('pack-tenant-mismatch');
  });

  it('is nobody for a tenant that is unknown, missing, empty, sent twice, or not open to the token', () => {
    for (const tenantId of [
      undefined,
      '',
      'b',
      'A',
      'a, a',
      'toString',
      'hasOwnProperty',
      '../etc',
      '.',
      'x'.repeat(10_000),
    ]) {
      expect(find(tenantId)).toBe('pack-tenant-mismatch');
    }
    expect(find('a', undefined, { opens: () => false, deployment: 'crm' })).toBe('pack-tenant-mismatch');
  });

  it('is found for tenants with names that mean something to JavaScript', () => {
    expect([find('constructor'), find('__proto__')]).toEqual(['default', 'default']);
  });

  it('is found for a UUID in any letter case (B2)', () => {
    expect(find(uuid.toUpperCase())).toBe('default');
  });
});

describe('the room for bodies', () => {
  it('lets one tenant have a quarter at most', () => {
    const room = new Room(400, 0);
    expect([room.take('a', 60), room.take('a', 60), room.take('b', 100)]).toEqual([true, false, true]);
    expect(room.usedBytes).toBe(160);
  });

  it('lets in whoever fits as soon as room is given back, and nobody who has left the line', () => {
    const room = new Room(400, 0);
    room.take('a', 100);
    const granted: string[] = [];
    const leave = room.await('a', 50, () => granted.push('gone'));
    room.await('a', 80, () => granted.push('first'));
    room.await('a', 80, () => granted.push('second'));
    leave();
    room.giveBack('a', 100);
    expect(granted).toEqual(['first']);
    room.giveBack('a', 80);
    expect(granted).toEqual(['first', 'second']);
    room.giveBack('a', 80);
    expect(room.usedBytes).toBe(0);
  });
});

describe('an interrupt', () => {
  it('keeps the first stop and tells one listener once', () => {
    const interrupt = new Interrupt(systemClock);
    const heard: string[] = [];
    interrupt.listen((stop) => heard.push(stop));
    interrupt.stop('left');
    interrupt.stop('late');
    expect(heard).toEqual(['left']);
    expect(interrupt.stopped).toBe('left');
    expect(codeOf(() => interrupt.check('queue-timeout'))).toContain('CallerLeft');
  });

  it('stops by its timer, and not after it was disarmed', async () => {
    const interrupt = new Interrupt(systemClock);
    const stopped = await new Promise((resolve) => {
      interrupt.listen(resolve);
      interrupt.arm(1, 'late');
    });
    expect(stopped).toBe('late');
    const released = new Interrupt(systemClock);
    released.arm(1, 'late');
    released.disarm();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(released.stopped).toBeUndefined();
  });
});

describe('a traceparent (A20)', () => {
  it('gives its trace id, or nothing when it does not parse', () => {
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
    expect(traceIdOf(`00-${trace}-00f067aa0ba902b7-01`)).toBe(trace);
    expect(traceIdOf('nonsense')).toBeUndefined();
    expect(traceIdOf(undefined)).toBeUndefined();
  });
});
