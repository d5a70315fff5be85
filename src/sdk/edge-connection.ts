/**
 * Requests to the edge API with the certificate of one identity, over kept connections, at the control plane that
 * `ControlPlaneChoice` selects. With several control planes, a request that one does not answer goes to the next: at
 * once when no connection can be made, and when a probe of it fails that starts after `PATIENCE_MS`. It knows nothing of
 * what is asked: `EdgeApiClient` is OpenZiti's API over it, `AgentApiClient` and `GatewayApiClient` are ours.
 */
import { clockProblem, FrontdoorError, messageOf, systemClock, type Clock, type Log } from '#base';
import { directDialer, type OutwardDialer } from '#net';
import type { IdentityFile } from '#net/files';
import { isRepeatable, JsonClient, type JsonAnswer, type JsonRequest, type StreamAnswer } from '#net/http';
import { ControlPlaneChoice } from './control-plane-choice.ts';

export interface EdgeConnectionOptions {
  readonly identity: IdentityFile;
  readonly log: Log;
  /** Whole requests; 10 s by default. */
  readonly timeoutMs?: number | undefined;
  /** Addresses of further control planes, from a list that an authenticated one sent. */
  readonly controlPlanes?: readonly string[] | undefined;
  readonly clock?: Clock | undefined;
  /** Selects among control planes and spreads returns. From 0 to below 1. */
  readonly random?: (() => number) | undefined;
  /** By default servers are reached directly. */
  readonly outward?: OutwardDialer | undefined;
}

const REQUEST_MS = 10_000;
/** Without a response for this time, a control plane is probed over a new connection. */
export const PATIENCE_MS = 700;
/** With `PATIENCE_MS` less than 2 s, in which clients have to use another one. */
export const PROBE_MS = 1_000;
/** A mark of our control planes, which changes with their authorities. */
const AUTHORITIES_HEADER = 'frontdoor-authorities';
const PROBE_PATH = '/edge/client/v1/version';
/** Answers of a control plane that cannot do its work, or of a load balancer without one. */
const ABSENCE: ReadonlySet<number> = new Set([502, 503, 504]);

/** The connections to one control plane. */
interface Place {
  readonly http: JsonClient;
  /** One for each request that waits for its response. */
  readonly waiting: Set<AbortController>;
  /** Aborts streams. */
  readonly left: AbortController;
  probe: Promise<boolean> | undefined;
}

export class EdgeConnection {
  readonly #log: Log;
  readonly #timeoutMs: number;
  readonly #choice: ControlPlaneChoice;
  readonly #places = new Map<string, Place>();
  readonly #authoritiesListeners: (() => void)[] = [];
  #authoritiesMark: string | undefined;
  #clockProblem: string | undefined;
  /** Opens the connections to control planes, and those to routers. */
  readonly outward: OutwardDialer;
  #identity: IdentityFile;
  #isClosed = false;

  constructor(options: EdgeConnectionOptions) {
    const { identity, clock = systemClock, random, controlPlanes = [] } = options;
    this.#log = options.log;
    this.outward = options.outward ?? directDialer;
    this.#timeoutMs = options.timeoutMs ?? REQUEST_MS;
    this.#identity = identity;
    this.#choice = new ControlPlaneChoice({ home: identity.apiUrl, clock, random });
    this.#choice.replace(controlPlanes);
  }

