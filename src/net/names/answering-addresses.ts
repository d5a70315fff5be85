/**
 * Which of several addresses of a service answered last, so that new connections try it first. Otherwise each of them waits half a
 * second for an address that does not answer before the next one is tried.
 */
import type { LookupAddress } from 'node:dns';
import { systemClock, type Clock } from '#base';

const MAX_SERVICES = 1_024;
/** After this time the order of the resolver holds again. */
const KEEP_MS = 300_000;

export class AnsweringAddresses {
  readonly #clock: Clock;
  readonly #last = new Map<string, { readonly address: string; readonly untilMs: number }>();

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  /** Returns the addresses of the service in the order in which they are to be tried. */
  inOrder(service: string, addresses: readonly LookupAddress[]): readonly LookupAddress[] {
    const last = this.#last.get(service);
    if (last === undefined || last.untilMs < this.#clock.monotonicMs()) return addresses;
    const first = addresses.find(({ address }) => address === last.address);
    return first === undefined || first === addresses[0]
      ? addresses
      : [first, ...addresses.filter((other) => other !== first)];
  }

  /** A connection to this address was established. */
  answered(service: string, address: string | undefined): void {
    this.#last.delete(service);
    if (address === undefined) return;
    if (this.#last.size >= MAX_SERVICES) this.#last.delete(this.#last.keys().next().value ?? '');
    this.#last.set(service, { address, untilMs: this.#clock.monotonicMs() + KEEP_MS });
  }
}
