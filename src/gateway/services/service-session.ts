/**
 * An HTTP/2 connection to the service of a share, over one circuit: many requests at once, each as a stream. It is also the
 * request that waits for the circuit, which is dialed like any other. ADR 0121.
 */
import { connect, constants, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import { messageOf, newNumber } from '#base';
import type { CircuitClient } from '#domain/agent-shapes';
import { CircuitError } from '#sdk';
import type { CircuitPool } from '../circuits/circuit-pool.ts';
import type { CircuitWaiter, GatewayRoute, Upstream, UpstreamOwner } from '../circuits/upstream.ts';
import type { GatewayLimits } from '../limits/gateway-limits.ts';
import { CircuitDuplex } from './circuit-duplex.ts';
import type { EndedStream, StreamHost } from './service-stream.ts';

/** Streams of one session at a time. A service may allow fewer. */
const MAX_STREAMS = 256;
/** What a service may send before the client of a stream takes it, and for all streams together on their way. */
const STREAM_WINDOW_BYTES = 262_144;
const SESSION_WINDOW_BYTES = 1_048_576;
/** Besides the headers: `:status`. */
const PSEUDO_HEADERS = 1;
/** Memory that Node takes for one session, in megabytes: what waits for the service, and headers. */
const MAX_MEMORY_MB = 32;
const REFUSED_STREAM = constants.NGHTTP2_REFUSED_STREAM;
/** The first bytes of the other protocols that a service may speak: `HTTP/1.1 400`, and an alert of TLS. */
const HTTP1 = 72;
const TLS_ALERT = 0x15;

export interface SessionParts {
  readonly pool: CircuitPool;
  readonly limits: GatewayLimits;
  readonly nowMs: () => number;
}

export interface ServiceSessionOwner {
  /** The session takes requests now. */
  sessionOpened(session: Http2ServiceSession): void;
  /** A stream ended, so that there may be room for another. */
  sessionFreed(session: Http2ServiceSession): void;
  /** The last call. `failure` is set if the session never took requests. */
  sessionOver(session: Http2ServiceSession, failure: CircuitError | undefined): void;
}

export class Http2ServiceSession implements CircuitWaiter, UpstreamOwner, StreamHost {
  readonly number = newNumber();
  readonly route: GatewayRoute;
  readonly client: CircuitClient | undefined;
  readonly party: string;
  readonly freshOnly = true;
  readonly sinceMs: number;
  /** The request that has the session for itself, because its circuit names its client. */
  readonly only: CircuitWaiter | undefined;
  /** How many streams it has carried. */
  uses = 0;
  streams = 0;
  /** When it last had a stream. */
  busyMs: number;
  isLeaving = false;
  readonly #parts: SessionParts;
  readonly #owner: ServiceSessionOwner;
  #upstream: Upstream | undefined;
  #duplex: CircuitDuplex | undefined;
  #session: ClientHttp2Session | undefined;
  #openedMs = 0;
  #hasData = false;
  #isOpen = false;
  #isOver = false;
  #failure: CircuitError | undefined;
  #timer: NodeJS.Timeout | undefined;
  #maxStreams = 0;
  /** The service has begun with no stream beyond. */
  #lastId = Infinity;

  constructor(parts: SessionParts, route: GatewayRoute, owner: ServiceSessionOwner, only?: CircuitWaiter) {
    this.#parts = parts;
    this.route = route;
    this.#owner = owner;
    this.only = only;
    this.client = only?.client;
    this.party = only?.party ?? '';
    this.sinceMs = parts.nowMs();
    this.busyMs = this.sinceMs;
  }

  /** Gets a circuit. Returns false if too many wait for one. */
  start(): boolean {
    return this.#parts.pool.wait(this.route, this);
  }

  get hasRoom(): boolean {
    return this.#isOpen && !this.isLeaving && !this.#isOver && this.streams < this.#maxStreams;
  }

  /** Whether the service has spoken HTTP/2. */
  get wasOpened(): boolean {
    return this.#isOpen;
  }

  /** Whether another one should replace it. */
  isOld(nowMs: number): boolean {
    const isAged = nowMs - this.#openedMs >= this.#parts.limits.circuitAgeMs;
    return isAged || this.#upstream?.circuit.isLeaving === true;
  }

  get id(): string {
    return this.#upstream?.circuit.id ?? '';
  }

  get heard(): number | undefined {
    return this.#upstream?.circuit.heard;
  }

  get scheme(): 'http' | 'https' {
    return this.route.http2 ?? 'http';
  }

  get acceptsTunnels(): boolean {
    return this.#session?.remoteSettings.enableConnectProtocol === true;
  }

  request(headers: string[], options: { endStream: boolean; waitForTrailers: boolean }): ClientHttp2Stream {
    return this.#session!.request(headers, options);
  }

  failureOf({ code, id, cause }: EndedStream): {
    readonly error: CircuitError;
    readonly isUnprocessed: boolean;
  } {
    // One without an id was not sent.
    const isUnprocessed = code === REFUSED_STREAM || id === undefined || id > this.#lastId;
    if (this.#failure !== undefined) return { error: this.#failure, isUnprocessed };
    // Streams of a session that broke a rule end before the session reports why.
    if (this.#session?.destroyed === true) return { error: closedBy(cause), isUnprocessed };
    const why = `the service ended the HTTP/2 stream before its response was complete (${nameOf(code)})`;
    return { error: new CircuitError('circuit-closed', 'service', why), isUnprocessed };
  }

  /** Must be called before a stream is made of the session. */
  reserve(): void {
    this.streams += 1;
    this.uses += 1;
  }

  streamOver(): void {
    this.streams -= 1;
    this.busyMs = this.#parts.nowMs();
    if (this.isLeaving && this.streams === 0) this.#end();
    if (!this.#isOver) this.#owner.sessionFreed(this);
  }

  /** Stops accepting requests, and ends with the last of its streams. */
  leave(): void {
    if (this.isLeaving) return;
    this.isLeaving = true;
    if (this.streams === 0) this.#end();
  }

  /** Ends at once, with all streams. */
  destroy(reason: string): void {
    this.#fail(new CircuitError('circuit-closed', 'gateway', reason));
  }

  circuitReady(upstream: Upstream): void {
    const { pool, limits, nowMs } = this.#parts;
    if (this.#isOver) {
      pool.release(upstream, -1);
      return;
    }
    this.#upstream = upstream;
    this.#openedMs = nowMs();
    upstream.owner = this;
    const duplex = new CircuitDuplex(upstream);
    this.#duplex = duplex;
    const session = connect('http://service', sessionOptions(duplex, limits));
    this.#session = session;
    session.once('connect', () => session.setLocalWindowSize(SESSION_WINDOW_BYTES));
    session.on('remoteSettings', ({ maxConcurrentStreams = MAX_STREAMS }) =>
      this.#onSettings(maxConcurrentStreams),
    );
    session.on('goaway', (code, lastId) => this.#onGoaway(code, lastId));
    session.on('error', (error) => this.#fail(closedBy(messageOf(error))));
    session.once('close', () => this.#fail(closedBy('the connection ended')));
    this.#timer = setTimeout(() => this.#fail(NO_SETTINGS), limits.dialTimeoutMs);
  }

  circuitFailed(error: CircuitError): void {
    this.#fail(error);
  }

  upstreamData(bytes: Buffer): void {
    const first = this.#hasData ? undefined : bytes[0];
    this.#hasData ||= bytes.length > 0;
    if (first === HTTP1 || first === TLS_ALERT) this.#fail(otherProtocol(first));
    else this.#duplex?.receive(bytes);
  }

  upstreamEnded(): void {
    if (!this.#isOpen) this.#fail(NOT_HTTP2);
    else this.#duplex?.receiveEnd();
  }

  upstreamDrained(): void {
    this.#duplex?.drained();
  }

  upstreamClosed(error: CircuitError | undefined): void {
    this.#fail(error ?? (this.#isOpen ? closedBy('the connection ended') : NOT_HTTP2));
  }

  upstreamFault(error: unknown): void {
    this.#fail(new CircuitError('circuit-closed', 'gateway', messageOf(error), { cause: error }));
  }

  #onSettings(maxConcurrentStreams: number): void {
    this.#maxStreams = Math.min(maxConcurrentStreams, MAX_STREAMS);
    if (this.#isOver) return;
    if (this.#isOpen) {
      this.#owner.sessionFreed(this);
      return;
    }
    clearTimeout(this.#timer);
    this.#isOpen = true;
    this.#owner.sessionOpened(this);
  }

  /** Streams that the service has not seen end with REFUSED_STREAM; with NO_ERROR, all others continue. */
  #onGoaway(code: number, lastId: number): void {
    this.isLeaving = true;
    this.#lastId = lastId;
    if (code !== constants.NGHTTP2_NO_ERROR) this.#failure = closedBy(nameOf(code));
    else if (this.streams === 0) this.#end();
  }

  #end(): void {
    if (this.#isOver) return;
    this.#leave(undefined);
    const upstream = this.#upstream;
    this.#session?.close();
    // GOAWAY is sent first.
    if (upstream !== undefined) setImmediate(() => this.#parts.pool.finish(upstream));
  }

  #fail(failure: CircuitError): void {
    if (this.#isOver) return;
    this.#failure ??= failure;
    this.#leave(this.#isOpen ? undefined : this.#failure);
    // Streams ask for the failure when they end.
    this.#session?.destroy(new Error(failure.message));
    this.#duplex?.destroy();
    const upstream = this.#upstream;
    if (upstream !== undefined) this.#parts.pool.discard(upstream, failure.message);
  }

  #leave(failure: CircuitError | undefined): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    if (this.#upstream === undefined) this.#parts.pool.cancel(this.route, this);
    this.#owner.sessionOver(this, failure);
  }
}

function sessionOptions(duplex: CircuitDuplex, limits: GatewayLimits) {
  return {
    createConnection: () => duplex,
    maxHeaderListPairs: limits.maxResponseFields + PSEUDO_HEADERS,
    maxSessionMemory: MAX_MEMORY_MB,
    maxSessionInvalidFrames: 100,
    maxSettings: 32,
    maxReservedRemoteStreams: 0,
    strictSingleValueFields: false,
    settings: {
      enablePush: false,
      initialWindowSize: STREAM_WINDOW_BYTES,
      maxHeaderListSize: limits.maxResponseHeadBytes,
    },
  };
}

const NO_HTTP2_REMEDY = 'if it speaks HTTP/1.1, the target of the share must start with http:// or https://';
const NOT_HTTP2 = new CircuitError(
  'service-refused',
  'service',
  `the service closed the connection instead of speaking HTTP/2; ${NO_HTTP2_REMEDY}`,
);
const NO_SETTINGS = new CircuitError(
  'service-timeout',
  'service',
  `the service accepted the connection and did not speak HTTP/2; ${NO_HTTP2_REMEDY}`,
);

function otherProtocol(first: number): CircuitError {
  const cause =
    first === TLS_ALERT
      ? 'the service responded with TLS, so the target of the share must start with h2:// or grpcs://'
      : 'the service speaks HTTP/1.1, so the target of the share must start with http://';
  return new CircuitError('service-refused', 'service', cause);
}

function closedBy(why: string): CircuitError {
  return new CircuitError('circuit-closed', 'service', `the HTTP/2 connection to the service ended: ${why}`);
}

/** RFC 9113 §7, by code. */
const NAMES = [
  ...['NO_ERROR', 'PROTOCOL_ERROR', 'INTERNAL_ERROR', 'FLOW_CONTROL_ERROR', 'SETTINGS_TIMEOUT'],
  ...['STREAM_CLOSED', 'FRAME_SIZE_ERROR', 'REFUSED_STREAM', 'CANCEL', 'COMPRESSION_ERROR'],
  ...['CONNECT_ERROR', 'ENHANCE_YOUR_CALM', 'INADEQUATE_SECURITY', 'HTTP_1_1_REQUIRED'],
];

function nameOf(code: number): string {
  return NAMES[code] ?? `code ${code}`;
}
