/** Dials that wait for the answer of one host. They end when the host has opened another channel, which is dialed then. */
import type { Frame } from '#wire';
import { hostGone } from '../forwarder/dial-refusal.ts';

export class HostDials {
  readonly #waiting = new Set<(error: Error) => void>();
  #isReplaced = false;

  /** Rejects like `request`, or because the host has another channel, on which the next dial reaches it. */
  async answer(request: () => Promise<Frame>): Promise<Frame> {
    if (this.#isReplaced) throw hostGone(true);
    const { promise, resolve, reject } = Promise.withResolvers<Frame>();
    this.#waiting.add(reject);
    request().then(resolve, reject);
    try {
      return await promise;
    } finally {
      this.#waiting.delete(reject);
    }
  }

  replace(): void {
    this.#isReplaced = true;
    for (const reject of this.#waiting) reject(hostGone(true));
  }
}
