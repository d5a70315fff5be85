/**
 * Resolves target names, one look-up at a time per name, with a cache of a few seconds. The system's resolver
 * blocks one of a few threads while it waits, so a name server that hangs must not be asked once per circuit.
 */
import type { LookupAddress } from 'node:dns';
import { type Clock, systemClock } from '#base';
import { inOwnScope } from '#net';
import { AnsweringAddresses, systemLookup, type HostLookup } from '#net/names';

const KEEP_MS = 5_000;
const MAX_NAMES = 1_024;

/** After an error there are no addresses. */
type Answer = (error: Error | null, addresses: readonly LookupAddress[]) => void;

interface Known {
  readonly addresses: readonly LookupAddress[];
  readonly untilMs: number;
}

export class TargetResolver {
  /** By the texts of targets. */
  readonly answering: AnsweringAddresses;
  readonly #lookup: HostLookup;
  readonly #clock: Clock;
  readonly #known = new Map<string, Known>();
  readonly #waiting = new Map<string, Answer[]>();

  constructor(lookup: HostLookup = systemLookup, clock: Clock = systemClock) {
    this.#lookup = lookup;
    this.#clock = clock;
    this.answering = new AnsweringAddresses(clock);
  }

  resolve(host: string, answer: Answer): void {
    const known = this.#known.get(host);
    if (known !== undefined && known.untilMs > this.#clock.monotonicMs()) {
      process.nextTick(answer, null, known.addresses);
      return;
    }
    const waiting = this.#waiting.get(host);
    if (waiting !== undefined) {
      waiting.push(inOwnScope(answer));
      return;
    }
    this.#waiting.set(host, [inOwnScope(answer)]);
    this.#lookup(host, { all: true }, (error, addresses = []) => {
      const answers = this.#waiting.get(host) ?? [];
      this.#waiting.delete(host);
      this.#known.delete(host);
      if (error === null) {
        if (this.#known.size >= MAX_NAMES) this.#known.delete(this.#known.keys().next().value ?? '');
        this.#known.set(host, { addresses, untilMs: this.#clock.monotonicMs() + KEEP_MS });
      }
      for (const each of answers) each(error, addresses);
    });
  }
}
