/**
 * Counts the traffic of a share since the last collection. On the path of every request: plain counters on the
 * route, without allocation once a share is in use. The first count puts the share on the meter's list, so that a
 * collection costs by shares in use, not by existing ones.
 */
import { LATENCY_BUCKETS, latencyBucketOf } from '#domain';
import type { GatewayShare, TrafficSample } from '#domain/gateway-shapes';

/** The lowest status that counts as an error. */
const ERROR_STATUS = 500;
/** The class of the status that is counted first. */
const FIRST_CLASS = 2;
/** Spare sets of latency cells for reuse, a kilobyte each. */
const MAX_SPARE_CELLS = 1_024;

class LatencyCells {
  readonly counts = new Uint32Array(LATENCY_BUCKETS);
  /** Indices of the buckets that are not zero. */
  readonly touched: number[] = [];
}

export class ShareTraffic {
  readonly share: GatewayShare;
  readonly #meter: TrafficMeter;
  #requests = 0;
  #errors = 0;
  /** By class of status, from 2xx to 5xx. */
  readonly #byClass = [0, 0, 0, 0];
  #bytesIn = 0;
  #bytesOut = 0;
  #cells: LatencyCells | undefined;
  #isListed = false;

  constructor(meter: TrafficMeter, share: GatewayShare) {
    this.#meter = meter;
    this.share = share;
  }

  /** A request was answered, by the service or by the gateway's own page, `ms` after its head was complete. */
  answered(status: number, ms: number): void {
    this.#list();
    this.#requests += 1;
    if (status >= ERROR_STATUS) this.#errors += 1;
    const statusClass = Math.floor(status / 100) - FIRST_CLASS;
    if (statusClass in this.#byClass) this.#byClass[statusClass]! += 1;
    const cells = (this.#cells ??= this.#meter.cells());
    const bucket = latencyBucketOf(ms);
    if (cells.counts[bucket] === 0) cells.touched.push(bucket);
    cells.counts[bucket]! += 1;
  }

  /** A request ended without a complete response: an error, unless the client aborted it. */
  unanswered(byClient: boolean): void {
    this.#list();
    this.#requests += 1;
    if (!byClient) this.#errors += 1;
  }

  /** Bytes of a body, or after an upgrade, from the client. */
  received(bytes: number): void {
    this.#list();
    this.#bytesIn += bytes;
  }

  /** The same from the service. */
  sent(bytes: number): void {
    this.#list();
    this.#bytesOut += bytes;
  }

  /** Returns the counts and resets them. */
  take(startsAt: number): TrafficSample {
    const { id: shareId, environmentId, frontdoorId } = this.share;
    const sample: TrafficSample = {
      startsAt,
      shareId,
      environmentId,
      frontdoorId,
      requests: this.#requests,
      errors: this.#errors,
      bytesIn: this.#bytesIn,
      bytesOut: this.#bytesOut,
      byClass: [...this.#byClass],
      latency: this.#takeLatency(),
    };
    this.#requests = this.#errors = this.#bytesIn = this.#bytesOut = 0;
    this.#byClass.fill(0);
    this.#isListed = false;
    return sample;
  }

  #takeLatency(): number[] {
    const cells = this.#cells;
    if (cells === undefined) return [];
    this.#cells = undefined;
    const histogram: number[] = [];
    for (const bucket of cells.touched.sort((a, b) => a - b)) {
      histogram.push(bucket, cells.counts[bucket]!);
      cells.counts[bucket] = 0;
    }
    cells.touched.length = 0;
    this.#meter.giveBack(cells);
    return histogram;
  }

  #list(): void {
    if (this.#isListed) return;
    this.#isListed = true;
    this.#meter.list(this);
  }
}

export class TrafficMeter {
  #listed: ShareTraffic[] = [];
  readonly #spare: LatencyCells[] = [];

  /** Returns the counts of all shares since the last call, as traffic of the span that begins then. */
  take(startsAt: number): TrafficSample[] {
    const listed = this.#listed;
    this.#listed = [];
    return listed.map((traffic) => traffic.take(startsAt));
  }

  list(traffic: ShareTraffic): void {
    this.#listed.push(traffic);
  }

  cells(): LatencyCells {
    return this.#spare.pop() ?? new LatencyCells();
  }

  giveBack(cells: LatencyCells): void {
    if (this.#spare.length < MAX_SPARE_CELLS) this.#spare.push(cells);
  }
}
