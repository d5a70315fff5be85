/**
 * A small HTTP client for our own APIs and OpenZiti's: one origin, keep-alive, optional client certificate, a
 * deadline and a size limit for every response, no redirects. Addresses that users name require
 * `egress-client.ts`.
 */
import type { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { Agent, ClientRequest, IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import { connect as connectTls, TLSSocket } from 'node:tls';
import { bareHost, clockProblem, FrontdoorError, messageOf, systemClock, validityProblem } from '#base';
import { certificatesOfPem, validityOf } from '../certificate-chain.ts';
import { HttpAgent, httpRequest } from './node-http.ts';
import { serverDateOf } from './server-date.ts';
import { directDialer, type OutwardDialer } from '../outward/outward-dialer.ts';
import { systemAnchors } from '../trust-anchors.ts';
import { serverNameOf } from '../server-name.ts';

export interface JsonClientOptions {
  /** `https://host:port` or `http://host:port`. */
  readonly origin: string;
  /** PEM trust anchors that replace the system's. */
  readonly ca?: string | undefined;
  /** Accepts any certificate of `ca` as an anchor, even a leaf, which pins a single certificate. */
  readonly pinned?: boolean | undefined;
  readonly certPem?: string | undefined;
  readonly keyPem?: string | undefined;
  /** From the request to the end of its response; 10 s by default. */
  readonly timeoutMs?: number | undefined;
  /** 16 MiB by default. */
  readonly maxAnswerBytes?: number | undefined;
  /** By default the server is reached directly. */
  readonly outward?: OutwardDialer | undefined;
}

export interface JsonRequest {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With its query, escaped. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Text is sent unchanged, everything else as JSON. */
  readonly body?: unknown;
  /** Whether it may be sent twice; by default GET, HEAD, PUT and DELETE may. */
  readonly isRepeatable?: boolean | undefined;
  /** Ends the request. */
  readonly signal?: AbortSignal | undefined;
  /** Called when the connection stands, so that the server may receive the request. */
  readonly onSent?: (() => void) | undefined;
}

export interface JsonAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The body as JSON; undefined if it is not JSON. */
  readonly json: unknown;
}

/** A response whose body is streamed. `bytes` throws if the stream breaks or is silent for too long. */
export interface StreamAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** Methods that may be repeated if no part of the response arrived. */
const REPEATABLE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'PUT', 'DELETE']);
export function isRepeatable({ method, isRepeatable = REPEATABLE.has(method) }: JsonRequest): boolean {
  return isRepeatable;
}

/** Shorter than servers keep idle connections. */
const IDLE_MS = 4_000;
/** A server that has not completed TLS by then is tried at its other addresses first the next time. */
const SILENT_TLS_MS = 3_000;

export class JsonClient {
  readonly #origin: string;
  readonly #options: JsonClientOptions;
  readonly #timeoutMs: number;
  readonly #maxAnswerBytes: number;
  readonly #isSecure: boolean;
  readonly #streams = new Set<IncomingMessage>();
  readonly #closing = new AbortController();
  #agent: Agent | undefined;

  constructor(options: JsonClientOptions) {
    this.#origin = options.origin;
    this.#options = options;
    this.#timeoutMs = options.timeoutMs ?? 10_000;
    this.#maxAnswerBytes = options.maxAnswerBytes ?? 16 * 1_048_576;
    this.#isSecure = options.origin.startsWith('https:');
  }

