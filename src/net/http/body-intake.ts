/**
 * Reads the bodies of requests to our APIs with a size limit, a deadline, a minimum rate, and memory budgets: a
 * small one for unauthenticated peers (counted by address), and a larger one for authenticated ones. One coarse
 * timer enforces all of them. A body that is not read is discarded, and its connection ends soon after.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { addressKey, FrontdoorError, RunningClock } from '#base';
import { BodyBudget, type BodyBounds, type HeldBody } from './body-budget.ts';

export interface BodyAllowance {
  /** The authenticated identity or account. Undefined: the address is counted instead. */
  readonly peer: string | undefined;
  readonly maxBytes: number;
  /** The client's, if a proxy is in between; default: that of the connection. */
  readonly address?: string | undefined;
  /** The caller drops the body at once, so that it counts only until it has been read. */
  readonly isBrief?: boolean | undefined;
}

export interface BodyLimits {
  /** Memory for bodies of unauthenticated peers in bytes; 4 MiB by default. */
  readonly maxUnprovenBytes?: number;
  /** Concurrent bodies of one unauthenticated address; 256 by default. */
  readonly maxUnprovenPerAddress?: number;
  /** Memory for bodies of authenticated peers in bytes; 64 MiB by default, a quarter of it for one peer. */
  readonly maxProvenBytes?: number;
  /** Deadline for the whole body of an unauthenticated peer; 10 s by default. */
  readonly unprovenDeadlineMs?: number;
  /** Deadline for the whole body of an authenticated peer; 30 s by default. */
  readonly provenDeadlineMs?: number;
  /** Time after which the minimum rate applies; 3 s by default. */
  readonly graceMs?: number;
  /** Average since the beginning; 1,024 by default. */
  readonly leastBytesPerSecond?: number;
}

const MIB = 1_048_576;
const TICK_MS = 500;
const FIRST_BYTES = 4_096;
/** Limits for discarding an unread body, so that its sender receives the response before the connection ends. */
const LINGER_MS = 2_000;
const LINGER_BYTES = 4 * MIB;
const RETRY_AFTER_S = 2;
const BODY_REFUSALS: ReadonlySet<number> = new Set([408, 413, 503]);

/** A refused body: 413, 408 or 503. The connection ends after the response. */
export class BodyRefusal extends FrontdoorError {
  readonly retryAfterS: number | undefined;

  constructor(
    kind: 'tooLarge' | 'requestTimeout' | 'unavailable',
    code: string,
    message: string,
    retryAfterS?: number,
  ) {
    super(kind, code, message);
    this.retryAfterS = retryAfterS;
  }
}

interface Class {
  readonly budget: BodyBudget;
  readonly deadlineMs: number;
}

interface Arriving {
  readonly startedMs: number;
  readonly deadlineMs: number;
  received: number;
  fail(refusal: FrontdoorError): void;
}

interface Lingering {
  readonly untilMs: number;
  readonly untilBytes: number;
}

/** Requests whose sender waits for `100 Continue`. */
const waitingForContinue = new WeakSet<IncomingMessage>();

/** Whether the head announces a body. */
export function hasBody(request: IncomingMessage): boolean {
  const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
  return coding !== undefined || (length !== undefined && Number(length) > 0);
}

/** Throws `bodyTooLarge` if the stated length is over the limit. */
export function checkStatedLength(request: IncomingMessage, maxBytes: number): void {
  if (isStatedLarger(request, maxBytes)) throw bodyTooLarge(maxBytes);
}

function isStatedLarger(request: IncomingMessage, maxBytes: number): boolean {
  return Number(request.headers['content-length'] ?? 0) > maxBytes;
}

/** Sends `100 Continue` when the body is read, not before. */
export function continueWhenRead(server: Pick<Server, 'on' | 'emit'>): void {
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    waitingForContinue.add(request);
    server.emit('request', request, response);
  });
}

export class BodyIntake {
  readonly #unproven: Class;
  readonly #proven: Class;
  readonly #graceMs: number;
  readonly #leastBytesPerMs: number;
  readonly #clock = new RunningClock(2 * TICK_MS, () => performance.now());
  readonly #arriving = new Set<Arriving>();
  readonly #lingering = new Map<Socket, Lingering>();
  #timer: NodeJS.Timeout | undefined;

  constructor(limits: BodyLimits = {}) {
    const { maxUnprovenBytes = 4 * MIB, maxProvenBytes = 64 * MIB } = limits;
    const unproven: BodyBounds = {
      maxBytes: maxUnprovenBytes,
      maxBytesPerPeer: maxUnprovenBytes,
      maxBodiesPerPeer: limits.maxUnprovenPerAddress ?? 256,
    };
    const proven: BodyBounds = {
      maxBytes: maxProvenBytes,
      maxBytesPerPeer: Math.floor(maxProvenBytes / 4),
      maxBodiesPerPeer: Infinity,
    };
    this.#unproven = { budget: new BodyBudget(unproven), deadlineMs: limits.unprovenDeadlineMs ?? 10_000 };
    this.#proven = { budget: new BodyBudget(proven), deadlineMs: limits.provenDeadlineMs ?? 30_000 };
    this.#graceMs = limits.graceMs ?? 3_000;
    this.#leastBytesPerMs = (limits.leastBytesPerSecond ?? 1_024) / 1_000;
  }

