/**
 * OpenZiti's edge client API: logs in with the identity's certificate, keeps the session, and logs in once more when it
 * was lost. Works with any OpenZiti control plane. What our own control planes answer beside it stands in
 * `agent-api-client.ts` and `gateway-api-client.ts`, over the same connection.
 */
import { messageOf, systemClock, type Clock, type Log } from '#base';
import type { SchemaReader } from '#base/shapes';
import { certificatesOfPem, type OutwardDialer } from '#net';
import type { IdentityFile } from '#net/files';
import type { JsonAnswer, JsonRequest } from '#net/http';
import { parseCertificateBundle } from './certificate-signing.ts';
import { checkStatus, dataOf, unreadable } from './edge-answer.ts';
import { EdgeConnection } from './edge-connection.ts';
import type { KeptControlPlanes } from './kept-control-planes.ts';
import {
  clientApiUrlsOf,
  readEdgeControllers,
  readEdgeIdentity,
  readEdgeRouters,
  readEdgeServices,
  readEdgeSession,
  readEdgeVersion,
  readExtendedCertificate,
  readPageMeta,
  readServiceSession,
  readServiceUpdates,
  readTerminators,
  routerAddressOf,
  type EdgeIdentity,
  type EdgeRouterAddress,
  type EdgeService,
  type EdgeSession,
  type EdgeTerminatorAddress,
  type EdgeVersion,
  type ServiceSession,
} from './edge-resources.ts';

const BASE_PATH = '/edge/client/v1';
const PAGE = 500;
const MAX_PAGES = 1_000;
/** Interval of queries for the list of control planes, which ride on other calls; varied by a fifth. */
const CONTROL_PLANES_MS = 30_000;

export interface EdgeApiClientOptions {
  readonly identity: IdentityFile;
  readonly log: Log;
  /** Deadline of a whole call; 10 s by default. */
  readonly timeoutMs?: number | undefined;
  /** Sent at log-in: the configs to include with services. `host.v1` by default. */
  readonly configTypes?: readonly string[];
  /** Sent at log-in and to routers, for operators. */
  readonly version?: string;
  /** Where the addresses of the control planes are kept; by default they are forgotten at the end. */
  readonly controlPlanes?: KeptControlPlanes | undefined;
  readonly clock?: Clock | undefined;
  /** From 0 to below 1. */
  readonly random?: (() => number) | undefined;
  /** Opens the connections to control planes and routers; by default directly. */
  readonly outward?: OutwardDialer | undefined;
}

export class EdgeApiClient {
  readonly #options: EdgeApiClientOptions;
  readonly #sessionListeners: ((session: EdgeSession) => void)[] = [];
  readonly #sessionEndListeners: (() => void)[] = [];
  /** For the APIs beside this one. */
  readonly connection: EdgeConnection;
  #session: EdgeSession | undefined;
  #logIn: Promise<EdgeSession> | undefined;
  /** When to get the list of control planes again. */
  #listDueMs = 0;

  constructor(options: EdgeApiClientOptions) {
    this.#options = options;
    const controlPlanes = options.controlPlanes?.urlsOf(options.identity.apiUrl);
    this.connection = new EdgeConnection({ ...options, controlPlanes });
  }

  /** The version of the program; empty where it was not given. */
  get ownVersion(): string {
    return this.#options.version ?? '';
  }

  get identity(): IdentityFile {
    return this.connection.identity;
  }

  /** Called after each log-in. Channels that presented the old token must present the new one. */
  onSession(listener: (session: EdgeSession) => void): void {
    this.#sessionListeners.push(listener);
  }

  /** Called when the control plane no longer accepts the session. The next call logs in again. */
  onSessionEnd(listener: () => void): void {
    this.#sessionEndListeners.push(listener);
  }

  /** Called when the authorities of the control plane may have changed. */
  onAuthoritiesChange(listener: () => void): void {
    this.connection.onAuthoritiesChange(listener);
  }

  /** Uses a renewed certificate for later calls and log-ins. */
  useIdentity(identity: IdentityFile): void {
    this.#session = undefined;
    this.#logIn = undefined;
    this.connection.useIdentity(identity);
  }

  close(): Promise<void> {
    return this.connection.close();
  }