  /**
   * Returns any status as a response. Throws `unavailable` if the server cannot be reached, `timeout` if it is
   * silent.
   */
  async request(request: JsonRequest): Promise<JsonAnswer> {
    const timeout = AbortSignal.timeout(this.#timeoutMs);
    const signal = request.signal === undefined ? timeout : AbortSignal.any([timeout, request.signal]);
    try {
      const response = await this.#send(request, signal);
      const chunks: Uint8Array[] = [];
      let length = 0;
      for await (const chunk of response as AsyncIterable<Uint8Array>) {
        length += chunk.length;
        if (length > this.#maxAnswerBytes)
          throw new RangeError(`response above ${this.#maxAnswerBytes} bytes`);
        chunks.push(chunk);
      }
      const text = Buffer.concat(chunks).toString('utf8');
      return { status: response.statusCode ?? 0, headers: response.headers, text, json: jsonOf(text) };
    } catch (error) {
      // During the body, an abort looks like a broken connection.
      throw this.#failure(signal.aborted ? signal.reason : error);
    }
  }

  /** Opens a long response. It breaks after `silenceMs` without a byte. Abort `signal` to end it. */
  async stream(request: JsonRequest, silenceMs: number, signal: AbortSignal): Promise<StreamAnswer> {
    const head = new AbortController();
    const timer = setTimeout(
      () => head.abort(new DOMException('no answer', 'TimeoutError')),
      this.#timeoutMs,
    );
    try {
      const response = await this.#send(request, AbortSignal.any([signal, head.signal]));
      this.#streams.add(response);
      response.once('close', () => this.#streams.delete(response));
      response.setTimeout(silenceMs, () => response.destroy(new Error(`silent for ${silenceMs} ms`)));
      return { status: response.statusCode ?? 0, headers: response.headers, bytes: response };
    } catch (error) {
      throw this.#failure(error);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Ends streams and idle connections. Requests that run get their responses, after which their connections close. */
  retire(): void {
    for (const stream of this.#streams) stream.destroy(new Error('the client uses another identity'));
    const agent = this.#agent as (Agent & { keepAlive: boolean }) | undefined;
    if (agent === undefined) return;
    agent.keepAlive = false;
    for (const sockets of Object.values(agent.freeSockets))
      for (const socket of sockets ?? []) socket.destroy();
  }

  close(): Promise<void> {
    this.#closing.abort(new Error('the client was closed'));
    this.#agent?.destroy();
    return Promise.resolve();
  }

  /**
   * Resolves with the head of the response. If the server had just closed an idle connection, the request is sent
   * again.
   */
  async #send(request: JsonRequest, signal: AbortSignal): Promise<IncomingMessage> {
    for (;;) {
      const sent = this.#open(request, signal);
      try {
        const [response] = (await once(sent, 'response')) as [IncomingMessage];
        return response;
      } catch (error) {
        const wasIdle = sent.reusedSocket && (error as NodeJS.ErrnoException).code === 'ECONNRESET';
        if (!wasIdle || !isRepeatable(request) || signal.aborted) throw await this.#withTimes(error, sent);
      }
    }
  }

  #open(request: JsonRequest, signal: AbortSignal): ClientRequest {
    const { body, method, path } = request;
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const headers = {
      accept: 'application/json',
      ...(body === undefined || typeof body === 'string' ? {} : { 'content-type': 'application/json' }),
      ...(text === undefined ? {} : { 'content-length': String(Buffer.byteLength(text)) }),
      ...request.headers,
    };
    const open = this.#isSecure ? httpsRequest : httpRequest;
    this.#agent ??= this.#makeAgent();
    const sent = open(new URL(this.#origin), { method, path, headers, signal, agent: this.#agent });
    // The abort may come after the response's head, when the request has no other listener.
    sent.on('error', () => {});
    if (this.#isSecure) noteCertificate(sent);
    if (request.onSent !== undefined) onConnected(sent, this.#isSecure, request.onSent);
    sent.end(text);
    return sent;
  }

  #makeAgent(): Agent {
    const common = { keepAlive: true, maxSockets: 8, timeout: IDLE_MS };
    const agent = this.#isSecure ? new HttpsAgent(common) : new HttpAgent(common);
    // Node's own connections know no proxy, and give up an address that answers late.
    agent.createConnection = (_options, callback) => {
      void this.#connectFor(callback);
      return undefined;
    };
    return agent;
  }

  async #connectFor(callback: Parameters<Agent['createConnection']>[1]): Promise<void> {
    let socket: Socket;
    try {
      socket = await this.#connect();
    } catch (error) {
      callback?.(error as Error, undefined as never);
      return;
    }
    callback?.(null, socket);
  }

  async #connect(): Promise<Socket> {
    const { outward = directDialer, ca, certPem, keyPem, pinned } = this.#options;
    const { hostname, port } = new URL(this.#origin);
    const host = bareHost(hostname);
    const isPlain = !this.#isSecure;
    const target = { host, port: Number(port || (isPlain ? 80 : 443)), isPlain };
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(this.#timeoutMs)]);
    const socket = await outward.connect(target, { signal });
    if (isPlain) return socket;
    const secure = connectTls({
      socket,
      host,
      servername: serverNameOf(host),
      ALPNProtocols: ['http/1.1'],
      ca: ca ?? systemAnchors(),
      allowPartialTrustChain: pinned === true,
      cert: certPem,
      key: keyPem,
    });
    // A server that accepts connections and does nothing else may be one of several addresses.
    const { remoteAddress } = socket;
    const onFailure = (): void => outward.failedAfterConnect(target, remoteAddress);
    const timer = setTimeout(onFailure, SILENT_TLS_MS);
    secure.once('error', onFailure).once('secureConnect', () => {
      clearTimeout(timer);
      secure.off('error', onFailure);
    });
    secure.once('close', () => clearTimeout(timer));
    return secure;
  }

  /** Adds the server's time to an error of TLS that may come from a wrong clock. */
  async #withTimes(error: unknown, sent: ClientRequest): Promise<unknown> {
    if (!isRefusedForTime(error)) return error;
    const { ca, outward = directDialer } = this.#options;
    const detailed = withTimes(error, sent, ca);
    const serverMs = await serverDateOf(this.#origin, outward);
    const problem = serverMs === undefined ? undefined : clockProblem(serverMs, systemClock.nowMs());
    return problem === undefined
      ? detailed
      : new Error(`${messageOf(detailed)}: ${problem}`, { cause: error });
  }

  #failure(cause: unknown): FrontdoorError {
    const { name, code } = cause as { name?: string; code?: string };
    const inner = (cause as { cause?: { name?: string } }).cause?.name;
    if (name === 'TimeoutError' || inner === 'TimeoutError' || code === 'ETIMEDOUT') {
      return new FrontdoorError('timeout', 'server-silent', `${this.#origin} did not respond in time`, {
        cause,
      });
    }
    const message = `${this.#origin} cannot be reached: ${reason(cause)}`;
    if (cause instanceof FrontdoorError)
      return new FrontdoorError(cause.kind, cause.code, message, { cause });
    return new FrontdoorError('unavailable', 'unreachable', message, { cause });
  }
}

function onConnected(sent: ClientRequest, isSecure: boolean, listener: () => void): void {
  sent.once('socket', (socket) => {
    if (sent.reusedSocket) listener();
    else if (isSecure) socket.once('secureConnect', listener);
    else listener();
  });
}

/** The certificate that a server presented, by the connection that it was presented on. */
const presented = new WeakMap<Socket, X509Certificate>();
const REFUSED_FOR_TIME: ReadonlySet<unknown> = new Set(['CERT_NOT_YET_VALID', 'CERT_HAS_EXPIRED']);

/** TLS ends a connection that it refuses, and its certificate is gone then. */
function noteCertificate(sent: ClientRequest): void {
  sent.once('socket', (socket) => {
    if (!(socket instanceof TLSSocket) || presented.has(socket)) return;
    socket.prependOnceListener('secure', () => {
      const certificate = socket.getPeerX509Certificate();
      if (certificate !== undefined) presented.set(socket, certificate);
    });
  });
}

/** Whether TLS refused a certificate for its dates. */
function isRefusedForTime(error: unknown): boolean {
  return REFUSED_FOR_TIME.has((error as { code?: unknown }).code);
}

/** Names both times in an error of TLS that only says that a certificate is out of date, which may be an authority of `ca`. */
function withTimes(error: unknown, { socket }: ClientRequest, ca: JsonClientOptions['ca']): unknown {
  if (socket === null) return error;
  const certificate = presented.get(socket);
  const problem = certificate && validityProblem(validityOf(certificate), systemClock.nowMs());
  const ofAuthority = problem === undefined && typeof ca === 'string' ? authorityProblem(ca) : undefined;
  if (ofAuthority !== undefined) {
    const remedy =
      'compare the clocks of both machines; if a clock was wrong at the enrollment, enroll again';
    return new Error(`the authority that this program trusts ${ofAuthority}; ${remedy}`, { cause: error });
  }
  const what = problem === undefined ? messageOf(error) : `its certificate ${problem}`;
  return new Error(`${what}; compare the clocks of both machines`, { cause: error });
}

function authorityProblem(ca: string): string | undefined {
  for (const certificate of certificatesOfPem(ca)) {
    const problem = validityProblem(validityOf(certificate), systemClock.nowMs());
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function reason(cause: unknown): string {
  const inner = cause instanceof AggregateError ? cause.errors[0] : cause;
  return messageOf(inner) || String((inner as { code?: string }).code ?? 'connection failed');
}

function jsonOf(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
