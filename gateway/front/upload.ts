import type { IncomingMessage, ServerResponse } from 'node:http';
import { announcesMoreThan, readBody } from '../../shared/http/body.ts';
import { Refusal } from '../../shared/http/refusal.ts';
import { isJsonType } from '../../shared/protocol/headers.ts';
import { MAX_BODY_BYTES } from '../../shared/protocol/limits.ts';
import { CallerLeft, stopError } from './interrupt.ts';
import type { Interrupt } from './interrupt.ts';
import type { Room } from './room.ts';
import { watchStall } from './stall.ts';

/** The room a call's body takes; given back once, when the call is over. */
export class Upload {
  readonly #room: Room;
  readonly #tenantKey: string;
  #bytes = 0;

  constructor(room: Room, tenantKey: string) {
    this.#room = room;
    this.#tenantKey = tenantKey;
  }

  /**
   * Judges what the headers say of the body.
   * @throws {Refusal} `not-json` (A21, A22), `body-too-large` (A24, A25).
   */
  static checkHeaders(request: IncomingMessage): void {
    if (!isJsonType(request.headers['content-type'])) throw new Refusal('not-json');
    if (announcesMoreThan(request, MAX_BODY_BYTES)) throw new Refusal('body-too-large');
  }

  /**
   * The whole body. Waits for room first, at most `timeoutMs`; the sender of `Expect: 100-continue` is asked to go on
   * only then.
   * @throws {Refusal} `bodies-full`, also when it stalls while another waits for its room; `body-too-large`;
   * {@link CallerLeft} when it was cut or stalled for long.
   */
  async receive(
    request: IncomingMessage,
    response: ServerResponse,
    interrupt: Interrupt,
    timeoutMs: number,
    expectsContinue: boolean,
  ): Promise<Buffer> {
    const reserved = this.#reserve(bytesToHold(request), interrupt, timeoutMs);
    if (reserved !== undefined) await reserved;
    interrupt.disarm();
    interrupt.check('bodies-full');
    if (expectsContinue) response.writeContinue();
    let hasYielded = false;
    let endWatch: (() => void) | undefined;
    try {
      const body = await readBody(request, MAX_BODY_BYTES, (giveUp) => {
        endWatch = watchStall(request, {
          mustYield: () => this.#room.isWanted(this.#tenantKey),
          onYield: () => {
            hasYielded = true;
            giveUp();
          },
          onDead: () => void request.destroy(),
        });
      });
      if (hasYielded) throw new Refusal('bodies-full');
      if (body.kind === 'too-large') throw new Refusal('body-too-large');
      if (body.kind === 'cut') throw new CallerLeft();
      this.#shrinkTo(body.bytes.length);
      return body.bytes;
    } finally {
      endWatch?.();
    }
  }

  release(): void {
    if (this.#bytes > 0) this.#room.giveBack(this.#tenantKey, this.#bytes);
    this.#bytes = 0;
  }

  /** A chunked body took room for the longest one; a call of 200 bytes must not keep that while it runs. */
  #shrinkTo(bytes: number): void {
    if (bytes >= this.#bytes) return;
    this.#room.giveBack(this.#tenantKey, this.#bytes - bytes);
    this.#bytes = bytes;
  }

  /** Undefined when there was room at once, which is the way of nearly every call. */
  #reserve(bytes: number, interrupt: Interrupt, timeoutMs: number): Promise<void> | undefined {
    if (this.#room.take(this.#tenantKey, bytes)) {
      this.#bytes = bytes;
      return undefined;
    }
    return new Promise((resolve, reject) => {
      const leave = this.#room.await(this.#tenantKey, bytes, () => {
        this.#bytes = bytes;
        resolve();
      });
      interrupt.listen((stop) => {
        leave();
        reject(stopError(stop, 'bodies-full'));
      });
      interrupt.arm(timeoutMs, 'late');
    });
  }
}

/** The announced length; the limit where none is announced. */
function bytesToHold(request: IncomingMessage): number {
  const { headers } = request;
  if (headers['content-length'] !== undefined) return Number(headers['content-length']);
  return headers['transfer-encoding'] === undefined ? 0 : MAX_BODY_BYTES;
}
