/**
 * One client's connection: reads heads, hands one request at a time to an exchange, and enforces the deadlines.
 * Pipelined requests wait, bounded, until the previous response is written. An error ends only this connection.
 */
import { performance } from 'node:perf_hooks';
import { newNumber, type Numbered } from '#base';
import type { AccessAdmission, AccessVerdict } from '../access/access.ts';
import { ClientInput, PAUSED_BY_CIRCUIT, PAUSED_FOR_DECISION, PAUSED_FOR_DIAL } from './client-input.ts';
import { ClientAnswers } from './client-answers.ts';
import type { ClientSocket } from './client-socket.ts';
import type { RefusedHead } from '../answers/cookie-bomb.ts';
import { askedOf, askedUnread, type ErrorAnswer } from '../answers/asked-answer.ts';
import { Exchange } from './exchange.ts';
import type { ExchangeClient } from './exchange-client.ts';
import { FAILURES, type Failure } from '../answers/failure-table.ts';
import type { GatewayContext } from './gateway-context.ts';
import { HeadIntake, unread } from './head-intake.ts';
import { RawRelay } from './raw-relay.ts';
import { RequestHead } from '../http/request-head-policy.ts';
import type { RequestRecord } from './request-record.ts';
import { clientsOf, type RequestClients } from './request-clients.ts';
import { AdmissionWatch, decideRequest } from './request-decision.ts';
import type { ClientFacts } from '../circuits/route-decision.ts';
import { serviceHead } from './service-head.ts';
import { SocketWriter } from './socket-writer.ts';
import { StallWatch } from './stall-watch.ts';
import type { GatewayRoute, Upstream } from '../circuits/upstream.ts';

/** Between requests, or inside a head. */
const HEAD = 0;
/** A whole head arrived, and its admission is being decided. */
const DECIDING = 1;
const BUSY = 2;
const RELAY = 3;
/** The last response is written. Further data of the client is discarded until it closes. */
const LINGER = 4;

export class ClientConnection implements ExchangeClient, Numbered {
  readonly number = newNumber();
  readonly writer: SocketWriter;
  readonly input: ClientInput;
  readonly #context: GatewayContext;
  readonly #socket: ClientSocket;
  readonly #clients: RequestClients;
  readonly #heads: HeadIntake;
  readonly #answers: ClientAnswers;
  readonly #admission: AdmissionWatch;
  #state = HEAD;
  #exchange: Exchange | undefined;
  #relay: RawRelay | undefined;
  /** The record of the request that is being decided or served. */
  #record: RequestRecord | undefined;
  /** What the request asks that is being decided. */
  #asked = askedUnread();
  #deadlineMs: number;
  readonly #stall = new StallWatch();
  #served = 0;
  #halfClosed = false;
  #advancing = false;
  #isCutOff = false;

