/**
 * Limits wrong secrets of a client per address, so that an attacker locks out neither the client's owner, who
 * uses another address, nor other clients at the same address. Guessing from many addresses is hopeless against
 * 256 random bits.
 */
import { addressKey, AttemptLimits, type AttemptRate, type BucketRate, type Clock } from '#base';

/** Ids are UUIDs. Longer ids do not exist and must not use memory. */
const MAX_ID_CHARS = 36;

export class LoginFailures {
  readonly #failures = new AttemptLimits();
  readonly #rate: AttemptRate;
  readonly #clock: Clock;

  constructor({ perSecond, burst }: BucketRate, clock: Clock) {
    this.#rate = { attempts: burst, perMs: (burst / perSecond) * 1_000 };
    this.#clock = clock;
  }

  /** Returns the milliseconds until this client may try again from this address; 0: now. */
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
