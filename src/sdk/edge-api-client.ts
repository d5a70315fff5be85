/**
 * The REST client of an overlay identity: logs in with its certificate, keeps the session, logs in once more if
 * the session was lost, and calls the edge client API and our own `/agent/v1` and `/gateway/v1`.
 */
import { FrontdoorError, type Log } from '#base';
import {
  GATEWAY_FEED_HEARTBEAT_MS,
  LineDecoder,
  type HostedShare,
  type HostedShareRequest,
  type GatewaySession,
  type GatewayUsage,
  type InspectedRequest,
  type LoginCallback,
  type LoginRedeemed,
  type LoginRedemption,
  type LoginReturned,
  type LoginStart,
  type LoginStarted,
  type SessionFound,
  type RequestFailure,
  type SessionQuery,
  type TrafficReport,
} from '#domain';
import { JsonClient, type IdentityFile, type JsonAnswer, type JsonRequest } from '#net';
import { failureOf } from './edge-failure.ts';
import type {
  EdgeRouterAddress,
  EdgeService,
  EdgeSession,
  EdgeVersion,
  ServiceSession,
} from './edge-resources.ts';

const BASE_PATH = '/edge/client/v1';
const PAGE = 500;
const MAX_PAGES = 1_000;
const MAX_FEED_LINE_BYTES = 256 * 1_048_576;

export interface EdgeApiClientOptions {
  readonly identity: IdentityFile;
  readonly log: Log;
  /** Deadline of a whole call; 10 s by default. */
  readonly timeoutMs?: number;
  /** Sent at log-in: the configs to include with services. `host.v1` by default. */
  readonly configTypes?: readonly string[];
  /** Sent at log-in, for operators. */
  readonly version?: string;
}

export interface GatewayFeedSubscription {
  /** The last applied version with its epoch. The control plane resumes there if possible. */
  readonly since?: { readonly version: number; readonly epoch: string };
  /** One line of the stream (JSON). */
  readonly onLine: (line: string) => void;
  /** The last call, once. Never called after `close`. */
  readonly onEnd: (error: FrontdoorError) => void;
}

export class EdgeApiClient {
  readonly #options: EdgeApiClientOptions;
  readonly #sessionListeners: ((session: EdgeSession) => void)[] = [];
  #identity: IdentityFile;
  #http: JsonClient;
  #session: EdgeSession | undefined;
  #logIn: Promise<EdgeSession> | undefined;
  #closed = false;

  constructor(options: EdgeApiClientOptions) {
    this.#options = options;
    this.#identity = options.identity;
    this.#http = this.#open(options.identity);
  }

  get identity(): IdentityFile {
    return this.#identity;
  }

  /** Called after each log-in. Channels that presented the old token must present the new one. */
  onSession(listener: (session: EdgeSession) => void): void {
    this.#sessionListeners.push(listener);
  }

  /** Uses a renewed certificate for later calls and log-ins. */
  async useIdentity(identity: IdentityFile): Promise<void> {
    const old = this.#http;
    this.#identity = identity;
    this.#http = this.#open(identity);
    this.#session = undefined;
    this.#logIn = undefined;
    await old.close();
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#http.close();
  }

