/**
 * Logs changes of the status of shares. Many change at once: at the start, or when a router with the terminators of many
 * shares disconnects. Lines are written synchronously, so a bounded number is written between two ticks, and one line with
 * the counts follows for the others. A share that changes again and again has a few lines of its own, then one a minute.
 */
import type { Log } from '#base';
import type { ServiceStatusState } from './service-status-machine.ts';

export const MAX_LINES_PER_TICK = 50;
/** Lines of one share within `WINDOW_MS`. */
export const MAX_LINES_PER_SHARE = 4;
export const WINDOW_MS = 60_000;

type State = ServiceStatusState['state'];

interface Changes {
  readonly untilMs: number;
  readonly name: string | undefined;
  count: number;
  last: State;
}

export class ServiceStatusLog {
  readonly #log: Log;
  #lines = 0;
  /** Changes without a line of their own, by the status after them. */
  #others: Partial<Record<State, number>> = {};
  #hasOthers = false;
  /** Shares that changed lately, in the order of their windows, which are all equally long. */
  readonly #lately = new Map<string, Changes>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** `name` is undefined for a share that the model no longer has. */
  write(
    serviceId: string,
    name: string | undefined,
    { state, lastError }: ServiceStatusState,
    nowMs: number,
  ): void {
    const lately = this.#lately.get(serviceId) ?? { untilMs: nowMs + WINDOW_MS, name, count: 0, last: state };
    this.#lately.set(serviceId, lately);
    lately.count += 1;
    lately.last = state;
    if (lately.count > MAX_LINES_PER_SHARE) return;
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

  tick(nowMs: number): void {
    this.#lines = 0;
    for (const [serviceId, { untilMs, name, count, last }] of this.#lately) {
      if (untilMs > nowMs) break;
      this.#lately.delete(serviceId);
      if (count <= MAX_LINES_PER_SHARE) continue;
      const fields = {
        share: name,
        service: serviceId,
        status: last,
        changes: count,
        seconds: WINDOW_MS / 1_000,
      };
      this.#log.warn(fields, 'share changes its status again and again');
    }
    if (!this.#hasOthers) return;
    const shares = this.#others;
    this.#others = {};
    this.#hasOthers = false;
    if (shares.FAILED === undefined) this.#log.info({ shares }, 'status of more shares');
    else this.#log.warn({ shares }, 'status of more shares');
  }
}