  get identity(): IdentityFile {
    return this.#identity;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** `https://host:port` of the control plane in use. */
  get apiUrl(): string {
    return this.#choice.current;
  }

  /** Addresses of all control planes, the one of the enrollment first. */
  get controlPlanes(): readonly string[] {
    return this.#choice.urls;
  }

  /** How the clock of this machine differs from that of the control plane, by its last answer; undefined: not at all. */
  get clockProblem(): string | undefined {
    return this.#clockProblem;
  }

  /** For messages: `the edge API at https://…`. */
  get hop(): string {
    return `the edge API at ${this.#choice.current}`;
  }

  /**
   * Replaces the list of control planes, which has to come from an authenticated one. Those offline are used only if
   * all others fail. Returns whether the list changed.
   */
  useControlPlanes(online: readonly string[], offline: readonly string[]): boolean {
    return this.#choice.replace(online, offline);
  }

  /** Called when a control plane of Frontdoor states in a response that its authorities changed. */
  onAuthoritiesChange(listener: () => void): void {
    this.#authoritiesListeners.push(listener);
  }

  async request(request: JsonRequest): Promise<JsonAnswer> {
    const answer = await this.#request(request);
    this.#sawAuthorities(answer.headers[AUTHORITIES_HEADER]);
    this.#sawDate(answer.headers['date']);
    return answer;
  }

  /** A wrong clock is logged once, until it is right again. */
  #sawDate(date: unknown): void {
    const serverMs = Date.parse(String(date));
    const problem = Number.isNaN(serverMs) ? undefined : clockProblem(serverMs, systemClock.nowMs());
    if (problem !== undefined && this.#clockProblem === undefined)
      this.#log.warn({ hop: this.hop, problem }, 'the clocks of this machine and the control plane differ');
    this.#clockProblem = problem;
  }

  #sawAuthorities(mark: unknown): void {
    if (typeof mark !== 'string' || mark === this.#authoritiesMark) return;
    const isFirst = this.#authoritiesMark === undefined;
    this.#authoritiesMark = mark;
    if (!isFirst) for (const listener of this.#authoritiesListeners) listener();
  }

  #request(request: JsonRequest): Promise<JsonAnswer> {
    if (this.#choice.urls.length === 1) return this.#placeOf(this.#choice.current).http.request(request);
    const deadline = AbortSignal.timeout(this.#timeoutMs);
    return this.#around(request, { deadline }, async ({ http, waiting }, more) => {
      // Not the signal of the place, because a signal that outlives its requests retains what is derived from it.
      const attempt = new AbortController();
      waiting.add(attempt);
      try {
        return await http.request({ ...request, ...more, signal: attempt.signal });
      } finally {
        waiting.delete(attempt);
      }
    });
  }

  /** See `JsonClient.stream`. It breaks when its control plane stops responding to other requests. */
  stream(request: JsonRequest, silenceMs: number, signal: AbortSignal): Promise<StreamAnswer> {
    if (this.#choice.urls.length === 1)
      return this.#placeOf(this.#choice.current).http.stream(request, silenceMs, signal);
    const deadline = AbortSignal.timeout(this.#timeoutMs);
    return this.#around(request, { deadline, cancel: signal }, ({ http, left }, more) =>
      http.stream({ ...request, ...more }, silenceMs, AbortSignal.any([signal, left.signal])),
    );
  }

  /** Later requests use the renewed certificate. Those that run end with the former one, which is valid until then. */
  useIdentity(identity: IdentityFile): void {
    const old = [...this.#places.values()];
    this.#identity = identity;
    this.#places.clear();
    for (const { http, left } of old) {
      left.abort(new Error('the client uses another identity'));
      http.retire();
    }
  }

  /** Whether the control plane in use has a certificate of these authorities (PEM), over a new connection. */
  isVerifiedWith(caPem: string): Promise<boolean> {
    return this.#respondsTo(this.#open(this.#choice.current, this.#timeoutMs, caPem));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#places.values()].map(({ http }) => http.close()));
  }

  /** Sends the request to one control plane after the other, to each at most once. */
  async #around<A extends { readonly status: number }>(
    request: JsonRequest,
    { deadline, cancel }: { readonly deadline: AbortSignal; readonly cancel?: AbortSignal },
    send: (place: Place, more: { readonly onSent: () => void }) => Promise<A>,
  ): Promise<A> {
    this.#lookHome();
    const tried = new Set<string>();
    let absent: A | undefined;
    for (;;) {
      const url = this.#choice.next(tried)!;
      tried.add(url);
      const isLast = this.#choice.next(tried) === undefined;
      let wasSent = false;
      const stopWatching = isLast ? undefined : this.#watch(url);
      try {
        const answer = await send(this.#placeOf(url), { onSent: () => (wasSent = true) });
        if (!ABSENCE.has(answer.status)) {
          // An answer that comes after a change between control planes does not undo it.
          if (tried.size > 1) this.#choice.use(url);
          return answer;
        }
        absent ??= answer;
        if (isLast || !isRepeatable(request)) return absent;
      } catch (error) {
        if (this.#isClosed || cancel?.aborted === true || !isAbsence(error)) throw error;
        this.#leave(url, messageOf(error));
        if (isLast && absent !== undefined) return absent;
        if (isLast || deadline.aborted || (wasSent && !isRepeatable(request))) throw error;
      } finally {
        stopWatching?.();
      }
    }
  }

  /** Probes a control plane that is slow to respond. If the probe fails, all that waits for it is aborted. */
  #watch(url: string): () => void {
    let isOver = false;
    const timer = setTimeout(() => {
      void this.#probe(url).then((isSound) => {
        if (isOver || isSound || this.#isClosed || !this.#choice.hasBetter(url)) return;
        const reason = new Error('it accepts connections and does not respond');
        this.#leave(url, reason.message);
        const place = this.#places.get(url);
        this.#places.delete(url);
        if (place === undefined) return;
        place.left.abort(reason);
        for (const request of place.waiting) request.abort(reason);
        void place.http.close();
      });
    }, PATIENCE_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }

  #leave(url: string, error: string): void {
    const next = this.#choice.failed(url);
    if (next !== undefined) this.#log.warn({ from: url, to: next, error }, 'using another control plane');
  }

  /** Returns to the home when it is time and it responds. Streams continue where they are. */
  #lookHome(): void {
    const { home } = this.#choice;
    if (!this.#choice.isReturnDue) return;
    this.#choice.postponeReturn();
    void this.#probe(home).then((isSound) => {
      if (!isSound || this.#isClosed) return;
      this.#choice.use(home);
      this.#log.info({ to: home }, 'the control plane of the enrollment is back and used again');
    });
  }

  /** Whether it responds over a new connection. One probe at a time. Never rejects. */
  #probe(url: string): Promise<boolean> {
    const place = this.#placeOf(url);
    place.probe ??= this.#ask(url).finally(() => (place.probe = undefined));
    return place.probe;
  }

  #ask(url: string): Promise<boolean> {
    return this.#respondsTo(this.#open(url, PROBE_MS));
  }

  /** Closes the client. Never rejects. */
  async #respondsTo(http: JsonClient): Promise<boolean> {
    try {
      return (await http.request({ method: 'GET', path: PROBE_PATH })).status === 200;
    } catch {
      return false;
    } finally {
      await http.close();
    }
  }

  #placeOf(url: string): Place {
    let place = this.#places.get(url);
    if (place === undefined) {
      place = {
        http: this.#open(url, this.#timeoutMs),
        waiting: new Set<AbortController>(),
        left: new AbortController(),
        probe: undefined,
      };
      this.#places.set(url, place);
    }
    return place;
  }

  #open(origin: string, timeoutMs: number, ca = this.#identity.caPem): JsonClient {
    const { certPem, keyPem } = this.#identity;
    return new JsonClient({ origin, ca, certPem, keyPem, timeoutMs, outward: this.outward });
  }
}

function isAbsence(error: unknown): boolean {
  return error instanceof FrontdoorError && (error.kind === 'unavailable' || error.kind === 'timeout');
}
