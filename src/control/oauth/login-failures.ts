/**
 * Bounds wrong secrets of a client from each address: whoever guesses locks neither the client's owner out, who comes from
 * another address, nor other clients at the same address. Guesses from many addresses stay guesses at 256 random bits.
 */
import { addressKey, AttemptLimits, type AttemptRate, type BucketRate, type Clock } from '#base';

/** Ids are UUIDs; what is longer is nobody's and must not fill the memory. */
const MAX_ID_CHARS = 36;

export class LoginFailures {
  readonly #failures = new AttemptLimits();
  readonly #rate: AttemptRate;
  readonly #clock: Clock;

  constructor({ perSecond, burst }: BucketRate, clock: Clock) {
    this.#rate = { attempts: burst, perMs: (burst / perSecond) * 1_000 };
    this.#clock = clock;
  }

  /** Milliseconds until this client may be tried again from this address; 0: now. */
  waitMs(clientId: string, address: string): number {
    const target = targetOf(clientId);
    return this.#failures.waitMs(target, addressKey(address), this.#rate, this.#clock.nowMs());
  }

  failed(clientId: string, address: string): void {
    this.#failures.failed(targetOf(clientId), addressKey(address), this.#rate, this.#clock.nowMs());
  }
}

function targetOf(clientId: string): string {
  return clientId.slice(0, MAX_ID_CHARS);
}
