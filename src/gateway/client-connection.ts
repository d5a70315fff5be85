/**
 * One client's connection: reads heads, one request at a time, hands each to an exchange, and keeps the deadlines.
 * Requests that come early wait, bounded, until the answer before them is written. It is its own error domain:
 * whatever goes wrong here ends this connection, with one log record, and nothing else.
 */
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { messageOf } from '#base';
import { encodeErrorAnswer, type ErrorAnswer } from './error-page.ts';
import { Exchange, PAUSED_BY_CIRCUIT, PAUSED_FOR_DIAL, type ExchangeClient } from './exchange.ts';
import { FAILURES, failureOfRequest, type Failure } from './failure-table.ts';
import { recordFailure, recordGone, type Outcome } from './failure-record.ts';
import { IS_TOKEN } from './field-name-table.ts';
import { encodeUpstreamHead } from './forward-head-codec.ts';
import type { GatewayContext } from './gateway-context.ts';
import { HeadBuffer } from './head-buffer.ts';
import { RawRelay } from './raw-relay.ts';
import { readRequestHead, type RequestHead } from './request-head-policy.ts';
import { decideRoute, type ClientFacts } from './route-decision.ts';
import { SocketWriter } from './socket-writer.ts';
import { StallWatch } from './stall-watch.ts';
import type { GatewayRoute, Upstream } from './upstream.ts';

/** Between requests, or inside a head. */
const HEAD = 0;
const BUSY = 1;
const RELAY = 2;
/** The last answer is written; what the client still sends is discarded until it closes. */
const LINGER = 3;

const PAUSED_BY_HELD = 4;
const MAX_LINGER_BYTES = 1_048_576;

export class ClientConnection implements ExchangeClient {
  readonly writer: SocketWriter;
  readonly #context: GatewayContext;
  readonly #socket: Socket;
  readonly #facts: ClientFacts;
  readonly #forwardedLines: string;
  readonly #heads: HeadBuffer;
  #state = HEAD;
  #exchange: Exchange | undefined;
  #relay: RawRelay | undefined;
  /** Bytes that came while a request was being served. */
  #held: Buffer | undefined;
  #pausedBy = 0;
  #deadlineMs: number;
  readonly #stall = new StallWatch();
  #served = 0;
  #halfClosed = false;
  #advancing = false;
  #lingerBytes = 0;
  #isCutOff = false;

  constructor(
    context: GatewayContext,
    socket: Socket,
    facts: ClientFacts,
    onClosed: (connection: ClientConnection) => void,
  ) {
    this.#context = context;
    this.#socket = socket;
    this.#facts = facts;
    this.#deadlineMs = facts.acceptedAtMs + context.limits.headTimeoutMs;
    this.#heads = new HeadBuffer(context.limits.maxHeadBytes, context.limits.maxRequestLineBytes);
    this.#forwardedLines = `X-Forwarded-For: ${facts.address}\r\nX-Forwarded-Proto: ${facts.isSecure ? 'https' : 'http'}\r\n`;
    this.writer = new SocketWriter(socket, context.limits.maxUnsentBytes);
    socket.on('data', (bytes: Buffer) => {
      try {
        this.#onData(bytes);
      } catch (error) {
        this.#fault(error);
      }
    });
    socket.on('end', () => this.#guarded(() => this.#onEnd()));
    socket.on('drain', () => this.#guarded(() => this.#onDrain()));
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#guarded(() => this.#onClose());
      onClosed(this);
    });
  }

  get address(): string {
    return this.#facts.address;
  }

  get holdsMore(): boolean {
    return this.#held !== undefined;
  }

  /** Nothing is in the making: it can be closed without anyone missing an answer. */
  get isIdle(): boolean {
    return (
      this.#state === LINGER || (this.#state === HEAD && !this.#heads.isPartial && this.#held === undefined)
    );
  }

  get route(): GatewayRoute | undefined {
    return this.#exchange?.route ?? this.#relay?.route;
  }

