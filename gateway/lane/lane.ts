import { Refusal } from '../../shared/http/refusal.ts';
import { Line } from './line.ts';
import type { Target } from './target.ts';

/** How a call that was out to a target came back. */
export type Outcome =
  /** The service answered. */
  | 'answered'
  /** No connection: not one byte was sent. */
  | 'unreachable'
  /** The service refused the gateway's own token. */
  | 'unauthorized'
  /** The service said that it is draining: the call did not run, and another instance may have it. */
  | 'draining'
  /** Something was sent, no usable answer came. */
  | 'lost'
  /** Its deadline and the grace passed. */
  | 'late'
  /** Its caller left. */
  | 'left';

/** A call in line. Exactly one of the two is called, once, unless the call leaves the line before. */
export interface Waiter {
  admit(target: Target): void;
  refuse(refusal: Refusal): void;
}

/** What the control plane hears of a lane. */
export interface LaneEvents {
  /** A call is coming and there is nothing to serve it. Heard as often as that is so. */
  onWanted(): void;
  onOutcome(target: Target, outcome: Outcome): void;
}

export interface LaneSettings {
  readonly tenantId: string;
  readonly deployment: string;
  readonly queue: { readonly size: number; readonly waitMs: number };
}

/**
 * Where a deployment's calls get a target or wait for one: the only object that both planes hold. The data plane wakes,
 * enters and leaves; the control plane opens, shuts and refuses.
 *
 * Safety: a target that has been taken out of the lane gets no further call; no target has more calls than it has room for.
 * Progress: whoever is in line is admitted when a slot is free, refused when the lane refuses, or leaves by itself.
 */
export class Lane {
  readonly #events: LaneEvents;
  #settings: LaneSettings;
  readonly #line = new Line<Waiter>();
  readonly #visitors = new Line<Waiter>();
  #current: Target | undefined;
  /** While draining: no call goes there any more, but it still tells who it is (A3). */
  #departing: Target | undefined;
  #refusal: (() => Refusal) | undefined;
  #calls = 0;

  constructor(settings: LaneSettings, events: LaneEvents) {
    this.#settings = settings;
    this.#events = events;
  }

  get settings(): LaneSettings {
    return this.#settings;
  }

  /** From now on these hold; whoever is in line stays. */
  update(settings: LaneSettings): void {
    this.#settings = settings;
  }

  /** The target that new calls go to, if there is one. */
  get current(): Target | undefined {
    return this.#current;
  }

  get waiting(): number {
    return this.#line.length + this.#visitors.length;
  }

  /** Calls that ever came this way: whoever watches for idleness compares it with what it was. */
  get calls(): number {
    return this.#calls;
  }

  /**
   * Says that a call is coming, before its body has been read, so that a start and an upload run side by side.
   * @throws {Refusal} when the lane refuses calls: then nobody needs to read the body.
   */
  wake(): void {
    this.#calls += 1;
    if (this.#refusal !== undefined) throw this.#refusal();
    if (this.#current === undefined) this.#events.onWanted();
  }

  /**
   * A target at once, or undefined: then the waiter is in line and hears of it later.
   * @throws {Refusal} when the lane refuses calls, or its line is full (`queue-full`).
   */
  enter(waiter: Waiter): Target | undefined {
    if (this.#refusal !== undefined) throw this.#refusal();
    const target = this.#current;
    if (target !== undefined && target.hasRoom && this.#line.length === 0) {
      target.take();
      return target;
    }
    if (this.#line.length >= this.#settings.queue.size) throw new Refusal('queue-full');
    this.#line.join(waiter);
    if (target === undefined) this.#events.onWanted();
    return undefined;
  }

  /**
   * Like `enter` for `/v1/info`, which takes no slot (A3) and must not be given back.
   * @throws {Refusal} when the lane refuses calls and no instance is up.
   */
  visit(waiter: Waiter): Target | undefined {
    this.#calls += 1;
    const target = this.#current ?? this.#departing;
    if (target !== undefined) return target;
    if (this.#refusal !== undefined) throw this.#refusal();
    this.#visitors.join(waiter);
    this.#events.onWanted();
    return undefined;
  }

  /** Takes a waiter out of the line: its caller left, or its time is over. */
  withdraw(waiter: Waiter): void {
    if (!this.#line.leave(waiter)) this.#visitors.leave(waiter);
  }

  /** A call is back from its target; the slot goes to the next in line. */
  leave(target: Target, outcome: Outcome): void {
    target.giveBack();
    // The control plane first: a target that turned out to be unreachable must not get the next call.
    this.#events.onOutcome(target, outcome);
    this.#admit();
  }

  /** New calls, and those in line, go to `target`. */
  open(target: Target): void {
    this.#refusal = undefined;
    this.#departing = undefined;
    this.#current = target;
    for (const visitor of this.#visitors.dissolve()) visitor.admit(target);
    this.#admit();
  }

  /** New calls wait from now on. Returns the target that was taken out, if there was one. */
  shut(): Target | undefined {
    const target = this.#current;
    this.#current = undefined;
    this.#departing = undefined;
    this.#refusal = undefined;
    return target;
  }

  /** Like `shut`, and every call, in line or new, is refused with what `refusal` makes at that moment. */
  refuse(refusal: () => Refusal): Target | undefined {
    const target = this.shut();
    this.#refusal = refusal;
    for (const waiter of [...this.#line.dissolve(), ...this.#visitors.dissolve()]) waiter.refuse(refusal());
    return target;
  }

  /** Like `refuse` with `draining`, but what was open still answers visits until it is gone. */
  drain(): Target | undefined {
    const target = this.refuse(() => new Refusal('draining'));
    this.#departing = target;
    return target;
  }

  /** Forgets a target that is gone, wherever it was. */
  forget(target: Target): void {
    if (this.#current === target) this.#current = undefined;
    if (this.#departing === target) this.#departing = undefined;
  }

  #admit(): void {
    for (;;) {
      const target = this.#current;
      if (target === undefined || this.#line.length === 0 || !target.hasRoom) return;
      const waiter = this.#line.next();
      if (waiter === undefined) return;
      target.take();
      waiter.admit(target);
    }
  }
}
