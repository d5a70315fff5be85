/**
 * One flow of datagrams to a share: decides about its source, then passes each datagram as one message of a circuit, and asks
 * again while the flow is open. Until the source has sent again after an answer, it gets at most as many datagrams as it sent, so that
 * a forged source is not flooded. ADR 0119.
 */
import { performance } from 'node:perf_hooks';
import { messageOf, newNumber, type Numbered } from '#base';
import type { CircuitClient } from '#domain/agent-shapes';
import type { DatagramConnection } from '#net/datagrams';
import type { CircuitError } from '#sdk';
import { callerAddress } from '../access/rate-limits.ts';
import { FAILURES, type Failure } from '../answers/failure-table.ts';
import { failureOfCircuit } from '../circuits/circuit-failure.ts';
import type { ClientFacts } from '../circuits/route-decision.ts';
import type {
  CircuitWaiter,
  GatewayHost,
  GatewayRoute,
  Upstream,
  UpstreamOwner,
} from '../circuits/upstream.ts';
import { recordFailure } from '../exchange/failure-record.ts';
import type { GatewayContext } from '../exchange/gateway-context.ts';
import type { RequestRecord } from '../exchange/request-record.ts';
import { circuitWaitMs } from '../limits/gateway-limits.ts';
import { ADMISSION, CHECK_MS, endOfStream, refusalOfStream } from './stream-admission.ts';

/** A source that has not sent again after an answer is not known to exist, and keeps its flow for this time. */
const UNPROVEN_IDLE_MS = 10_000;
const ANSWERED = 200;

export interface DatagramStreamOptions {
  readonly context: GatewayContext;
  readonly flow: DatagramConnection;
  readonly facts: ClientFacts;
  /** The share as it is now; undefined if it has gone. */
  readonly find: () => GatewayHost | undefined;
  readonly onClosed: (stream: DatagramStream) => void;
}

export class DatagramStream implements CircuitWaiter, UpstreamOwner, Numbered {
  readonly number = newNumber();
  readonly freshOnly = true;
  readonly party: string;
  readonly sinceMs: number;
  readonly client: CircuitClient;
  readonly route: GatewayRoute;
  readonly #options: DatagramStreamOptions;
  readonly #record: RequestRecord;
  readonly #begun = Promise.withResolvers<boolean>();
  #upstream: Upstream | undefined;
  #deadlineMs = Infinity;
  #checkedMs: number;
  #taken = 0;
  #sent = 0;
  #isProven = false;

