/**
 * HTTP/2 connections of clients. Each of their streams is a client's connection of its own (`stream-socket.ts`), and counts as one
 * towards the limits of connections, so that one connection cannot hold more of the gateway than many. What a session itself can
 * be made to hold is limited here: streams, headers, resets, pings and settings.
 */
import { randomBytes } from 'node:crypto';
import { performServerHandshake, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { messageOf, type Log } from '#base';
import { failAlone } from '#net';
import type { ClientFacts } from '../circuits/route-decision.ts';
import type { ClientConnection } from '../exchange/client-connection.ts';
import type { ConnectionAdmission } from '../exchange/connection-admission.ts';
import type { GatewayLimits } from '../limits/gateway-limits.ts';
import { readStreamRequest } from './stream-head-codec.ts';
import { StreamSocket } from './stream-socket.ts';

/** Streams of one connection at a time. */
const MAX_STREAMS = 128;
/** What a stream may send before its share takes it. */
const WINDOW_BYTES = 65_535;
/** More than a head may have: a browser whose cookies are too large has to get the page that clears them. */
const MAX_HEADERS_BYTES = 262_144;
/** Besides the headers: the names and values of `:method`, `:path` and so on. */
const PSEUDO_HEADERS = 8;
const END_STREAM = 1;

export interface Http2Options {
  readonly limits: GatewayLimits;
  readonly admission: ConnectionAdmission;
  readonly log: Log;
  readonly nowMs: () => number;
  /** Opens the connection of a stream. */
  readonly open: (socket: StreamSocket, facts: ClientFacts) => ClientConnection;
}

interface Session {
  readonly session: ServerHttp2Session;
  readonly socket: Socket;
  readonly facts: ClientFacts;
  streams: number;
  /** When it ends, while it has no stream. */
  deadlineMs: number;
}

export class Http2Sessions {
  readonly #options: Http2Options;
  readonly #sessions = new Set<Session>();
  #isDraining = false;

  constructor(options: Http2Options) {
    this.#options = options;
  }

  get size(): number {
    return this.#sessions.size;
  }

  accept(socket: Socket, facts: ClientFacts): void {
    const { limits, log } = this.#options;
    // Nobody half-closes HTTP/2: the end of the socket is the end of all its streams.
    socket.allowHalfOpen = false;
    socket.once('end', () => socket.destroy());
    const session = performServerHandshake(socket, {
      maxSessionInvalidFrames: 100,
      maxSessionRejectedStreams: 100,
      maxHeaderListPairs: limits.maxFields + PSEUDO_HEADERS,
      maxOutstandingPings: 10,
      maxSettings: 32,
      settings: {
        enableConnectProtocol: true,
        enablePush: false,
        initialWindowSize: WINDOW_BYTES,
        maxConcurrentStreams: MAX_STREAMS,
        maxHeaderListSize: MAX_HEADERS_BYTES,
      },
    });
    const entry: Session = {
      session,
      socket,
      facts,
      streams: 0,
      deadlineMs: facts.acceptedAtMs + (this.#isDraining ? limits.drainIdleMs : limits.headTimeoutMs),
    };
    this.#sessions.add(entry);
    session.on('stream', (stream, _, flags, raw) => {
      try {
        this.#onStream(entry, stream, flags, raw);
      } catch (error) {
        this.#fault(facts, error);
        stream.destroy();
      }
    });
    session.on('error', (error) => {
      log.info({ hop: 'client', client: facts.address, cause: messageOf(error) }, 'HTTP/2 connection failed');
    });
    session.once('close', () => {
      this.#sessions.delete(entry);
      socket.destroy();
    });
    if (this.#isDraining) session.close();
  }

  /** Ends sessions that have had no stream for too long. Called about four times a second. */
  sweep(): void {
    const nowMs = this.#options.nowMs();
    for (const { session, socket, streams, deadlineMs } of this.#sessions) {
      if (streams > 0 || nowMs < deadlineMs) continue;
      // A closed session waits until its client closes the connection, even when it is destroyed.
      if (session.closed) socket.destroy();
      else session.close();
    }
  }

  /** Running streams continue, and clients begin new ones elsewhere (GOAWAY). */
  drain(): void {
    this.#isDraining = true;
    const { limits, nowMs } = this.#options;
    for (const entry of this.#sessions) {
      entry.deadlineMs = Math.min(entry.deadlineMs, nowMs() + limits.drainIdleMs);
      entry.session.close();
    }
  }

  destroy(): void {
    for (const { session, socket } of this.#sessions) {
      session.destroy();
      socket.destroy();
    }
  }

  #onStream(entry: Session, stream: ServerHttp2Stream, flags: number, raw: readonly string[]): void {
    const { admission, limits, nowMs, open } = this.#options;
    const { facts } = entry;
    const counted = facts.isTrustedProxy ? undefined : facts.address;
    const hasBody = (flags & END_STREAM) === 0;
    const request = readStreamRequest(raw, hasBody, () => randomBytes(16).toString('base64'));
    // Each ends with `close`.
    stream.on('error', () => {});
    if (request === undefined) {
      stream.close(PROTOCOL_ERROR);
      return;
    }
    if (!admission.enter(counted, nowMs())) {
      stream.close(REFUSED_STREAM);
      return;
    }
    entry.streams += 1;
    stream.once('close', () => {
      admission.leave(counted);
      entry.streams -= 1;
      const idleMs = this.#isDraining ? limits.drainIdleMs : limits.idleTimeoutMs;
      if (entry.streams === 0) entry.deadlineMs = nowMs() + idleMs;
    });
    const socket = new StreamSocket(stream, request, (error) => this.#fault(facts, error));
    const connection = open(socket, { ...facts, isHttp2: true, acceptedAtMs: nowMs() });
    socket.read(hasBody, (bytes) => connection.take(bytes));
  }

  #fault({ address }: ClientFacts, error: unknown): void {
    failAlone({ kind: 'connection', id: `with ${address}`, log: this.#options.log }, error);
  }
}

/** RFC 9113 §7. */
const PROTOCOL_ERROR = 1;
const REFUSED_STREAM = 7;