  constructor(
    context: GatewayContext,
    socket: ClientSocket,
    facts: ClientFacts,
    onClosed: (connection: ClientConnection) => void,
  ) {
    this.#context = context;
    this.#socket = socket;
    this.#deadlineMs = facts.acceptedAtMs + context.limits.headTimeoutMs;
    this.#clients = clientsOf(facts, context.trust);
    this.#heads = new HeadIntake(context, this.#clients, (refused) =>
      this.#guarded(() => this.#refuse(refused)),
    );
    this.input = new ClientInput(socket, context.limits.maxHeldBytes);
    this.writer = new SocketWriter(socket, context.limits.maxUnsentBytes);
    this.#admission = new AdmissionWatch(context);
    this.#answers = new ClientAnswers(context, this.writer, facts.address);
    socket.on('end', () => this.#guarded(() => this.#onEnd()));
    socket.on('drain', () => this.#guarded(() => this.#onDrain()));
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#guarded(() => this.#onClose());
      onClosed(this);
    });
  }

  /** Whether the connection can be closed without losing a response. */
  get isIdle(): boolean {
    return (
      this.#state === LINGER || (this.#state === HEAD && !this.#heads.isPartial && !this.input.holdsMore)
    );
  }

  get route(): GatewayRoute | undefined {
    return this.#record?.route;
  }

  /** Takes the next bytes of the client. */
  take(bytes: Buffer): void {
    try {
      this.#onData(bytes);
    } catch (error) {
      this.#fault(error);
    }
  }

  deadlineIn(ms: number): void {
    const { nowMs, limits } = this.#context;
    this.#deadlineMs = nowMs + (this.#halfClosed ? Math.min(ms, limits.halfClosedTimeoutMs) : ms);
  }

  exchangeDone(keepAlive: boolean): void {
    this.#exchange = undefined;
    this.#record = undefined;
    this.#heads.forget();
    this.#clients.leave();
    this.#served += 1;
    this.input.resume(PAUSED_BY_CIRCUIT | PAUSED_FOR_DIAL);
    if (!keepAlive || (this.#halfClosed && !this.input.holdsMore)) {
      this.#finish();
      return;
    }
    this.#state = HEAD;
    const { idleTimeoutMs, drainIdleMs } = this.#context.limits;
    this.deadlineIn(this.#context.draining ? drainIdleMs : idleTimeoutMs);
    this.#advance();
  }

  exchangeFailed(failure: Failure, asked: ErrorAnswer, error?: unknown): void {
    this.#exchange = undefined;
    this.exchangeDone(this.#answers.failure(this.#record, failure, asked, [], error));
  }

  exchangeBroken(failure: Failure, error?: unknown, ending = ''): void {
    this.#exchange = undefined;
    this.#relay = undefined;
    this.#answers.reportFailure(this.#record, failure, { status: 'broken off' }, error);
    if (ending !== '') {
      this.writer.send(ending);
      this.exchangeDone(false);
    } else if (!this.writer.reset()) this.destroy();
  }

  exchangeUpgraded(upstream: Upstream, rest: Buffer | undefined): void {
    const relay = new RawRelay(this.#context, this, upstream);
    const held = this.input.take();
    this.#exchange = undefined;
    this.#relay = relay;
    this.#state = RELAY;
    this.#context.counters.upgrades += 1;
    this.#socket.setKeepAlive(true, 60_000);
    relay.begin(rest, held, this.#halfClosed);
    this.input.resume(PAUSED_FOR_DIAL);
  }

  /** Called about twice a second. */
  sweep(): void {
    this.#guarded(() => this.#sweep());
  }

  /** The connection's share was withdrawn. */
  revoke(): void {
    this.#guarded(() => (this.#exchange ?? this.#relay)?.end(FAILURES.revoked));
  }

  /**
   * The gateway is closing. A busy connection ends after its response, an idle one soon after, so that a request
   * that was already sent is still answered.
   */
  drain(): void {
    if (this.#state === HEAD && this.isIdle) {
      const endMs = this.#context.nowMs + this.#context.limits.drainIdleMs;
      this.#deadlineMs = Math.min(this.#deadlineMs, endMs);
    }
  }

  /** Closes the connection at once. Pending requests get no response. */
  destroy(): void {
    this.#isCutOff = true;
    this.#socket.destroy();
  }

  #onData(bytes: Buffer): void {
    switch (this.#state) {
      case HEAD:
        if (this.input.holdsMore || this.writer.isFull) this.input.hold(bytes);
        else {
          this.#readHead(bytes);
          this.#advance();
        }
        return;
      case DECIDING:
        this.input.hold(bytes);
        return;
      case BUSY: {
        const exchange = this.#exchange!;
        const rest = exchange.wantsBody ? exchange.clientData(bytes) : bytes;
        if (rest !== undefined && this.#exchange === exchange) this.input.hold(rest);
        return;
      }
      case RELAY:
        this.#relay!.clientData(bytes);
        return;
      default:
        if (!this.input.discard(bytes)) this.destroy();
    }
  }

  /** Serves pending requests in order, as long as the client reads the responses. */
  #advance(): void {
    if (this.#advancing) return;
    this.#advancing = true;
    while (this.#state === HEAD && this.input.holdsMore && !this.writer.isFull) {
      this.#readHead(this.input.take()!);
    }
    this.#advancing = false;
    if (this.#state === HEAD && this.#halfClosed && !this.input.holdsMore) this.#onEnd();
  }

  #readHead(bytes: Buffer): void {
    const heads = this.#heads;
    if (!heads.isPartial && this.#served > 0) this.deadlineIn(this.#context.limits.headTimeoutMs);
    const taken = heads.take(bytes);
    if (taken === false) return;
    if (taken !== true) {
      this.#refuse(taken);
      return;
    }
    const head = this.#context.requestHead;
    this.#context.counters.requests += 1;
    const client = this.#clients.of(head);
    const record = this.#context.records.open(client.facts, head);
    this.#record = record;
    const verdict = client.refusal ?? decideRequest(this.#context, record, head, client.facts);
    if (verdict instanceof Promise)
      this.#await(verdict, head, heads.rest).catch((error: unknown) => this.#fault(error));
    else this.#settle(verdict, head, heads.rest);
  }

  async #await(verdict: Promise<AccessVerdict>, head: RequestHead, rest: Buffer | undefined): Promise<void> {
    const record = this.#record;
    this.#asked = { ...askedOf(head), keepAlive: false };
    // This head is kept, so other connections need a new one to read into.
    if (this.#context.requestHead === head) this.#context.requestHead = new RequestHead();
    this.#state = DECIDING;
    if (rest !== undefined) this.input.hold(rest);
    this.input.pause(PAUSED_FOR_DECISION);
    this.deadlineIn(this.#context.limits.decisionTimeoutMs);
    const decided = await verdict;
    this.#guarded(() => {
      if (this.#state !== DECIDING || this.#record !== record) return;
      this.#state = HEAD;
      this.input.resume(PAUSED_FOR_DECISION);
      this.#settle(decided, head, this.input.take());
      this.#advance();
    });
  }

  #settle(verdict: AccessVerdict, head: RequestHead, rest: Buffer | undefined): void {
    const record = this.#record!;
    record.decision = verdict.decision;
    record.identity = verdict.type === 'answer' ? undefined : verdict.identity;
    record.decidedMs = performance.now();
    if (verdict.type === 'admit') this.#serve(verdict, head, rest);
    else {
      if (rest !== undefined) this.input.hold(rest);
      this.exchangeDone(this.#answers.verdict(record, head, verdict));
    }
  }

  #serve(admission: AccessAdmission, head: RequestHead, rest: Buffer | undefined): void {
    const record = this.#record!;
    record.admission = admission;
    this.#admission.begin();
    this.#context.observer.began(record, head);
    const headText = serviceHead(record, head, this.#clients.lines);
    const exchange = new Exchange(this.#context, this, record, head, headText);
    this.#state = BUSY;
    this.#exchange = exchange;
    if (rest !== undefined) {
      const after = exchange.wantsBody ? exchange.clientData(rest) : rest;
      if (this.#exchange !== exchange) return;
      if (after !== undefined) this.input.hold(after);
    }
    exchange.connect();
  }

  /** Refuses a request that could not be read, or is still being decided. */
  #refuse({ failure, lines, asked }: RefusedHead): void {
    this.exchangeDone(this.#answers.failure(this.#record, failure, asked, lines));
  }

  /** Half-closes and discards further data, so that the client can read the last response (RFC 9112 §9.6). */
  #finish(): void {
    this.#state = LINGER;
    this.input.drop();
    this.deadlineIn(this.#context.limits.lingerMs);
    this.writer.end();
    this.input.resumeAll();
  }

  #onEnd(): void {
    this.#halfClosed = true;
    if (this.#state === RELAY) this.#relay!.clientHalfClosed();
    else if (this.#state === BUSY) {
      if (this.#exchange!.wantsBody) {
        this.#answers.reportEnd(this.#record, 'the client closed before its request was complete');
        this.#socket.destroy();
      } else this.deadlineIn(this.#context.limits.halfClosedTimeoutMs);
    } else if (this.#state === HEAD && !this.input.holdsMore) this.#finish();
  }

  #onDrain(): void {
    (this.#exchange ?? this.#relay)?.clientDrained();
    this.#advance();
  }

  #onClose(): void {
    const current = this.#exchange ?? this.#relay;
    const left = current !== undefined && this.#exchange === undefined ? undefined : this.#record;
    if (this.#exchange !== undefined) {
      this.#answers.reportEnd(this.#record, 'the client disconnected before its response was complete');
    }
    this.#exchange = undefined;
    this.#relay = undefined;
    this.input.drop();
    this.#heads.forget();
    this.#state = LINGER;
    current?.clientGone(!this.#isCutOff);
    if (left !== undefined) this.#answers.reportUnanswered(left);
  }

  #sweep(): void {
    const { nowMs, limits } = this.#context;
    const unsent = this.#socket.writableLength;
    if (this.writer.isFull || (this.#state === LINGER && unsent > 0)) {
      this.#sweepAdmission();
      if (this.#stall.isStalled(nowMs, unsent, limits.stallTimeoutMs)) {
        this.#answers.reportEnd(this.#record, 'the client reads no data');
        this.#socket.destroy();
      }
      if (this.#state === LINGER) this.deadlineIn(limits.lingerMs);
      return;
    }
    this.#stall.reset();
    this.#sweepAdmission();
    this.#sweepDeadline();
  }

  /** Ends a request when it would no longer be admitted. */
  #sweepAdmission(): void {
    const current = this.#exchange ?? this.#relay;
    const failure = current && this.#record && this.#admission.endOf(this.#record);
    if (failure !== undefined) current?.end(failure);
  }

  #sweepDeadline(): void {
    this.#exchange?.sweep();
    if (this.#context.nowMs < this.#deadlineMs || this.#socket.destroyed) return;
    switch (this.#state) {
      case DECIDING:
        this.#state = HEAD;
        this.input.resume(PAUSED_FOR_DECISION);
        this.#refuse({ failure: FAILURES.decisionTimeout, lines: [], asked: this.#asked });
        return;
      case BUSY:
        this.#exchange!.expired();
        return;
      case RELAY:
        // A client that never closes after the service has closed.
        if (this.#relay!.isOver) this.destroy();
        else this.#relay!.expired();
        return;
      case HEAD:
        if (this.#heads.isPartial) this.#refuse(unread(FAILURES.headTimeout));
        else {
          if (this.#served === 0) this.#answers.reportEnd(this.#record, 'no request arrived in time');
          this.destroy();
        }
        return;
      default:
        this.destroy();
    }
  }

  #guarded(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.#fault(error);
    }
  }

  #fault(error: unknown): void {
    this.#advancing = false;
    this.#answers.reportFault(this.#record, error);
    this.destroy();
  }
}
