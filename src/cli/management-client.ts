/**
 * Client of the Management API for the command line. It sends an API account's token as it is, and exchanges an
 * OAuth client's secret for a bearer token that lasts as long as the command. Error responses become
 * `FrontdoorError`s. Credentials are sent over https only, except on loopback.
 */
import {
  definedFields,
  FrontdoorError,
  type ErrorKind,
  ERROR_KINDS,
  isLoopbackHost,
  withoutUserInfo,
} from '#base';
import { printable } from '#base/terminal';
import type { Credentials } from '#domain/agent-shapes';
import type { OutwardDialer } from '#net';
import { JsonClient, type JsonAnswer } from '#net/http';
import { repeatedRequest } from './repeated-request.ts';

export interface ManagementAccess {
  /** {base_url}, without `/frontdoor`. */
  readonly apiUrl: string;
  /** Undefined if nobody is logged in. */
  readonly credentials: Credentials | undefined;
  /** Why there are no credentials, and the remedy. */
  readonly missing?: string | undefined;
  /** CA certificates (PEM) to use instead of the system's. */
  readonly ca?: string | undefined;
  /** By default the server is reached directly. */
  readonly outward?: OutwardDialer | undefined;
}

export interface ManagementRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path after {base_url} with its query, escaped. */
  readonly path: string;
  readonly body?: unknown;
  /** Whether the request is sent without credentials. */
  readonly isOpen?: boolean;
  /** Changes the resource only if it still has this entity tag; the code of the refusal is `precondition_failed`. */
  readonly ifMatch?: string | undefined;
  /** The server carries out requests with the same key once, so the request is repeated if no response comes. */
  readonly idempotencyKey?: string | undefined;
}

export interface ManagementAnswer {
  /** The parsed JSON, or text if the body is not JSON. Undefined for an empty body. */
  readonly body: unknown;
  readonly entityTag: string | undefined;
}

export interface TokenResponse {
  readonly access_token: string;
  readonly expires_in: number;
  readonly scope: string;
}

/** Deletions complete their cascade before they respond. */
const TIMEOUT_MS = 60_000;
const MAX_REFUSAL_BYTES = 65_536;

export class ManagementClient {
  readonly #access: ManagementAccess;
  readonly #client: JsonClient;
  readonly #basePath: string;
  readonly #origin: string;
  #token: string | undefined;