  constructor(host: GatewayHost, options: DatagramStreamOptions) {
    const { context, flow, facts } = options;
    this.#options = options;
    this.route = host.route;
    this.client = facts;
    this.party = callerAddress(facts.address);
    this.sinceMs = context.nowMs;
    this.#checkedMs = context.nowMs;
    this.#record = context.records.openPort(facts, host.host, 'udp');
    this.#record.route = host.route;
    flow.pause();
    flow.on('data', (datagram: Uint8Array) => this.#guarded(() => this.#take(datagram)));
    flow.on('end', () => this.#guarded(() => this.destroy()));
    flow.on('drain', () => this.#upstream?.resume());
    flow.on('error', () => {});
    flow.on('close', () => {
      this.#guarded(() => this.#onClose());
      options.onClosed(this);
    });
  }

  /** `open`: flows of the share that are open already. Resolves to whether it has a circuit. */
  begin(host: GatewayHost, open: number): Promise<boolean> {
    this.#guarded(() => {
      const { context, facts } = this.#options;
      const failure = refusalOfStream(context, host, facts, open);
      const record = this.#record;
      record.decision = failure?.code ?? (host.isGuarded ? ADMISSION.decision : 'open');
      record.decidedMs = performance.now();
      if (failure !== undefined) {
        this.#end(failure);
        return;
      }
      record.admission = ADMISSION;
      this.#deadlineMs = context.nowMs + circuitWaitMs(context.limits);
      if (!context.pool.wait(this.route, this)) this.#end(FAILURES.tooManyWaiting);
    });
    return this.#begun.promise;
  }

  circuitReady(upstream: Upstream): void {
    const { context, flow } = this.#options;
    if (this.#isReported || flow.destroyed) {
      context.pool.discard(upstream, 'the source has gone');
      return;
    }
    this.#record.circuitMs = performance.now();
    this.#deadlineMs = Infinity;
    this.#upstream = upstream;
    upstream.owner = this;
    this.#begun.resolve(true);
    flow.resume();
  }

  circuitFailed(error: CircuitError): void {
    this.#guarded(() => this.#end(failureOfCircuit(error)));
  }

  upstreamData(datagram: Buffer): void {
    const { flow } = this.#options;
    if (!this.#isProven && this.#sent >= this.#taken) return;
    this.#sent += 1;
    this.#record.bytesOut += datagram.length;
    this.route.slot.traffic.sent(datagram.length);
    if (!flow.write(datagram)) this.#upstream?.pause();
  }

  upstreamEnded(): void {
    this.destroy();
  }

  upstreamDrained(): void {
    this.#options.flow.resume();
  }

  upstreamClosed(error: CircuitError | undefined): void {
    if (error === undefined) this.destroy();
    else this.#end(failureOfCircuit(error));
  }

  upstreamFault(error: unknown): void {
    this.#end({ ...FAILURES.internal, cause: messageOf(error) });
  }

  sweep(): void {
    this.#guarded(() => {
      const { context, find, flow, facts } = this.#options;
      if (flow.destroyed || this.#isReported) return;
      const { nowMs } = context;
      if (nowMs - this.#checkedMs >= CHECK_MS) {
        this.#checkedMs = nowMs;
        const failure = endOfStream(context, find(), this.route, facts);
        if (failure !== undefined) {
          this.#end(failure);
          return;
        }
      }
      if (nowMs >= this.#deadlineMs) this.#end(FAILURES.dialTimeout);
      else if (!this.#isProven) flow.endIfIdle(UNPROVEN_IDLE_MS);
    });
  }

  /** The share was withdrawn. */
  revoke(): void {
    this.#guarded(() => this.#end(FAILURES.revoked));
  }

  destroy(): void {
    this.#options.flow.destroy();
  }

  get #isReported(): boolean {
    return this.#record.doneMs > 0;
  }

  #take(datagram: Uint8Array): void {
    this.#taken += 1;
    if (this.#sent > 0) this.#isProven = true;
    this.#record.bytesIn += datagram.length;
    this.route.slot.traffic.received(datagram.length);
    if (this.#upstream?.circuit.writeMessage(datagram) === false) this.#options.flow.pause();
  }

  #end(failure: Failure): void {
    if (this.#isReported) return;
    const { context, facts } = this.#options;
    const record = this.#record;
    const { traffic } = this.route.slot;
    const wasServed = record.circuitMs > 0;
    record.isBrokenOff = wasServed;
    record.doneMs = performance.now();
    if (wasServed) traffic.unanswered(failure.hop === 'client');
    else traffic.answered(failure.status, record.doneMs - record.startedMs);
    context.counters.failures += 1;
    recordFailure(context.log, failure, { route: this.route, client: facts.address, status: 'broken off' });
    context.observer.failed(record, failure);
    this.#leave(failure.cause);
    this.#begun.resolve(false);
    if (wasServed) this.destroy();
  }

  #onClose(): void {
    this.#leave('the source has left');
    this.#begun.resolve(false);
    if (this.#isReported) return;
    const record = this.#record;
    const { traffic } = this.route.slot;
    const { observer } = this.#options.context;
    record.doneMs = performance.now();
    if (record.circuitMs > 0) {
      traffic.answered(ANSWERED, record.circuitMs - record.startedMs);
      observer.served(record);
    } else {
      traffic.unanswered(true);
      observer.gone(record);
    }
  }

  #leave(reason: string): void {
    const { pool } = this.#options.context;
    pool.cancel(this.route, this);
    const upstream = this.#upstream;
    this.#upstream = undefined;
    if (upstream !== undefined) pool.discard(upstream, reason);
  }

  #guarded(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.upstreamFault(error);
      this.destroy();
    }
  }
}
