/**
 * One client's connection to the port of a share: decides about its address, then relays its bytes over a circuit of its own, and
 * asks again while it is open. Nothing of the bytes is read. ADR 0119.
 */
import { performance } from 'node:perf_hooks';
import { newNumber, type Numbered } from '#base';
import type { CircuitClient } from '#domain/agent-shapes';
import type { CircuitError } from '#sdk';
import { callerAddress } from '../access/rate-limits.ts';
import { FAILURES, type Failure } from '../answers/failure-table.ts';
import { failureOfCircuit } from '../circuits/circuit-failure.ts';
import type { ClientFacts } from '../circuits/route-decision.ts';
import type { CircuitWaiter, GatewayHost, GatewayRoute, Upstream } from '../circuits/upstream.ts';
import { ClientAnswers } from '../exchange/client-answers.ts';
import { ClientInput, PAUSED_FOR_DIAL } from '../exchange/client-input.ts';
import type { ClientSocket } from '../exchange/client-socket.ts';
import type { RelayClient } from '../exchange/exchange-client.ts';
import type { GatewayContext } from '../exchange/gateway-context.ts';
import { RawRelay } from '../exchange/raw-relay.ts';
import type { RequestRecord } from '../exchange/request-record.ts';
import { SocketWriter } from '../exchange/socket-writer.ts';
import { circuitWaitMs } from '../limits/gateway-limits.ts';
import { ADMISSION, CHECK_MS, endOfStream, refusalOfStream } from './stream-admission.ts';

const KEEP_ALIVE_MS = 60_000;
/** The class of status as which a connection counts that reached its service. */
const CONNECTED = 200;

export interface StreamConnectionOptions {
  readonly context: GatewayContext;
  readonly socket: ClientSocket;
  readonly facts: ClientFacts;
  /** The share as it is now; undefined if it has gone. */
  readonly find: () => GatewayHost | undefined;
  readonly onClosed: (connection: StreamConnection) => void;
}

export class StreamConnection implements RelayClient, CircuitWaiter, Numbered {
  readonly number = newNumber();
  readonly freshOnly = true;
  readonly party: string;
  readonly sinceMs: number;
  readonly client: CircuitClient;
  readonly route: GatewayRoute;
  readonly writer: SocketWriter;
  readonly input: ClientInput;
  readonly #options: StreamConnectionOptions;
  readonly #record: RequestRecord;
  readonly #answers: ClientAnswers;
  #deadlineMs = Infinity;
  #checkedMs: number;
  #relay: RawRelay | undefined;
  #halfClosed = false;

  /** The socket is paused. */
  constructor(host: GatewayHost, options: StreamConnectionOptions) {
    const { context, socket, facts } = options;
    const { limits, nowMs, records } = context;
    this.#options = options;
    this.route = host.route;
    this.client = facts;
    this.party = callerAddress(facts.address);
    this.sinceMs = nowMs;
    this.#checkedMs = nowMs;
    this.input = new ClientInput(socket, limits.maxHeldBytes);
    this.writer = new SocketWriter(socket, limits.maxUnsentBytes);
    this.#record = records.openPort(facts, host.host, 'tcp');
    this.#record.route = host.route;
    this.#answers = new ClientAnswers(context, this.writer, facts.address);
    socket.on('end', () => this.#guarded(() => this.#onEnd()));
    socket.on('drain', () => this.#guarded(() => this.#relay?.clientDrained()));
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#guarded(() => this.#onClose());
      options.onClosed(this);
    });
  }