  version(): Promise<EdgeVersion> {
    return this.#call({ method: 'GET', path: `${BASE_PATH}/version` }, readEdgeVersion);
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

  /** Discards an ended session. The next call logs in again, unless that has happened in the meantime. */
  forgetSession(token: string): void {
    if (this.#session?.token !== token) return;
    this.#session = undefined;
    for (const listener of this.#sessionEndListeners) listener();
  }

  /**
   * Called when a router refuses the token: asks the control plane whether the session is still valid, and
   * discards it if not. A router can be wrong, and a needless log-in would separate this client's service
   * sessions from its other channels.
   */
  async checkSession(token: string): Promise<void> {
    if (this.#session?.token !== token) return;
    const path = `${BASE_PATH}/current-api-session`;
    const { status } = await this.connection.request({
      method: 'GET',
      path,
      headers: { 'zt-session': token },
    });
    if (status === 401) this.forgetSession(token);
  }

  async logOut(): Promise<void> {
    const session = this.#session;
    if (session === undefined) return;
    this.#session = undefined;
    const path = `${BASE_PATH}/current-api-session`;
    await this.connection.request({ method: 'DELETE', path, headers: { 'zt-session': session.token } });
  }

  currentIdentity(): Promise<EdgeIdentity> {
    return this.#inSession({ method: 'GET', path: `${BASE_PATH}/current-identity` }, readEdgeIdentity);
  }

  /** Returns a mark that changes with services, their configs or permissions. It is only meant for comparison. */
  async serviceUpdates(): Promise<string> {
    const path = `${BASE_PATH}/current-api-session/service-updates`;
    return (await this.#inSession({ method: 'GET', path }, readServiceUpdates)).lastChangeAt;
  }

  /** Returns all services that this identity may dial or bind, from all pages. */
  services(): Promise<EdgeService[]> {
    return this.#pages(`${BASE_PATH}/services`, readEdgeServices);
  }

  async serviceByName(name: string): Promise<EdgeService | undefined> {
    const filter = encodeURIComponent(`name=${JSON.stringify(name)}`);
    const path = `${BASE_PATH}/services?filter=${filter}`;
    return (await this.#inSession({ method: 'GET', path }, readEdgeServices))[0];
  }

  /** Returns the hosts that a service has now. */
  terminators(serviceId: string): Promise<EdgeTerminatorAddress[]> {
    return this.#pages(`${BASE_PATH}/services/${encodeURIComponent(serviceId)}/terminators`, readTerminators);
  }

  async edgeRouters(): Promise<EdgeRouterAddress[]> {
    const path = `${BASE_PATH}/current-identity/edge-routers`;
    return (await this.#pages(path, readEdgeRouters)).map(routerAddressOf);
  }

  /** Rejects with `notFound` if the service was deleted or this identity has no such permission. */
  async createSession(serviceId: string, type: 'Dial' | 'Bind'): Promise<ServiceSession> {
    const path = `${BASE_PATH}/sessions`;
    const request = { method: 'POST', path, body: { serviceId, type }, isRepeatable: true } as const;
    const { id, token, edgeRouters } = await this.#inSession(request, readServiceSession, 201);
    return { id, token, serviceId, type, routers: edgeRouters.map(routerAddressOf) };
  }

  /**
   * Certifies a new key of this identity and returns leaf and chain. The old certificate is valid until the new
   * one was used.
   */
  async extendIdentity(csrPem: string): Promise<string> {
    const path = `${BASE_PATH}/enroll/extend/identity`;
    const request = { method: 'POST', path, body: { csr: csrPem } } as const;
    return (await this.#call(request, readExtendedCertificate)).cert;
  }

  /** Whether the control plane asks for another certificate before the one in use is due, in OpenZiti's field. */
  async isRenewalRequested(): Promise<boolean> {
    const path = `${BASE_PATH}/current-api-session`;
    return (await this.#inSession({ method: 'GET', path }, readEdgeSession)).isCertExtendRequested;
  }

  /**
   * Gets the authorities that the control plane trusts now (PEM). Returns undefined if they are those of the identity, or
   * if the control plane itself is not verified with them, as behind a proxy with a certificate of its own.
   */
  async changedAuthorities(): Promise<string | undefined> {
    const path = `${BASE_PATH}/.well-known/est/cacerts`;
    const headers = { accept: 'application/pkcs7-mime' };
    const answer = await this.connection.request({ method: 'GET', path, headers });
    checkStatus(answer, 200, this.connection.hop);
    const found = await parseCertificateBundle(answer.text);
    if (found.length === 0 || isSameSet(found.join(''), this.identity.caPem)) return undefined;
    const caPem = found.join('');
    if (await this.connection.isVerifiedWith(caPem)) return caPem;
    this.#options.log.warn(
      { hop: this.connection.hop },
      'the authorities that the control plane sent do not verify it: the former ones stay in use',
    );
    return undefined;
  }

  async #authenticate(): Promise<EdgeSession> {
    const { identity } = this.connection;
    const version = this.#options.version ?? 'unknown';
    const session = await this.#call(
      {
        method: 'POST',
        path: `${BASE_PATH}/authenticate?method=cert`,
        isRepeatable: true,
        body: {
          configTypes: this.#options.configTypes ?? ['host.v1'],
          sdkInfo: { type: 'frontdoor', version },
          envInfo: { os: process.platform, arch: process.arch },
        },
      },
      readEdgeSession,
    );
    // If the identity was renewed in the meantime, the log-in with the new certificate counts.
    if (identity === this.connection.identity && !this.connection.isClosed) {
      this.#session = session;
      for (const listener of this.#sessionListeners) listener(session);
      void this.#followControlPlanes();
    }
    return session;
  }

  /** Gets the list of control planes if that is due. A failure leaves the former list. */
  async #followControlPlanes(): Promise<void> {
    const { clock = systemClock, random = Math.random, controlPlanes, log } = this.#options;
    if (clock.monotonicMs() < this.#listDueMs) return;
    this.#listDueMs = clock.monotonicMs() + CONTROL_PLANES_MS * (0.8 + 0.4 * random());
    try {
      const listed = await this.#pages(`${BASE_PATH}/controllers`, readEdgeControllers);
      const online = clientApiUrlsOf(listed.filter(({ isOnline }) => isOnline));
      const offline = clientApiUrlsOf(listed.filter(({ isOnline }) => !isOnline));
      if (!this.connection.useControlPlanes(online, offline)) return;
      const { identity, controlPlanes: apiUrls } = this.connection;
      log.info({ controlPlanes: apiUrls }, 'the list of control planes changed');
      await controlPlanes?.save(identity.apiUrl, apiUrls);
    } catch (error) {
      log.debug({ err: messageOf(error) }, 'the list of control planes cannot be read');
    }
  }

  async #inSession<T>(request: JsonRequest, read: SchemaReader<T>, expected = 200): Promise<T> {
    return this.#contentOf(await this.#answerInSession(request), read, expected);
  }

  async #answerInSession(request: JsonRequest): Promise<JsonAnswer> {
    for (let attempt = 1; ; attempt += 1) {
      const { token } = await this.session();
      const headers = { ...request.headers, 'zt-session': token };
      const answer = await this.connection.request({ ...request, headers });
      if (answer.status === 200) void this.#followControlPlanes();
      if (answer.status !== 401 || attempt === 2) return answer;
      this.#options.log.info({}, 'the session with the edge API was lost; logging in again');
      this.forgetSession(token);
    }
  }

  /** For calls that the certificate alone authorizes. */
  async #call<T>(request: JsonRequest, read: SchemaReader<T>): Promise<T> {
    return this.#contentOf(await this.connection.request(request), read, 200);
  }

  async #pages<T>(path: string, read: SchemaReader<readonly T[]>): Promise<T[]> {
    const all: T[] = [];
    let received = 0;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const answer = await this.#answerInSession({
        method: 'GET',
        path: `${path}?limit=${PAGE}&offset=${page * PAGE}`,
      });
      const found = this.#contentOf(answer, read, 200);
      all.push(...found);
      const sent = dataOf(answer);
      const count = Array.isArray(sent) ? sent.length : 0;
      received += count;
      const meta = readPageMeta(answer.json);
      const total = 'value' in meta ? meta.value.meta.pagination.totalCount : 0;
      if (count === 0 || received >= total) break;
    }
    return all;
  }

  #contentOf<T>(answer: JsonAnswer, read: SchemaReader<T>, expected: number): T {
    const { hop } = this.connection;
    checkStatus(answer, expected, hop);
    const content = read(dataOf(answer));
    if (!('value' in content)) throw unreadable(hop, `${content.field} ${content.rule}`.trim());
    const [first] = content.lost;
    if (first !== undefined) {
      const { list, index, field, rule } = first;
      this.#options.log.debug(
        { list, index, field, rule },
        'a part of an answer of the edge API cannot be read',
      );
    }
    return content.value;
  }
}

function isSameSet(one: string, other: string): boolean {
  const [a, b] = [one, other].map(
    (pem) => new Set(certificatesOfPem(pem).map(({ fingerprint256 }) => fingerprint256)),
  );
  return a!.size === b!.size && [...a!].every((fingerprint) => b!.has(fingerprint));
}
