/**
 * One request and its response: gets a circuit, sends the request over it, and re-frames the response for the client.
 * An exchange ends in exactly one way: done; failed, when nothing was sent to the client, which gets a failure page; or
 * broken, when the response had begun and the connection is cut so that it does not look complete. RFC 9112 §6, §9.
 */
import { performance } from 'node:perf_hooks';
import type { CircuitClient } from '#domain/agent-shapes';
import type { CircuitError } from '#sdk';
import { messageOf, newNumber } from '#base';
import { callerAddress } from '../access/rate-limits.ts';
import { BODY_UNTIL_END } from '../http/body-decoder.ts';
import { readAnswerHead } from '../answers/answer-head.ts';
import { askedOf, type ErrorAnswer } from '../answers/asked-answer.ts';
import { failureOfCircuit, failureOfLoss, mayBeRepeated, maySendAgain } from '../circuits/circuit-failure.ts';
import {
  FAILURES,
  failureOfAnswer,
  failureOfRequest,
  failureOfStart,
  type Failure,
} from '../answers/failure-table.ts';
import { AnswerSender, type AnswerOwner } from './answer-sender.ts';
import { answerTimeoutMs } from './answer-time-policy.ts';
import { BodyRate } from './body-rate.ts';
import { PAUSED_BY_CIRCUIT, PAUSED_FOR_DIAL } from './client-input.ts';
import { circuitWaitMs } from '../limits/gateway-limits.ts';
import { checkDelivery } from './delivery.ts';
import type { ExchangeClient } from './exchange-client.ts';
import { reportServed, tapAnswerHead } from './foreign-host-watch.ts';
import { InterimRate } from './interim-rate.ts';
import { encodeClientHead } from '../http/forward-head-codec.ts';
import type { GatewayContext } from './gateway-context.ts';
import type { RequestHead } from '../http/request-head-policy.ts';
import type { RequestRecord } from './request-record.ts';
import { RequestSender } from './request-sender.ts';
import type { ResponseHead } from '../http/response-head-policy.ts';
import type { CircuitWaiter, GatewayRoute, Upstream, UpstreamOwner } from '../circuits/upstream.ts';

const WAITING = 0;
const HEAD = 1;
const BODY = 2;
const ENDING = 3; // The response arrived, and its last bytes are being compressed.
const OVER = 4;

export class Exchange implements CircuitWaiter, UpstreamOwner, AnswerOwner {
  readonly number = newNumber();
  readonly route: GatewayRoute;
  freshOnly = false;
  sinceMs = 0;
  readonly #context: GatewayContext;
  readonly #client: ExchangeClient;
  readonly #sender: RequestSender;
  readonly #record: RequestRecord;
  readonly #asked: ErrorAnswer;
  readonly #upgrade: string;
  readonly #answer: AnswerSender;
  readonly #answerTimeoutMs: number;
  readonly #idleMs: number;
  #keepAlive: boolean;
  /** Whether the client waits for 100 before it sends its body. */
  #expecting: boolean;
  #state = WAITING;
  #upstream: Upstream | undefined;
  #answered = false;
  #interims: InterimRate | undefined;
  #status = 0;
  #reusable = false;
  #keepMs = -1;
  /** Set for a request with a body. */
  readonly #bodyRate: BodyRate | undefined;

  constructor(
    context: GatewayContext,
    client: ExchangeClient,
    record: RequestRecord,
    head: RequestHead,
    headText: string,
  ) {
    this.#context = context;
    this.#client = client;
    this.#record = record;
    this.route = record.route!;
    this.#sender = new RequestSender(head, headText, this.route, record.tap);
    this.#asked = askedOf(head);
    this.#upgrade = head.upgrade;
    this.#answer = new AnswerSender(this, client.writer, record, head);
    const isCall = this.#asked.grpc === 'grpc';
    this.#answerTimeoutMs = answerTimeoutMs(this.route, head, context.limits, isCall);
    this.#idleMs = this.route.idleMs ?? context.limits.streamIdleMs;
    this.#keepAlive = head.keepAlive;
    this.#expecting = head.expectContinue && head.hasBody && !head.http10;
    // The client of a call may be silent between its messages.
    if (this.wantsBody && !isCall)
      this.#bodyRate = new BodyRate(context.slowBodies, this.party, context.nowMs);
  }