  /** `open`: connections of the share that are open already. */
  begin(host: GatewayHost, open: number): void {
    this.#guarded(() => {
      const { context, facts } = this.#options;
      const { pool, limits } = context;
      const failure = refusalOfStream(context, host, facts, open);
      const record = this.#record;
      record.decision = failure?.code ?? (host.isGuarded ? ADMISSION.decision : 'open');
      record.decidedMs = performance.now();
      if (failure !== undefined) {
        this.#fail(failure);
        return;
      }
      record.admission = ADMISSION;
      this.#options.socket.setKeepAlive(true, KEEP_ALIVE_MS);
      this.input.pause(PAUSED_FOR_DIAL);
      this.deadlineIn(circuitWaitMs(limits));
      if (!pool.wait(this.route, this)) this.#fail(FAILURES.tooManyWaiting);
    });
  }

  /** Takes the next bytes of the client. */
  take(bytes: Buffer): void {
    this.#guarded(() => {
      if (this.#relay === undefined) this.input.hold(bytes);
      else this.#relay.clientData(bytes);
    });
  }

  circuitReady(upstream: Upstream): void {
    if (this.#isReported || this.#options.socket.destroyed) {
      this.#options.context.pool.discard(upstream, 'the client has gone');
      return;
    }
    this.#record.circuitMs = performance.now();
    this.#relay = new RawRelay(this.#options.context, this, upstream);
    this.#relay.begin(undefined, this.input.take(), this.#halfClosed);
    this.input.resume(PAUSED_FOR_DIAL);
  }

  circuitFailed(error: CircuitError): void {
    this.#guarded(() => this.#fail(failureOfCircuit(error), error));
  }

  deadlineIn(ms: number): void {
    this.#deadlineMs = this.#options.context.nowMs + ms;
  }

  exchangeBroken(failure: Failure, error?: unknown): void {
    this.#count();
    this.route.slot.traffic.unanswered(failure.hop === 'client');
    this.#answers.reportFailure(this.#record, failure, { status: 'broken off' }, error);
    this.#reset();
  }

  sweep(): void {
    this.#guarded(() => {
      const { context, find, socket } = this.#options;
      if (socket.destroyed || this.#isReported) return;
      const { nowMs } = context;
      if (nowMs - this.#checkedMs >= CHECK_MS) {
        this.#checkedMs = nowMs;
        const failure = endOfStream(context, find(), this.route, this.#options.facts);
        if (failure !== undefined) {
          this.#end(failure);
          return;
        }
      }
      if (nowMs < this.#deadlineMs) return;
      if (this.#relay === undefined) this.#fail(FAILURES.dialTimeout);
      else if (this.#relay.isOver) this.destroy();
      else this.#relay.expired();
    });
  }

  /** The share was withdrawn. */
  revoke(): void {
    this.#guarded(() => this.#end(FAILURES.revoked));
  }

  destroy(): void {
    this.#options.socket.destroy();
  }

  get #isReported(): boolean {
    return this.#record.doneMs > 0;
  }

  /** Ends a connection that was admitted. */
  #end(failure: Failure): void {
    if (this.#relay === undefined) this.#fail(failure);
    else this.#relay.end(failure);
  }

  /** Ends a connection that has no circuit. */
  #fail(failure: Failure, error?: unknown): void {
    if (this.#isReported) return;
    this.#options.context.pool.cancel(this.route, this);
    this.#answers.reportFailure(this.#record, failure, { status: 0 }, error);
    const { startedMs, doneMs } = this.#record;
    this.route.slot.traffic.answered(failure.status, doneMs - startedMs);
    this.#reset();
  }

  #reset(): void {
    if (!this.writer.reset()) this.destroy();
  }

  #onEnd(): void {
    this.#halfClosed = true;
    this.#relay?.clientHalfClosed();
  }

  #onClose(): void {
    const { pool, observer } = this.#options.context;
    const relay = this.#relay;
    const record = this.#record;
    this.input.drop();
    if (this.#isReported) return;
    const { traffic } = this.route.slot;
    if (relay === undefined) {
      pool.cancel(this.route, this);
      traffic.unanswered(true);
      this.#answers.reportUnanswered(record);
      return;
    }
    const isInOrder = relay.isOver;
    relay.clientGone();
    this.#count();
    if (!isInOrder) {
      traffic.unanswered(true);
      this.#answers.reportUnanswered(record);
      return;
    }
    traffic.answered(CONNECTED, record.circuitMs - record.startedMs);
    record.doneMs = performance.now();
    observer.served(record);
  }

  #count(): void {
    this.#record.bytesIn = this.#relay?.bytesIn ?? 0;
    this.#record.bytesOut = this.#relay?.bytesOut ?? 0;
  }

  #guarded(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.#answers.reportFault(this.#record, error);
      this.destroy();
    }
  }
}
