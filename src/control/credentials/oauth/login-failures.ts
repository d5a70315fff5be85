/**
 * Limits wrong secrets of a client per address, so that an attacker locks out neither the client's owner, who
 * uses another address, nor other clients at the same address. Guessing from many addresses is hopeless against
 * 256 random bits.
 */
import { addressKey, AttemptLimits, type AttemptRate, type BucketRate, type Clock } from '#base';

/** How many more wrong secrets one address may have with all clients together. An office has one address, too. */
const CLIENTS_OF_ADDRESS = 10;
const ANY_CLIENT = '';

/** Ids are UUIDs. Longer ids do not exist and must not use memory. */
const MAX_ID_CHARS = 36;

export class LoginFailures {
  readonly #failures = new AttemptLimits();
  readonly #ofAddresses = new AttemptLimits();
  readonly #rate: AttemptRate;
  readonly #addressRate: AttemptRate;
  readonly #clock: Clock;

  constructor({ perSecond, burst }: BucketRate, clock: Clock) {
    this.#rate = { attempts: burst, perMs: (burst / perSecond) * 1_000 };
    this.#addressRate = { ...this.#rate, attempts: burst * CLIENTS_OF_ADDRESS };
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

  /**
   * For secrets whose check is costly: counts the attempt as a failure before it is checked, until `succeeded` is called,
   * so that attempts at once are counted. Returns the milliseconds until the next attempt, if this one is refused; 0: it
   * is counted.
   */
  begin(clientId: string, address: string): number {
    const [key, nowMs] = [addressKey(address), this.#clock.nowMs()];
    const ofAddressMs = this.#ofAddresses.waitMs(ANY_CLIENT, key, this.#addressRate, nowMs);
    const waitMs = Math.max(this.waitMs(clientId, address), ofAddressMs);
    if (waitMs > 0) return waitMs;
    this.failed(clientId, address);
    this.#ofAddresses.failed(ANY_CLIENT, key, this.#addressRate, nowMs);
    return 0;
  }

  /** The attempt that began was none that failed. */
  succeeded(clientId: string, address: string): void {
    this.#failures.takeBack(targetOf(clientId), addressKey(address), this.#rate);
    this.#ofAddresses.takeBack(ANY_CLIENT, addressKey(address), this.#addressRate);
  }
}

function targetOf(clientId: string): string {
  return clientId.slice(0, MAX_ID_CHARS);
}