  /** Bytes of bodies that are in memory now. */
  get heldBytes(): number {
    return this.#unproven.budget.bytes + this.#proven.budget.bytes;
  }

  /**
   * Returns the whole body, empty if there is none. Rejects with a `BodyRefusal`, or with `invalid` if it is
   * incomplete. Its bytes count until the response is done, or, if it is brief, until it is read.
   */
  read(request: IncomingMessage, response: ServerResponse, allowance: BodyAllowance): Promise<Buffer> {
    const { peer, maxBytes, address = request.socket.remoteAddress ?? '', isBrief = false } = allowance;
    if (!hasBody(request)) return Promise.resolve(Buffer.alloc(0));
    if (isStatedLarger(request, maxBytes)) return Promise.reject(bodyTooLarge(maxBytes));
    const { budget, deadlineMs } = peer === undefined ? this.#unproven : this.#proven;
    const peerKey = peer ?? addressKey(address);
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    let kept = Buffer.alloc(0);
    let isArriving = true;
    const settle = (): void => {
      isArriving = false;
      this.#arriving.delete(arriving);
      request.off('data', onData);
      request.off('end', onEnd);
      request.off('error', onBroken);
      request.off('close', onBroken);
    };
    const fail = (refusal: FrontdoorError): void => {
      if (!isArriving) return;
      settle();
      release();
      kept = Buffer.alloc(0);
      request.resume();
      reject(refusal);
    };
    const held: HeldBody = {
      get isArriving() {
        return isArriving;
      },
      evict: () => fail(busy()),
    };
    const release = (): void => budget.release(peerKey, held);
    const arriving: Arriving = { startedMs: this.#clock.nowMs(), deadlineMs, received: 0, fail };
    const onData = (part: Buffer): void => {
      const length = arriving.received + part.length;
      if (length > maxBytes) {
        fail(bodyTooLarge(maxBytes));
        return;
      }
      if (length > kept.length) {
        // One growing buffer, because many tiny parts would each take hundreds of bytes.
        const size = Math.min(maxBytes, Math.max(length, FIRST_BYTES, 2 * kept.length));
        if (!budget.take(peerKey, held, size - kept.length)) {
          fail(busy());
          return;
        }
        const grown = Buffer.allocUnsafeSlow(size);
        kept.copy(grown, 0, 0, arriving.received);
        kept = grown;
      }
      part.copy(kept, arriving.received);
      arriving.received = length;
    };
    const onEnd = (): void => {
      settle();
      if (isBrief) release();
      resolve(kept.subarray(0, arriving.received));
    };
    const onBroken = (): void =>
      fail(new FrontdoorError('invalid', 'invalid-request', 'The body is incomplete'));
    if (!budget.enter(peerKey, held)) return Promise.reject(busy());
    response.once('close', release);
    response.once('finish', release);
    request.on('data', onData);
    request.on('end', onEnd);
    request.on('error', onBroken);
    request.on('close', onBroken);
    if (waitingForContinue.delete(request)) response.writeContinue();
    this.#arriving.add(arriving);
    this.#startTimer();
    return promise;
  }

  /**
   * Call before a response is sent. If the body of its request was not read to the end, and its sender may not
   * continue (it is unauthenticated, its body was refused, or it waits for a `100 Continue` that was never sent),
   * the connection ends after the response. Further data is discarded for a moment, because a sender that is cut
   * off may lose the response.
   */
  endIfUnread(request: IncomingMessage, response: ServerResponse, isProven: boolean): void {
    if (request.complete !== false || !hasBody(request)) return;
    const isBodyRefused = BODY_REFUSALS.has(response.statusCode);
    if (isProven && !isBodyRefused && !waitingForContinue.has(request)) return;
    response.shouldKeepAlive = false;
    const { socket } = request;
    socket.destroySoon = () => {
      socket.end();
      this.#lingering.set(socket, {
        untilMs: this.#clock.nowMs() + LINGER_MS,
        untilBytes: socket.bytesRead + LINGER_BYTES,
      });
      socket.once('close', () => this.#lingering.delete(socket));
      this.#startTimer();
    };
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #startTimer(): void {
    if (this.#timer !== undefined) return;
    this.#clock.nowMs();
    this.#timer = setInterval(() => this.#judge(), TICK_MS);
    this.#timer.unref();
  }

  #judge(): void {
    const nowMs = this.#clock.nowMs();
    for (const body of this.#arriving) {
      const tookMs = nowMs - body.startedMs;
      const isTooSlow = tookMs > this.#graceMs && body.received < tookMs * this.#leastBytesPerMs;
      if (isTooSlow || tookMs > body.deadlineMs) body.fail(tooSlow());
    }
    for (const [socket, { untilMs, untilBytes }] of this.#lingering) {
      if (nowMs > untilMs || socket.bytesRead > untilBytes) socket.destroy();
    }
    if (this.#arriving.size + this.#lingering.size === 0) this.close();
  }
}

function bodyTooLarge(maxBytes: number): BodyRefusal {
  return new BodyRefusal('tooLarge', 'too-large', `The body must not be larger than ${maxBytes} bytes`);
}

function busy(): BodyRefusal {
  const message = 'Too many bodies arrive at one time';
  return new BodyRefusal('unavailable', 'too-many-bodies', message, RETRY_AFTER_S);
}

function tooSlow(): BodyRefusal {
  return new BodyRefusal('requestTimeout', 'body-timeout', 'The request did not arrive in time');
}