  async version(): Promise<EdgeVersion> {
    return (await this.#call({ method: 'GET', path: `${BASE_PATH}/version` }, 200)) as EdgeVersion;
  }

  /** Returns the current session, or logs in; concurrent callers share one log-in. */
  session(): Promise<EdgeSession> {
    if (this.#session !== undefined) return Promise.resolve(this.#session);
    if (this.#logIn === undefined) {
      const logIn = this.#authenticate();
      this.#logIn = logIn;
      const forget = (): void => {
        if (this.#logIn === logIn) this.#logIn = undefined;
      };
      logIn.then(forget, forget);
    }
    return this.#logIn;
  }

  /** Discards an ended session. The next call logs in again, unless that has happened meanwhile. */
  forgetSession(token: string): void {
    if (this.#session?.token === token) this.#session = undefined;
  }

  /**
   * Called when a router refuses the token: asks the control plane whether the session is still valid, and
   * discards it if not. A router can be wrong, and a needless log-in would separate this client's service
   * sessions from its other channels.
   */
  async checkSession(token: string): Promise<void> {
    if (this.#session?.token !== token) return;
    const path = `${BASE_PATH}/current-api-session`;
    const { status } = await this.#http.request({ method: 'GET', path, headers: { 'zt-session': token } });
    if (status === 401) this.forgetSession(token);
  }

  async logOut(): Promise<void> {
    const session = this.#session;
    if (session === undefined) return;
    this.#session = undefined;
    const path = `${BASE_PATH}/current-api-session`;
    await this.#http.request({ method: 'DELETE', path, headers: { 'zt-session': session.token } });
  }

  async currentIdentity(): Promise<{ readonly id: string; readonly name: string }> {
    return (await this.#inSession({ method: 'GET', path: `${BASE_PATH}/current-identity` })) as {
      id: string;
      name: string;
    };
  }

  /** Returns a mark that changes with services, their configs or permissions. It is only meant for comparison. */
  async serviceUpdates(): Promise<string> {
    const path = `${BASE_PATH}/current-api-session/service-updates`;
    const { lastChangeAt } = (await this.#inSession({ method: 'GET', path })) as { lastChangeAt: string };
    return lastChangeAt;
  }

  /** Returns all services that this identity may dial or bind, from all pages. */
  async services(): Promise<EdgeService[]> {
    return (await this.#pages(`${BASE_PATH}/services`)) as EdgeService[];
  }

  async serviceByName(name: string): Promise<EdgeService | undefined> {
    const filter = encodeURIComponent(`name="${name}"`);
    const found = await this.#inSession({ method: 'GET', path: `${BASE_PATH}/services?filter=${filter}` });
    return (found as EdgeService[])[0];
  }

  async edgeRouters(): Promise<EdgeRouterAddress[]> {
    return (await this.#pages(`${BASE_PATH}/current-identity/edge-routers`)).map(routerOf);
  }

  /** Rejects with `notFound` if the service was deleted or this identity has no such permission. */
  async createSession(serviceId: string, type: 'Dial' | 'Bind'): Promise<ServiceSession> {
    const path = `${BASE_PATH}/sessions`;
    const data = await this.#inSession({ method: 'POST', path, body: { serviceId, type } }, 201);
    const { id, token, edgeRouters } = data as { id: string; token: string; edgeRouters: unknown[] };
    return { id, token, serviceId, type, routers: edgeRouters.map(routerOf) };
  }

  /**
   * Certifies a new key of this identity and returns leaf and chain. The old certificate is valid until the new
   * one was used.
   */
  async extendIdentity(csrPem: string): Promise<string> {
    const path = `${BASE_PATH}/enroll/extend/identity`;
    const { cert } = (await this.#call({ method: 'POST', path, body: { csr: csrPem } }, 200)) as {
      cert: string;
    };
    return cert;
  }

  /** Returns all shares that this environment hosts. Only for environments. */
  async hostedShares(): Promise<HostedShare[]> {
    return (await this.#call({ method: 'GET', path: '/agent/v1/shares' }, 200)) as HostedShare[];
  }

  /**
   * Creates a share of this environment, or reclaims its name. Rejects with `conflict` if another environment
   * holds it.
   */
  async createShare(request: HostedShareRequest): Promise<HostedShare> {
    return (await this.#call(
      { method: 'POST', path: '/agent/v1/shares', body: request },
      201,
    )) as HostedShare;
  }

  /** Rejects with `notFound` if this environment has no share with the token. */
  async releaseShare(token: string): Promise<void> {
    await this.#call({ method: 'DELETE', path: `/agent/v1/shares/${encodeURIComponent(token)}` }, 204);
  }

  async tellVersion(version: string): Promise<void> {
    await this.#call({ method: 'PUT', path: '/agent/v1/self', body: { version } }, 204);
  }

  /** Resolves once the report was accepted, now or when it was sent before. Only for gateways. */
  async reportTraffic(report: TrafficReport): Promise<void> {
    await this.#call({ method: 'POST', path: '/gateway/v1/metrics', body: report }, 204);
  }

  /** Returns where to redirect a browser for its log-in. This and the other log-in calls are only for gateways. */
  async startLogin(start: LoginStart): Promise<LoginStarted> {
    return (await this.#post('/gateway/v1/logins/start', start)) as LoginStarted;
  }

  /** Returns where to redirect a browser that returned from its identity provider. */
  async finishLogin(callback: LoginCallback): Promise<LoginReturned> {
    return (await this.#post('/gateway/v1/logins/callback', callback)) as LoginReturned;
  }

  async redeemLogin(redemption: LoginRedemption): Promise<LoginRedeemed> {
    return (await this.#post('/gateway/v1/logins/redeem', redemption)) as LoginRedeemed;
  }

  /** Resolves to null if there is no such session, or it has ended. */
  async findSession(query: SessionQuery): Promise<GatewaySession | null> {
    return ((await this.#post('/gateway/v1/sessions/find', query)) as SessionFound).session;
  }

  /** Ends the session at every gateway. */
  async endSession(query: SessionQuery): Promise<void> {
    await this.#post('/gateway/v1/sessions/end', query, 204);
  }

  /**
   * Requests a fetch of the provider's keys, because a token names an unknown one. New keys arrive with the share
   * feed.
   */
  async refreshProvider(providerId: string): Promise<void> {
    await this.#post('/gateway/v1/providers/refresh', { providerId }, 204);
  }

  async reportUsage(usage: GatewayUsage): Promise<void> {
    await this.#post('/gateway/v1/usage', usage, 204);
  }

  /**
   * Resolves once the records were accepted, now or when they were sent before; the same applies to inspections.
   * Only for gateways.
   */
  async reportFailures(failures: readonly RequestFailure[]): Promise<void> {
    await this.#post('/gateway/v1/failures', { failures }, 204);
  }

  async reportInspections(requests: readonly InspectedRequest[]): Promise<void> {
    await this.#post('/gateway/v1/inspections', { requests }, 204);
  }

  /** Follows the gateways' share feed with one stream. After its end, the caller subscribes again. */
  subscribeGatewayFeed(subscription: GatewayFeedSubscription): { close(): void } {
    const abort = new AbortController();
    const { since } = subscription;
    const query =
      since === undefined ? '' : `?since=${since.version}&epoch=${encodeURIComponent(since.epoch)}`;
    this.#readFeed(`/gateway/v1/shares${query}`, subscription.onLine, abort.signal).catch(
      (error: unknown) => {
        if (!abort.signal.aborted) subscription.onEnd(asFailure(error, this.#hop));
      },
    );
    return { close: () => abort.abort() };
  }

  async #readFeed(path: string, onLine: (line: string) => void, signal: AbortSignal): Promise<void> {
    const silenceMs = 3 * GATEWAY_FEED_HEARTBEAT_MS;
    const { status, bytes } = await this.#http.stream({ method: 'GET', path }, silenceMs, signal);
    if (status !== 200) {
      throw failureOf({ status, headers: {}, text: '', json: undefined }, this.#hop);
    }
    const lines = new LineDecoder(MAX_FEED_LINE_BYTES);
    for await (const chunk of bytes) {
      for (const line of lines.push(chunk)) if (!signal.aborted) onLine(line);
      if (lines.overflowed)
        throw new FrontdoorError('badGateway', 'feed_line_too_long', 'share feed: line too long');
    }
    throw new FrontdoorError('unavailable', 'feed_ended', `${this.#hop} ended the share feed`);
  }

  async #authenticate(): Promise<EdgeSession> {
    const http = this.#http;
    const version = this.#options.version ?? 'unknown';
    const data = (await this.#call(
      {
        method: 'POST',
        path: `${BASE_PATH}/authenticate?method=cert`,
        body: {
          configTypes: this.#options.configTypes ?? ['host.v1'],
          sdkInfo: { type: 'frontdoor', version },
          envInfo: { os: process.platform, arch: process.arch },
        },
      },
      200,
    )) as EdgeSession;
    const { id, token, identityId, expiresAt } = data;
    const session = { id, token, identityId, expiresAt };
    // If the identity was renewed meanwhile, the log-in with the new certificate counts.
    if (http === this.#http && !this.#closed) {
      this.#session = session;
      for (const listener of this.#sessionListeners) listener(session);
    }
    return session;
  }

  async #inSession(request: JsonRequest, expected = 200): Promise<unknown> {
    return dataOf(await this.#answerInSession(request), expected, this.#hop);
  }

  async #answerInSession(request: JsonRequest): Promise<JsonAnswer> {
    for (let attempt = 1; ; attempt += 1) {
      const { token } = await this.session();
      const headers = { ...request.headers, 'zt-session': token };
      const answer = await this.#http.request({ ...request, headers });
      if (answer.status !== 401 || attempt === 2) return answer;
      this.#options.log.info({}, 'the session with the edge API was lost; logging in again');
      this.forgetSession(token);
    }
  }

  #post(path: string, body: unknown, expected = 200): Promise<unknown> {
    return this.#call({ method: 'POST', path, body }, expected);
  }

  /** For calls that the certificate alone authorizes. */
  async #call(request: JsonRequest, expected: number): Promise<unknown> {
    return dataOf(await this.#http.request(request), expected, this.#hop);
  }

  async #pages(path: string): Promise<unknown[]> {
    const all: unknown[] = [];
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const answer = await this.#answerInSession({
        method: 'GET',
        path: `${path}?limit=${PAGE}&offset=${page * PAGE}`,
      });
      const found = dataOf(answer, 200, this.#hop) as unknown[];
      all.push(...found);
      const { meta } = answer.json as { meta?: { pagination?: { totalCount?: number } } };
      if (found.length === 0 || all.length >= (meta?.pagination?.totalCount ?? 0)) break;
    }
    return all;
  }

  get #hop(): string {
    return `the edge API at ${this.#identity.apiUrl}`;
  }

  #open(identity: IdentityFile): JsonClient {
    return new JsonClient({
      origin: identity.apiUrl,
      ca: identity.caPem,
      certPem: identity.certPem,
      keyPem: identity.keyPem,
      ...(this.#options.timeoutMs === undefined ? {} : { timeoutMs: this.#options.timeoutMs }),
    });
  }
}

function dataOf(answer: JsonAnswer, expected: number, hop: string): unknown {
  if (answer.status !== expected) throw failureOf(answer, hop);
  if (expected === 204) return undefined;
  const data = (answer.json as { data?: unknown } | undefined)?.data;
  if (data === undefined || data === null) {
    throw new FrontdoorError('badGateway', 'answer_unreadable', `${hop} sent a response that cannot be read`);
  }
  return data;
}

function routerOf(found: unknown): EdgeRouterAddress {
  const { name, isOnline, supportedProtocols } = found as {
    name: string;
    isOnline?: boolean;
    supportedProtocols?: { tls?: string };
  };
  return { name, isOnline: isOnline === true, tlsUrl: supportedProtocols?.tls };
}

function asFailure(error: unknown, hop: string): FrontdoorError {
  if (error instanceof FrontdoorError) return error;
  return new FrontdoorError('unavailable', 'feed_broken', `${hop}: the share feed broke`, { cause: error });
}
