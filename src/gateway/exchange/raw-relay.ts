/**
 * Relays bytes in both directions after a 101 response, or at the port of a share. Each direction can end by itself (half-close). The
 * circuit never returns to the pool. A break on one side breaks the other, so that the client never takes it for
 * a regular end.
 */
import type { CircuitError } from '#sdk';
import { messageOf } from '#base';
import { PAUSED_BY_CIRCUIT } from './client-input.ts';
import type { RelayClient } from './exchange-client.ts';
import { failureOfCircuit } from '../circuits/circuit-failure.ts';
import { FAILURES, serviceFailure, type Failure } from '../answers/failure-table.ts';
import type { GatewayContext } from './gateway-context.ts';
import type { Upstream, UpstreamOwner } from '../circuits/upstream.ts';

export class RawRelay implements UpstreamOwner {
  readonly #context: GatewayContext;
  readonly #client: RelayClient;
  readonly #upstream: Upstream;
  bytesIn = 0;
  bytesOut = 0;
  #clientEnded = false;
  #over = false;

  constructor(context: GatewayContext, client: RelayClient, upstream: Upstream) {
    this.#context = context;
    this.#client = client;
    this.#upstream = upstream;
    upstream.owner = this;
  }

  /** Whether the circuit is no longer used, in order or not. */
  get isOver(): boolean {
    return this.#over;
  }

  get route(): Upstream['route'] {
    return this.#upstream.route;
  }

  /** The arguments are bytes that arrived from either side during the upgrade. */
  begin(fromUpstream: Buffer | undefined, fromClient: Buffer | undefined, isClientHalfClosed: boolean): void {
    this.#progress();
    if (fromUpstream !== undefined) this.upstreamData(fromUpstream);
    if (fromClient !== undefined) this.clientData(fromClient);
    if (isClientHalfClosed) this.clientHalfClosed();
    if (this.#upstream.closed) this.upstreamClosed(undefined);
    else if (this.#upstream.ended) this.upstreamEnded();
  }

  clientData(bytes: Buffer): void {
    if (this.#over) return;
    this.#progress();
    this.bytesIn += bytes.length;
    this.route.slot.traffic.received(bytes.length);
    if (!this.#upstream.circuit.write(bytes)) this.#client.input.pause(PAUSED_BY_CIRCUIT);
  }

  clientDrained(): void {
    if (!this.#over) this.#upstream.resume();
  }

  clientHalfClosed(): void {
    if (this.#over || this.#clientEnded) return;
    this.#clientEnded = true;
    this.#upstream.circuit.end();
    this.#settle();
  }

  clientGone(): void {
    this.#release('the client disconnected');
  }

  expired(): void {
    this.#broken(FAILURES.streamIdle);
  }

  /** Ends the relay, because its admission no longer holds. */
  end(failure: Failure): void {
    this.#broken(failure);
  }

  upstreamData(bytes: Buffer): void {
    this.#progress();
    this.bytesOut += bytes.length;
    this.route.slot.traffic.sent(bytes.length);
    const { writer } = this.#client;
    writer.batch.view(bytes);
    writer.written();
    if (writer.isFull) this.#upstream.pause();
  }

  upstreamEnded(): void {
    this.#client.writer.end();
    this.#settle();
  }

  upstreamClosed(error: CircuitError | undefined): void {
    if (this.#over) return;
    if (error !== undefined) this.#broken(failureOfCircuit(error), error);
    else if (this.#upstream.ended) {
      this.#client.writer.end();
      this.#release('closed');
    } else this.#broken(serviceFailure(502, 'circuit-closed', 'the circuit closed without an end'));
  }

  upstreamDrained(): void {
    this.#client.input.resume(PAUSED_BY_CIRCUIT);
  }

  upstreamFault(error: unknown): void {
    this.#broken({ ...FAILURES.internal, cause: messageOf(error) }, error);
  }

  #progress(): void {
    const { limits } = this.#context;
    const isHalf = this.#clientEnded || this.#upstream.ended;
    this.#client.deadlineIn(isHalf ? limits.halfClosedTimeoutMs : (this.route.idleMs ?? limits.streamIdleMs));
  }

  /** Closes the circuit when both directions have ended. */
  #settle(): void {
    if (this.#clientEnded && this.#upstream.ended) this.#release('both ends closed');
    else this.#progress();
  }

  #broken(failure: Failure, error?: unknown): void {
    if (this.#over) return;
    this.#release(failure.cause);
    this.#client.exchangeBroken(failure, error);
  }

  #release(reason: string): void {
    if (this.#over) return;
    this.#over = true;
    this.#context.pool.discard(this.#upstream, reason);
  }
}