  get wantsBody(): boolean {
    return !this.#sender.body.done;
  }

  get client(): CircuitClient {
    return this.#record.client;
  }

  get party(): string {
    return callerAddress(this.#record.client.address);
  }

  /** Gets a circuit and sends what has arrived. */
  connect(): void {
    const { pool, nowMs } = this.#context;
    this.sinceMs = nowMs;
    const idle = pool.take(this.route, this.#sender.isRepeatable);
    if (idle === undefined) this.#wait();
    else this.circuitReady(idle);
  }

  /** What its client sends is left for the circuit. */
  #wait(): void {
    const { pool, limits } = this.#context;
    if (this.wantsBody) this.#client.input.pause(PAUSED_FOR_DIAL);
    this.#client.deadlineIn(circuitWaitMs(limits));
    if (!pool.wait(this.route, this)) this.#fail(FAILURES.tooManyWaiting);
  }

  circuitReady(upstream: Upstream): void {
    if (this.#state !== WAITING) {
      this.#context.pool.release(upstream, -1);
      return;
    }
    this.#state = HEAD;
    this.#record.circuitMs = performance.now();
    this.#upstream = upstream;
    upstream.owner = this;
    this.#bodyRate?.restart(this.#context.nowMs);
    this.#client.deadlineIn(this.#answerTimeoutMs);
    upstream.silentMs(this.#context.nowMs, true);
    this.#sender.attach(upstream);
    // A circuit that breaks at once has ended this exchange already.
    if (this.#upstream !== upstream) return;
    if (this.#sender.isBlocked && this.wantsBody) this.#client.input.pause(PAUSED_BY_CIRCUIT);
    else this.#client.input.resume(PAUSED_BY_CIRCUIT);
    this.#client.input.resume(PAUSED_FOR_DIAL);
  }

  circuitFailed(error: CircuitError): void {
    this.#fail(failureOfCircuit(error), error);
  }

  /** Takes the next bytes of the request's body and returns those that follow it. */
  clientData(bytes: Buffer): Buffer | undefined {
    const rest = this.#sender.take(bytes);
    if (this.#sender.body.malformed) {
      this.end(failureOfRequest('malformed-chunk'));
      return undefined;
    }
    if (this.#state === HEAD) this.#client.deadlineIn(this.#answerTimeoutMs);
    else if (this.#state === BODY) this.#client.deadlineIn(this.#idleMs);
    if (this.#sender.isBlocked && this.wantsBody) this.#client.input.pause(PAUSED_BY_CIRCUIT);
    return rest;
  }

  clientDrained(): void {
    this.#answer.clientDrained();
    this.answerDrained();
  }

  answerDrained(): void {
    if (!this.#answer.isFull) this.#upstream?.resume();
  }

  answerSent(): void {
    if (this.#state !== ENDING) return;
    this.#state = OVER;
    this.#account();
    this.#client.exchangeDone(this.#keepAlive && !this.wantsBody);
  }

  /** The client is gone, because it disconnected or the gateway cut it off. */
  clientGone(byClient: boolean): void {
    this.#release('the client disconnected');
    this.route.slot.traffic.unanswered(byClient);
    this.#reportBytes();
  }

  /** Called when the deadline has passed. */
  expired(): void {
    if (this.#state === WAITING) this.end(FAILURES.dialTimeout);
    else this.end(this.#state === HEAD ? FAILURES.answerTimeout : FAILURES.streamIdle);
  }

  /** Called several times a second: cuts a body whose client is too slow, and looks whether the agent has the request. */
  sweep(): void {
    const { body, isBlocked } = this.#sender;
    const isClientsTurn = this.#state === HEAD && !isBlocked && !this.#expecting && !body.done;
    // The service's time begins with the end of the body.
    if (isClientsTurn) this.#client.deadlineIn(this.#answerTimeoutMs);
    if (this.#bodyRate?.check(this.#context, body.dataBytes, isClientsTurn) === true)
      this.end(FAILURES.bodyTooSlow);
    if (this.#state !== HEAD || this.#answered) return;
    const outcome = checkDelivery(this.#upstream!, this.#context, this.#mayRepeat);
    if (outcome === 'repeat') this.#repeat('the agent acknowledges nothing');
    else if (outcome !== undefined) this.end(failureOfCircuit(outcome), outcome);
  }

  upstreamData(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#client.deadlineIn(this.#idleMs);
    const rest = this.#state === HEAD ? this.#readHeads(bytes) : bytes;
    if (this.#state === BODY) this.#readBody(rest);
  }

  upstreamEnded(): void {
    if (this.#state === BODY && this.#answer.body.end()) this.#finish(false);
    else this.#lost('the service closed the connection before its response was complete');
  }

  upstreamClosed(error: CircuitError | undefined): void {
    this.#lost(error?.message ?? 'the circuit closed before the response was complete', error);
  }

  upstreamDrained(): void {
    this.#sender.isBlocked = false;
    this.#client.input.resume(PAUSED_BY_CIRCUIT);
  }

  upstreamFault(error: unknown): void {
    this.end({ ...FAILURES.internal, cause: messageOf(error) }, error);
  }

  /** Reads interim responses and the final head, and returns the bytes that follow it. */
  #readHeads(bytes: Buffer): Buffer | undefined {
    const { limits, responseHead } = this.#context;
    const { heads } = this.#upstream!;
    let piece: Buffer | undefined = bytes;
    while (piece !== undefined) {
      if (!this.#answered && piece[0] !== 72) {
        this.#fail(failureOfStart(piece[0]!));
        return undefined;
      }
      if (!this.#answered) this.#record.firstByteMs = performance.now();
      this.#answered = true;
      if (!heads.push(piece)) return undefined;
      const failure = readAnswerHead(heads, limits.maxResponseFields, responseHead);
      if (failure !== undefined) {
        this.#fail(failure);
        return undefined;
      }
      piece = heads.rest;
      if (responseHead.status === 101) {
        this.#switchProtocols(responseHead, piece);
        return undefined;
      }
      if (responseHead.status >= 200) {
        this.#beginAnswer(responseHead);
        return piece;
      }
      this.#passInterim(responseHead);
      if (this.#state !== HEAD) return undefined;
    }
    return undefined;
  }

  #passInterim(head: ResponseHead): void {
    const isExpected = head.status === 100 && this.#expecting;
    if (isExpected) this.#expecting = false;
    this.#interims ??= new InterimRate(this.#context);
    this.#interims.pass(head, isExpected, this.#record, this.#client.writer);
    this.#client.deadlineIn(this.#answerTimeoutMs);
  }

  #beginAnswer(head: ResponseHead): void {
    tapAnswerHead(this.#record, head);
    this.#sender.forget();
    this.#answer.open(head);
    // After a refused upgrade, following bytes belong to no protocol that both ends agreed on.
    const isStuck = this.wantsBody || (this.#upgrade !== '' && this.#client.input.holdsMore);
    if (isStuck || this.#context.draining) this.#keepAlive = false;
    this.#status = head.status;
    this.#reusable = head.keepAlive && this.#answer.body.mode !== BODY_UNTIL_END && this.#upgrade === '';
    this.#keepMs = head.keepAliveMs;
    this.#state = BODY;
    this.#answer.sendHead(head, this.#keepAlive);
  }

  #readBody(bytes: Buffer | undefined): void {
    const { body } = this.#answer;
    const used = bytes === undefined ? 0 : this.#answer.take(bytes);
    if (body.malformed) {
      this.#broken(failureOfAnswer('malformed-chunk'));
      return;
    }
    if (body.done) this.#finish(bytes !== undefined && used < bytes.length);
    else this.#answer.written();
    if (this.#state === BODY && this.#answer.isFull) this.#upstream!.pause();
  }

  #switchProtocols(head: ResponseHead, rest: Buffer | undefined): void {
    if (this.#upgrade === '' || head.upgrade.toLowerCase() !== this.#upgrade.toLowerCase()) {
      this.#fail(FAILURES.unaskedSwitch);
      return;
    }
    const upstream = this.#upstream!;
    this.#status = 101;
    this.#state = OVER;
    this.#upstream = undefined;
    const lines = `Connection: Upgrade\r\nUpgrade: ${head.upgrade}\r\n`;
    this.#client.writer.send(encodeClientHead(head, this.#record, lines));
    this.#account();
    this.#client.exchangeUpgraded(upstream, rest);
  }

  #finish(hasExtra: boolean): void {
    const upstream = this.#upstream!;
    const { pool } = this.#context;
    const isClean = !hasExtra && this.#reusable && !this.wantsBody && !this.#sender.isBlocked;
    this.#state = ENDING;
    this.#upstream = undefined;
    if (isClean) pool.release(upstream, this.#keepMs);
    else if (hasExtra || this.wantsBody) pool.discard(upstream, 'not cleanly framed');
    else pool.finish(upstream);
    this.#answer.finish();
  }

  /** The circuit ended too early. A request that crossed with the close, or lost its router, is sent again. */
  #lost(cause: string, error?: CircuitError): void {
    const upstream = this.#upstream!;
    const crossed = this.#state === HEAD && !this.#answered && mayBeRepeated(upstream, error);
    if (crossed && this.#mayRepeat) this.#repeat('closed by the service');
    else this.end(failureOfLoss(cause, error), error);
  }

  get #mayRepeat(): boolean {
    return !this.freshOnly && maySendAgain(this.#sender, this.route, this.#upstream);
  }

  /** Sends the request over another circuit. */
  #repeat(why: string): void {
    const { pool, counters } = this.#context;
    pool.discard(this.#upstream!, why);
    counters.retries += 1;
    this.#upstream = undefined;
    this.#sender.detach();
    this.#state = WAITING;
    this.freshOnly = true;
    this.#wait();
  }

  end(failure: Failure, error?: unknown): void {
    if (this.#state === BODY || this.#state === ENDING) this.#broken(failure, error);
    else this.#fail(failure, error);
  }

  #fail(failure: Failure, error?: unknown): void {
    if (this.#state === OVER) return;
    this.#release(failure.cause);
    this.#count(failure.status);
    const keepAlive = this.#keepAlive && !this.wantsBody && this.#upgrade === '' && failure.hop !== 'client';
    this.#reportBytes();
    const asked = { ...this.#asked, keepAlive };
    this.#client.exchangeFailed(failure, asked, error);
  }

  #broken(failure: Failure, error?: unknown): void {
    this.#release(failure.cause);
    this.route.slot.traffic.unanswered(failure.hop === 'client');
    this.#reportBytes();
    this.#client.exchangeBroken(failure, error, this.#answer.endingOf(failure));
  }

  #release(reason: string): void {
    const { pool } = this.#context;
    if (this.#state === WAITING) pool.cancel(this.route, this);
    this.#state = OVER;
    this.#answer.destroy();
    const upstream = this.#upstream;
    this.#upstream = undefined;
    if (upstream !== undefined) pool.discard(upstream, reason);
  }

  #count(status: number): void {
    const record = this.#record;
    record.doneMs = performance.now();
    this.route.slot.traffic.answered(status, record.doneMs - record.startedMs);
  }

  #account(): void {
    this.#count(this.#status);
    this.#reportBytes();
    reportServed(this.#context.observer, this.#record);
  }

  #reportBytes(): void {
    this.#bodyRate?.end();
    const record = this.#record;
    record.status = this.#status;
    record.bytesIn = this.#sender.body.dataBytes;
    record.bytesOut = this.#answer.body.dataBytes;
  }
}
