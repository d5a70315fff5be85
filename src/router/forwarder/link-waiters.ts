/**
 * Ends that wait for room in a link, in the order in which they resume. An end that fills the link again queues last.
 */
import type { CircuitEnd } from './destination.ts';

export class LinkWaiters {
  readonly #byLink = new Map<string, Set<CircuitEnd>>();

  add(linkId: string, end: CircuitEnd): void {
    let ends = this.#byLink.get(linkId);
    if (ends === undefined) {
      ends = new Set();
      this.#byLink.set(linkId, ends);
    }
    ends.add(end);
  }

  remove(linkId: string, end: CircuitEnd): void {
    const ends = this.#byLink.get(linkId);
    if (ends?.delete(end) === true && ends.size === 0) this.#byLink.delete(linkId);
  }

  /** Resumes each end that waits now, at most once, while there is room. */
  wake(linkId: string, hasRoom: () => boolean): void {
    const ends = this.#byLink.get(linkId);
    if (ends === undefined) return;
    let count = ends.size;
    for (const end of ends) {
      if (count === 0 || !hasRoom()) break;
      count -= 1;
      ends.delete(end);
      end.onWritable();
    }
    if (ends.size === 0) this.#byLink.delete(linkId);
  }
}
