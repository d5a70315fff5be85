/** Addresses of servers that did not connect lately, so that others of the same name are tried first. */
import type { Clock } from '#base';

const REMEMBERED_MS = 300_000;
const MAX_ADDRESSES = 256;

export class DeadAddresses {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  /** The latest last. */
  readonly #failedAtMs = new Map<string, number>();

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  add(address: string, port: number): void {
    const key = `${address} ${port}`;
    this.#failedAtMs.delete(key);
    this.#failedAtMs.set(key, this.#clock.monotonicMs());
    if (this.#failedAtMs.size > MAX_ADDRESSES) this.#failedAtMs.delete(this.#failedAtMs.keys().next().value!);
  }

  delete(address: string, port: number): void {
    this.#failedAtMs.delete(`${address} ${port}`);
  }

  has(address: string, port: number): boolean {
    const failedAtMs = this.#failedAtMs.get(`${address} ${port}`);
    return failedAtMs !== undefined && this.#clock.monotonicMs() - failedAtMs < REMEMBERED_MS;
  }
}
