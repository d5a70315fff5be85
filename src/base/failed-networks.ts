/**
 * Networks of clients that gave a wrong secret lately. They wait behind others where there is not enough for all, and are not
 * refused for it: an office is one network, too. Bounded: the one that failed longest ago is forgotten first.
 */
import { networkKey } from './address-key.ts';
import type { Clock } from './clock.ts';

const REMEMBERED_MS = 15 * 60_000;
const MAX_NETWORKS = 10_000;

export class FailedNetworks {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  /** By key, the latest last. */
  readonly #failedAtMs = new Map<string, number>();

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  failed(address: string): void {
    const key = networkKey(address);
    this.#failedAtMs.delete(key);
    this.#failedAtMs.set(key, this.#clock.monotonicMs());
    if (this.#failedAtMs.size > MAX_NETWORKS) this.#failedAtMs.delete(this.#failedAtMs.keys().next().value!);
  }

  /** Whether the network of the address failed in the last quarter of an hour. */
  has(address: string): boolean {
    return this.hasNetwork(networkKey(address));
  }

  /** As `has`, by the key of the network. */
  hasNetwork(key: string): boolean {
    const failedAtMs = this.#failedAtMs.get(key);
    return failedAtMs !== undefined && this.#clock.monotonicMs() - failedAtMs < REMEMBERED_MS;
  }
}
