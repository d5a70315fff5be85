/** The ends of circuits that this router holds itself, and their shared resources: timer, counters, metrics. */
import { FrontdoorError, type Log } from '#base';
import { memoryShares } from '#net';
import { CircuitBudget, XgressCounters } from '#wire/xgress';
import type { CircuitFaults } from '../forwarder/circuit-faults.ts';
import type { Forwarder } from '../forwarder/forwarder.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { XgressEnd, type XgressEndContext, type XgressEndOptions } from './xgress-end.ts';
import { FlowMeters, SideMeters } from './xgress-meters.ts';
import { XgressTicker } from './xgress-ticker.ts';

const MAX_ENDS = 65_536;

export interface XgressEndsOptions {
  readonly forwarder: Forwarder;
  readonly faults: CircuitFaults;
  readonly metrics: Metrics;
  readonly log: Log;
  /** Decides which payloads `randomDrops` drops. Returns n with 0 ≤ n < 1. */
  readonly random?: (() => number) | undefined;
}

export interface OpenEndOptions extends Omit<XgressEndOptions, 'meters' | 'context' | 'onClosed'> {
  /** The controller of the circuit, which is notified when the end closes. */
  readonly controllerId: string;
}

export class XgressEnds {
  readonly ticker = new XgressTicker();
  readonly counters = new XgressCounters();
  readonly budget = new CircuitBudget(memoryShares.unreadBytes, memoryShares.unacknowledgedBytes);
  /** Returns a random number n with 0 ≤ n < 1. */
  readonly random: () => number;
  readonly ingress: SideMeters;
  readonly egress: SideMeters;
  readonly #options: XgressEndsOptions;
  readonly #context: XgressEndContext;
  readonly #flow: FlowMeters;
  readonly #ends = new Set<XgressEnd>();

  constructor(options: XgressEndsOptions) {
    const { forwarder, metrics, log, random = Math.random } = options;
    this.#options = options;
    this.random = random;
    this.ingress = new SideMeters(metrics, 'ingress');
    this.egress = new SideMeters(metrics, 'egress');
    const { ticker, counters, budget } = this;
    this.#context = { forwarding: forwarder, ticker, counters, budget, log, random };
    this.#flow = new FlowMeters(metrics, this.counters, this.ticker);
  }

  get count(): number {
    return this.#ends.size;
  }

  /** @throws FrontdoorError `limited` if there are too many; `badGateway` if the connection has closed in the meantime. */
  open({ controllerId, ...end }: OpenEndOptions): XgressEnd {
    if (this.#ends.size >= MAX_ENDS)
      throw new FrontdoorError('limited', 'too-many-circuits', 'the router holds too many circuits');
    if (end.connection.destroyed)
      throw new FrontdoorError('badGateway', 'connection-closed', 'the local connection has closed');
    const { forwarder, faults } = this.#options;
    const xgressEnd = new XgressEnd({
      ...end,
      meters: end.isTerminator ? this.egress : this.ingress,
      context: this.#context,
      onClosed: (it, byOverlay) => {
        this.#ends.delete(it);
        if (byOverlay) return;
        forwarder.unregister(it.circuitId, it.address);
        faults.onCircuitClosed(it.circuitId, controllerId, it.isTerminator);
      },
    });
    this.#ends.add(xgressEnd);
    forwarder.register(end.circuitId, end.address, xgressEnd, controllerId);
    xgressEnd.start();
    return xgressEnd;
  }

  close(): void {
    for (const end of [...this.#ends]) end.destroy('the router is stopping');
    this.#flow.close();
    this.ticker.close();
  }
}