  /** Throws `invalid` for an address to which credentials must not be sent. */
  constructor(access: ManagementAccess, timeoutMs = TIMEOUT_MS) {
    const url = URL.parse(access.apiUrl);
    if (url === null || !/^https?:$/.test(url.protocol)) {
      const message = `${withoutUserInfo(access.apiUrl)} is not an http or https address`;
      throw new FrontdoorError('invalid', 'api-url', message);
    }
    if (url.protocol === 'http:' && !isLoopbackHost(url.hostname)) {
      throw new FrontdoorError(
        'invalid',
        'api-url',
        `${url.origin} must use https, because credentials are sent to it`,
      );
    }
    this.#access = access;
    this.#origin = url.origin;
    this.#basePath = url.pathname.replace(/\/$/, '');
    this.#client = new JsonClient({
      origin: url.origin,
      timeoutMs,
      ca: access.ca,
      outward: access.outward,
    });
  }

  /** Returns the response's JSON, or its text if it is not JSON. Undefined if it is empty. */
  async call(request: ManagementRequest): Promise<unknown> {
    return (await this.exchange(request)).body;
  }

  exchange(request: ManagementRequest): Promise<ManagementAnswer> {
    const { idempotencyKey } = request;
    if (idempotencyKey === undefined) return this.#exchangeOnce(request);
    return repeatedRequest(idempotencyKey, () => this.#exchangeOnce(request));
  }

  async #exchangeOnce(request: ManagementRequest): Promise<ManagementAnswer> {
    const { method, path, body, isOpen = false, ifMatch, idempotencyKey } = request;
    const send = async (): Promise<JsonAnswer> =>
      this.#client.request({
        method,
        path: this.#basePath + path,
        headers: {
          ...(isOpen ? {} : { authorization: await this.#authorization() }),
          ...definedFields({ 'if-match': ifMatch, 'idempotency-key': idempotencyKey }),
        },
        body,
      });
    let answer = await send();
    if (answer.status === 401 && this.#forgetToken()) answer = await send();
    const { status, json, text, headers } = answer;
    if (status >= 200 && status < 300) {
      const { etag } = headers;
      return {
        body: text === '' ? undefined : (json ?? text),
        entityTag: typeof etag === 'string' ? etag : undefined,
      };
    }
    throw this.#refusal(status, json, headers['retry-after']);
  }

  /** Streams a long response. Fails when no bytes arrive for `silenceMs`. */
  async stream(
    path: string,
    headers: Readonly<Record<string, string>>,
    silenceMs: number,
    signal: AbortSignal,
  ): Promise<AsyncIterable<Uint8Array>> {
    const open = async () =>
      this.#client.stream(
        {
          method: 'GET',
          path: this.#basePath + path,
          headers: { ...headers, authorization: await this.#authorization() },
        },
        silenceMs,
        signal,
      );
    let answer = await open();
    if (answer.status === 401 && this.#forgetToken()) answer = await open();
    if (answer.status === 200) return answer.bytes;
    throw this.#refusal(answer.status, await refusalOf(answer.bytes));
  }

  /** Exchanges the credentials for a bearer token. */
  async fetchToken(scope?: string): Promise<TokenResponse> {
    const { id, secret } = this.#credentials();
    const { status, json } = await this.#client.request({
      method: 'POST',
      path: `${this.#basePath}/oauth/token`,
      body: {
        grant_type: 'client_credentials',
        client_id: id,
        client_secret: secret,
        audience: `${this.#origin}${this.#basePath}/frontdoor`,
        scope,
      },
    });
    if (status !== 200) throw this.#refusal(status, json);
    const token = json as Partial<TokenResponse> | undefined;
    if (typeof token?.access_token === 'string') return token as TokenResponse;
    throw new FrontdoorError('badGateway', 'answer', `${this.#origin} sent no token`);
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  #credentials() {
    const { credentials, missing } = this.#access;
    if (credentials !== undefined) return credentials;
    throw new FrontdoorError('unauthenticated', 'no-credentials', missing ?? 'not signed in');
  }

  async #authorization(): Promise<string> {
    const { kind, id, secret } = this.#credentials();
    if (kind === 'account') return `Basic ${id}:${secret}`;
    this.#token ??= (await this.fetchToken()).access_token;
    return `Bearer ${this.#token}`;
  }

  /** Discards a cached token that may have expired. Returns whether there was one, so that a retry is worthwhile. */
  #forgetToken(): boolean {
    const hadToken = this.#token !== undefined;
    this.#token = undefined;
    return hadToken;
  }

  #refusal(status: number, json: unknown, retryAfter?: string | string[]): FrontdoorError {
    const { error, message } = (json ?? {}) as { error?: unknown; message?: unknown };
    const reason =
      typeof message === 'string'
        ? printable(message)
        : `the Management API at ${this.#origin} answered ${status}`;
    return new FrontdoorError(
      kindOf(status),
      typeof error === 'string' ? error : 'refused',
      typeof retryAfter === 'string' ? `${reason}; retry in ${printable(retryAfter)} s` : reason,
    );
  }
}

async function refusalOf(bytes: AsyncIterable<Uint8Array>): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of bytes) {
    length += chunk.length;
    if (length > MAX_REFUSAL_BYTES) return undefined;
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    return undefined;
  }
}

function kindOf(status: number): ErrorKind {
  const found = Object.entries(ERROR_KINDS).find(([, kind]) => kind.status === status);
  if (found !== undefined) return found[0] as ErrorKind;
  return status < 500 ? 'invalid' : 'internal';
}