  pauseReading(reason: number): void {
    if (this.#pausedBy === 0) this.#socket.pause();
    this.#pausedBy |= reason;
  }

  resumeReading(reason: number): void {
    if ((this.#pausedBy & reason) === 0) return;
    this.#pausedBy &= ~reason;
    if (this.#pausedBy === 0) this.#socket.resume();
  }

  deadlineIn(ms: number): void {
    const { nowMs, limits } = this.#context;
    this.#deadlineMs = nowMs + (this.#halfClosed ? Math.min(ms, limits.halfClosedTimeoutMs) : ms);
  }

  exchangeDone(keepAlive: boolean): void {
    this.#exchange = undefined;
    this.#served += 1;
    this.resumeReading(PAUSED_BY_CIRCUIT | PAUSED_FOR_DIAL);
    if (!keepAlive || (this.#halfClosed && this.#held === undefined)) {
      this.#finish();
      return;
    }
    this.#state = HEAD;
    this.deadlineIn(this.#context.limits.idleTimeoutMs);
    this.#advance();
  }

  exchangeFailed(failure: Failure, route: GatewayRoute, asked: ErrorAnswer, error?: unknown): void {
    this.#exchange = undefined;
    this.#answer(failure, route, asked, error);
  }

  exchangeBroken(failure: Failure, route: GatewayRoute, error?: unknown): void {
    this.#exchange = undefined;
    this.#relay = undefined;
    this.#record(failure, route, { status: 'broken off' }, error);
    // A reset, so that an answer that ends with its connection does not look complete either.
    // (A reset during a shutdown is refused by the platform and would leave the socket open.)
    if (this.#facts.isSecure || this.#socket.writableEnded) this.destroy();
    else this.#socket.resetAndDestroy();
  }

  exchangeUpgraded(upstream: Upstream, rest: Buffer | undefined): void {
    const relay = new RawRelay(this.#context, this, upstream);
    const held = this.#held;
    this.#exchange = undefined;
    this.#held = undefined;
    this.#relay = relay;
    this.#state = RELAY;
    this.#context.counters.upgrades += 1;
    this.#socket.setKeepAlive(true, 60_000);
    this.deadlineIn(this.#context.limits.streamIdleMs);
    if (rest !== undefined) relay.upstreamData(rest);
    if (held !== undefined) relay.clientData(held);
    this.resumeReading(PAUSED_BY_HELD | PAUSED_FOR_DIAL);
    if (this.#halfClosed) relay.clientHalfClosed();
    if (upstream.closed) relay.upstreamClosed(undefined);
    else if (upstream.ended) relay.upstreamEnded();
  }

  /** Called about twice a second. */
  sweep(): void {
    this.#guarded(() => this.#sweep());
  }

  /** Its share was withdrawn. */
  revoke(): void {
    this.#guarded(() => (this.#exchange ?? this.#relay)?.revoked());
  }

  /** The gateway is closing: an idle connection ends now, a busy one after its answer. */
  drain(): void {
    if (this.isIdle) this.#finish();
  }

  /** Cuts it off: what is in the making gets no answer. */
  destroy(): void {
    this.#isCutOff = true;
    this.#socket.destroy();
  }

  #onData(bytes: Buffer): void {
    switch (this.#state) {
      case HEAD:
        if (this.#held !== undefined || this.writer.isFull) this.#hold(bytes);
        else {
          this.#readHead(bytes);
          this.#advance();
        }
        return;
      case BUSY: {
        const exchange = this.#exchange!;
        const rest = exchange.wantsBody ? exchange.clientData(bytes) : bytes;
        if (rest !== undefined && this.#exchange === exchange) this.#hold(rest);
        return;
      }
      case RELAY:
        this.#relay!.clientData(bytes);
        return;
      default:
        this.#lingerBytes += bytes.length;
        if (this.#lingerBytes > MAX_LINGER_BYTES) this.destroy();
    }
  }

  #hold(bytes: Buffer): void {
    this.#held = this.#held === undefined ? bytes : Buffer.concat([this.#held, bytes]);
    if (this.#held.length > this.#context.limits.maxHeadBytes) this.pauseReading(PAUSED_BY_HELD);
  }

  /** Serves the requests that wait, one after the other, while the client takes their answers. */
  #advance(): void {
    if (this.#advancing) return;
    this.#advancing = true;
    while (this.#state === HEAD && this.#held !== undefined && !this.writer.isFull) {
      const bytes = this.#held;
      this.#held = undefined;
      this.resumeReading(PAUSED_BY_HELD);
      this.#readHead(bytes);
    }
    this.#advancing = false;
    if (this.#state === HEAD && this.#halfClosed && this.#held === undefined) this.#onEnd();
  }

  #readHead(bytes: Buffer): void {
    const heads = this.#heads;
    if (!heads.isPartial) {
      if (IS_TOKEN[bytes[0]!] === 0) {
        this.#refuse(failureOfRequest('malformed-request-line'));
        return;
      }
      if (this.#served > 0) this.deadlineIn(this.#context.limits.headTimeoutMs);
    }
    if (!heads.push(bytes)) return;
    const head = this.#context.requestHead;
    const refusal = heads.refusal ?? readRequestHead(heads.text, this.#context.limits.maxFields, head);
    if (refusal !== undefined) {
      this.#refuse(failureOfRequest(refusal));
      return;
    }
    this.#context.counters.requests += 1;
    const { route, failure } = decideRoute(this.#context.table, head.host, this.#facts);
    if (failure === undefined) this.#serve(route, head, heads.rest);
    else this.#turnAway(failure, route, head, heads.rest);
  }

  #serve(route: GatewayRoute, head: RequestHead, rest: Buffer | undefined): void {
    const exchange = new Exchange(
      this.#context,
      this,
      route,
      head,
      encodeUpstreamHead(head, this.#forwardedLines),
    );
    this.#state = BUSY;
    this.#exchange = exchange;
    if (rest !== undefined) {
      const after = exchange.wantsBody ? exchange.clientData(rest) : rest;
      if (this.#exchange !== exchange) return;
      if (after !== undefined) this.#hold(after);
    }
    exchange.connect();
  }

  #turnAway(
    failure: Failure,
    route: GatewayRoute | undefined,
    head: RequestHead,
    rest: Buffer | undefined,
  ): void {
    if (rest !== undefined) this.#hold(rest);
    // A request on another share's connection is nobody's traffic.
    if (failure !== FAILURES.misdirected) route?.slot.traffic.answered(failure.status, 0);
    const keepAlive = head.keepAlive && !head.hasBody && head.upgrade === '' && failure.status !== 421;
    this.#answer(failure, route, { accept: head.accept, isHead: head.method === 'HEAD', keepAlive });
  }

  #refuse(failure: Failure): void {
    this.#answer(failure, undefined, { accept: '', isHead: false, keepAlive: false });
  }

  #answer(failure: Failure, route: GatewayRoute | undefined, asked: ErrorAnswer, error?: unknown): void {
    const errorId = randomUUID();
    const keepAlive = asked.keepAlive && !this.#context.draining;
    this.#record(failure, route, { status: failure.status, errorId }, error);
    this.writer.batch.view(encodeErrorAnswer(failure, errorId, { ...asked, keepAlive }));
    this.writer.written();
    this.exchangeDone(keepAlive);
  }

  /** Half-closes, and discards what the client still sends, so that it can read the last answer (RFC 9112 §9.6). */
  #finish(): void {
    this.#state = LINGER;
    this.#held = undefined;
    this.deadlineIn(this.#context.limits.lingerMs);
    this.writer.end();
    this.resumeReading(this.#pausedBy);
  }

  #onEnd(): void {
    this.#halfClosed = true;
    if (this.#state === RELAY) this.#relay!.clientHalfClosed();
    else if (this.#state === BUSY) {
      if (this.#exchange!.wantsBody) {
        this.#recordGone('the client closed before its request was complete');
        this.#socket.destroy();
      } else this.deadlineIn(this.#context.limits.halfClosedTimeoutMs);
    } else if (this.#state === HEAD && this.#held === undefined) this.#finish();
  }

  #onDrain(): void {
    (this.#exchange ?? this.#relay)?.clientDrained();
    this.#advance();
  }

  #onClose(): void {
    const current = this.#exchange ?? this.#relay;
    if (this.#exchange !== undefined) {
      this.#recordGone('the client went away before its answer was complete');
    }
    this.#exchange = undefined;
    this.#relay = undefined;
    this.#held = undefined;
    this.#state = LINGER;
    current?.clientGone(!this.#isCutOff);
  }

  #sweep(): void {
    const { nowMs, limits } = this.#context;
    const unsent = this.#socket.writableLength;
    if (this.writer.isFull || (this.#state === LINGER && unsent > 0)) {
      if (this.#stall.isStalled(nowMs, unsent, limits.stallTimeoutMs)) {
        this.#recordGone('the client takes no bytes');
        this.#socket.destroy();
      }
      if (this.#state === LINGER) this.deadlineIn(limits.lingerMs);
      return;
    }
    this.#stall.reset();
    this.#sweepDeadline();
  }

  #sweepDeadline(): void {
    this.#exchange?.checkBodyRate();
    if (this.#context.nowMs < this.#deadlineMs || this.#socket.destroyed) return;
    switch (this.#state) {
      case BUSY:
        this.#exchange!.expired();
        return;
      case RELAY:
        this.#relay!.expired();
        return;
      case HEAD:
        if (this.#heads.isPartial) this.#refuse(FAILURES.headTimeout);
        else {
          if (this.#served === 0) this.#recordGone('no request came in time');
          this.destroy();
        }
        return;
      default:
        this.destroy();
    }
  }

  #recordGone(cause: string): void {
    recordGone(this.#context.log, cause, this.route, this.address);
  }

  #record(failure: Failure, route: GatewayRoute | undefined, outcome: Outcome, error?: unknown): void {
    this.#context.counters.failures += 1;
    recordFailure(this.#context.log, failure, { route, client: this.address, ...outcome }, error);
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
    this.#record(
      { ...FAILURES.internal, cause: messageOf(error) },
      this.route,
      { status: 'broken off' },
      error,
    );
    this.destroy();
  }
}
