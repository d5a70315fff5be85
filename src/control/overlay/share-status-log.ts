/**
 * Logs changes of the status of shares. Many change at once: at the start, or when a router with the terminators of many
 * shares disconnects. Lines are written synchronously, so a bounded number is written between two ticks, and one line with
 * the counts follows for the others.
 */
import type { Log } from '#base';
import type { ShareStatusState } from './share-status-machine.ts';

export const MAX_LINES_PER_TICK = 50;

type State = ShareStatusState['state'];

export class ShareStatusLog {
  readonly #log: Log;
  #lines = 0;
  /** Changes without a line of their own, by the status after them. */
  #others: Partial<Record<State, number>> = {};
  #hasOthers = false;

  constructor(log: Log) {
    this.#log = log;
  }

  /** `name` is undefined for a share that the model no longer has. */
  write(serviceId: string, name: string | undefined, { state, lastError }: ShareStatusState): void {
    if (this.#lines >= MAX_LINES_PER_TICK) {
      this.#others[state] = (this.#others[state] ?? 0) + 1;
      this.#hasOthers = true;
      return;
    }
    this.#lines += 1;
    const fields = { share: name, service: serviceId, status: state };
    if (state === 'FAILED') this.#log.warn({ ...fields, reason: lastError }, 'share failed');
    else this.#log.info(fields, 'share status');
  }

  tick(): void {
    this.#lines = 0;
    if (!this.#hasOthers) return;
    const shares = this.#others;
    this.#others = {};
    this.#hasOthers = false;
    if (shares.FAILED === undefined) this.#log.info({ shares }, 'status of more shares');
    else this.#log.warn({ shares }, 'status of more shares');
  }
}
