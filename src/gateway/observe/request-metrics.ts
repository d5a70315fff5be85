/**
 * Metrics of requests for operators: outcomes, access decisions, failed hops, durations. Labels are bounded:
 * shares beyond the first few hundred are counted together. Plain counters, because they are on the path of every
 * request.
 */
import type { Failure } from '../answers/failure-table.ts';
import type { RequestObserver, RequestRecord } from '../exchange/request-record.ts';
import type { Exposition, Labels } from '#net/metrics';

const BOUNDS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const PHASES = ['decision', 'circuit', 'first_byte', 'total'] as const;
const MAX_SHARES = 200;
const MAX_DECISIONS = 64;
const MAX_FAILURES = 128;
/** The label for values beyond the limit. */
const OTHER = 'other';

type Phase = (typeof PHASES)[number];

class Histogram {
  readonly counts = new Float64Array(BOUNDS_S.length + 1);
  sum = 0;

  add(ms: number): void {
    const seconds = ms / 1_000;
    let bucket = 0;
    while (bucket < BOUNDS_S.length && seconds > BOUNDS_S[bucket]!) bucket += 1;
    this.counts[bucket]! += 1;
    this.sum += seconds;
  }
}

/** Counts by label value. Values beyond the limit are counted together. */
class Tally {
  readonly counts = new Map<string, number>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  add(key: string): void {
    const count = this.counts.get(key);
    if (count !== undefined) this.counts.set(key, count + 1);
    else if (this.counts.size < this.#max) this.counts.set(key, 1);
    else this.counts.set(OTHER, (this.counts.get(OTHER) ?? 0) + 1);
  }
}

export class RequestMetrics implements RequestObserver {
  /** By the first digit of the status; 0: none was sent. */
  readonly #classes = new Float64Array(10);
  readonly #outcomes = new Tally(8);
  readonly #decisions = new Tally(MAX_DECISIONS);
  readonly #failures = new Tally(MAX_FAILURES);
  readonly #shares = new Tally(MAX_SHARES);
  readonly #shareErrors = new Tally(MAX_SHARES);
  readonly #latency: Readonly<Record<Phase, Histogram>> = {
    decision: new Histogram(),
    circuit: new Histogram(),
    first_byte: new Histogram(),
    total: new Histogram(),
  };
  #bytesIn = 0;
  #bytesOut = 0;

  began(): void {}

  refused(): void {}

  served(record: RequestRecord): void {
    this.#outcomes.add('served');
    this.#count(record);
  }

  failed(record: RequestRecord, { hop, code }: Failure): void {
    if (record.isBrokenOff) this.#outcomes.add('broken_off');
    else this.#outcomes.add(record.admission === undefined ? 'refused' : 'failed');
    this.#failures.add(`${hop}/${code}`);
    this.#count(record);
  }

  gone(record: RequestRecord): void {
    this.#outcomes.add('client_gone');
    this.#count(record);
  }

  flush(): void {}

  write(to: Exposition): void {
    const classes = Array.from(this.#classes, (count, digit): readonly [Labels, number] => [
      { status: digit === 0 ? 'none' : `${digit}xx` },
      count,
    ]);
    to.family(
      'frontdoor_gateway_requests_total',
      'counter',
      'Requests by the class of their status',
      classes.filter(([, count]) => count > 0),
    );
    to.family(
      'frontdoor_gateway_outcomes_total',
      'counter',
      'Requests by their outcome',
      labelled('outcome', this.#outcomes),
    );
    to.family(
      'frontdoor_gateway_decisions_total',
      'counter',
      'Requests by the decision on access',
      labelled('decision', this.#decisions),
    );
    to.family(
      'frontdoor_gateway_failures_total',
      'counter',
      'Requests that were refused or failed, by hop and error code',
      Array.from(this.#failures.counts, ([key, count]) => {
        const [hop = OTHER, code = OTHER] = key.split('/');
        return [{ hop, code }, count];
      }),
    );
    to.family(
      'frontdoor_gateway_share_requests_total',
      'counter',
      `Requests by share; those beyond the first ${MAX_SHARES} shares are counted together`,
      labelled('share', this.#shares),
    );
    to.family(
      'frontdoor_gateway_share_errors_total',
      'counter',
      'Requests that ended with a status of 500 or above, or without a complete answer',
      labelled('share', this.#shareErrors),
    );
    to.one('frontdoor_gateway_received_bytes_total', 'counter', 'Bytes of request bodies', this.#bytesIn);
    to.one('frontdoor_gateway_sent_bytes_total', 'counter', 'Bytes of response bodies', this.#bytesOut);
    to.histogram(
      'frontdoor_gateway_request_seconds',
      'Seconds from the end of a request head until the decision, the circuit, the first byte of the answer and the end',
      BOUNDS_S,
      PHASES.map((phase) => [{ phase }, this.#latency[phase]]),
    );
  }

  #count(record: RequestRecord): void {
    const { status, startedMs, route } = record;
    this.#classes[status >= 100 && status < 1_000 ? Math.floor(status / 100) : 0]! += 1;
    this.#bytesIn += record.bytesIn;
    this.#bytesOut += record.bytesOut;
    if (record.decision !== '') this.#decisions.add(firstWord(record.decision));
    const latency = this.#latency;
    if (record.decidedMs > 0) latency.decision.add(record.decidedMs - startedMs);
    if (record.circuitMs > 0) latency.circuit.add(record.circuitMs - startedMs);
    if (record.firstByteMs > 0) latency.first_byte.add(record.firstByteMs - startedMs);
    if (record.doneMs > 0) latency.total.add(record.doneMs - startedMs);
    if (route === undefined) return;
    this.#shares.add(route.share.token);
    if (status >= 500 || record.isBrokenOff) this.#shareErrors.add(route.share.token);
  }
}

/** The words after the first one name a key or a user, and get no label. */
function firstWord(decision: string): string {
  const space = decision.indexOf(' ');
  return space === -1 ? decision : decision.slice(0, space);
}

function labelled(label: string, tally: Tally): (readonly [Labels, number])[] {
  return Array.from(tally.counts, ([key, count]) => [{ [label]: key }, count]);
}
