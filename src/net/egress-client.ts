/**
 * The only client for hosts that other parties named, such as token issuers. A name is resolved once, every
 * address of it must pass the egress policy, and only these addresses are connected to, with the certificate
 * verified for the name. No redirects, no reused connections, one deadline for everything, a limit for the
 * response.
 */
import { once } from 'node:events';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { bareHost, FrontdoorError } from '#base';
import {
  egressAddresses,
  egressFailure,
  egressRefused,
  type EgressAddress,
  type EgressRules,
} from './egress-address.ts';
import { httpRequest } from './http/node-http.ts';
import { TLS_MIN_VERSION } from './tls-policy.ts';
import { systemAnchors } from './trust-anchors.ts';

export interface EgressClientOptions extends EgressRules {
  /** PEM trust anchors that replace the system's. */
  readonly ca?: string | undefined;
  /** From the look-up to the end of the response; 5 s by default. */
  readonly timeoutMs?: number | undefined;
  /** 1 MiB by default. */
  readonly maxAnswerBytes?: number | undefined;
}

export interface EgressRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The headers include its `content-type`. */
  readonly body?: string | Uint8Array | undefined;
  /** Ends the request before its own deadline does. */
  readonly signal?: AbortSignal | undefined;
}

export interface EgressAnswer {
  /** A redirect is a response like any other. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The body as JSON; undefined if it is not JSON. */
  readonly json: unknown;
}

const TIMEOUT_MS = 5_000;
const MAX_ANSWER_BYTES = 1_048_576;
const MAX_URL_CHARS = 2_048;

export class EgressClient {
  readonly #options: EgressClientOptions;
  #anchors: string | string[] | undefined;

  constructor(options: EgressClientOptions) {
    this.#options = options;
  }

  get(url: string, headers: Readonly<Record<string, string>> = {}): Promise<EgressAnswer> {
    return this.send({ method: 'GET', url, headers });
  }

  /**
   * Returns any status as a response. Throws `forbidden` if the policy refuses, `timeout`, and `unavailable` if
   * there is no complete response within the limit. The request is sent at most once.
   */
  async send(request: EgressRequest): Promise<EgressAnswer> {
    const target = parseTarget(request.url);
    const deadline = AbortSignal.timeout(this.#options.timeoutMs ?? TIMEOUT_MS);
    const signal = request.signal === undefined ? deadline : AbortSignal.any([deadline, request.signal]);
    try {
      const addresses = await this.#resolve(target, signal);
      signal.throwIfAborted();
      const sent = this.#open(target, addresses, request, signal);
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      const text = await this.#read(response);
      return { status: response.statusCode ?? 0, headers: response.headers, text, json: jsonOf(text) };
    } catch (error) {
      throw egressFailure(target.origin, signal.aborted ? signal.reason : error);
    }
  }

  async #resolve(target: URL, signal: AbortSignal): Promise<readonly EgressAddress[]> {
    const isPlain = target.protocol === 'http:';
    const server = { host: hostOf(target), port: portOf(target), isPlain, shown: target.origin };
    return egressAddresses(server, this.#options, signal);
  }

  #open(
    target: URL,
    addresses: readonly EgressAddress[],
    { method, headers, body }: EgressRequest,
    signal: AbortSignal,
  ): ClientRequest {
    const lookup: LookupFunction = (_host, options, answer) => {
      const [first] = addresses;
      if (options.all === true) answer(null, [...addresses]);
      else answer(null, first!.address, first!.family);
    };
    const request = {
      method,
      headers: {
        accept: 'application/json',
        'accept-encoding': 'identity',
        ...headers,
        ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
      },
      agent: false,
      lookup,
      signal,
    } as const;
    this.#anchors ??= this.#options.ca ?? systemAnchors();
    const sent =
      target.protocol === 'http:'
        ? httpRequest(target, request)
        : httpsRequest(target, { ...request, ca: this.#anchors, minVersion: TLS_MIN_VERSION });
    // The abort may come after the response's head, when the request has no other listener.
    sent.on('error', () => {});
    sent.end(body);
    return sent;
  }

  async #read(response: IncomingMessage): Promise<string> {
    const maxBytes = this.#options.maxAnswerBytes ?? MAX_ANSWER_BYTES;
    const chunks: Uint8Array[] = [];
    let length = 0;
    for await (const chunk of response as AsyncIterable<Uint8Array>) {
      length += chunk.length;
      if (length > maxBytes) throw new RangeError(`a response above ${maxBytes} bytes`);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString('utf8');
  }
}

function parseTarget(text: string): URL {
  const target = text.length <= MAX_URL_CHARS && URL.canParse(text) ? new URL(text) : undefined;
  if (target === undefined)
    throw new FrontdoorError('invalid', 'egress-url', 'no address that can be fetched');
  if (target.protocol !== 'https:' && target.protocol !== 'http:')
    throw egressRefused(target.origin, 'it is not HTTPS');
  if (target.username !== '' || target.password !== '')
    throw egressRefused(target.origin, 'it carries credentials');
  return target;
}

function hostOf(target: URL): string {
  return bareHost(target.hostname);
}

function portOf(target: URL): number {
  return Number(target.port || (target.protocol === 'http:' ? 80 : 443));
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
