/** What the HTTP APIs of a control plane answered: requests by status, their time, and refused credentials. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Exposition, Labels } from '#net/metrics';
import { noteBackup } from '../backup/mod.ts';

export type ApiName = 'management' | 'edge';

/** Upper bounds of the buckets in seconds. */
const BOUNDS = [0.005, 0.025, 0.1, 0.5, 2.5, 10];
/** Streams end when a client or the program ends them, so their time says nothing about the API. */
const STREAMS = ['text/event-stream', 'application/x-ndjson'];
const UNAUTHENTICATED = 401;
const FORBIDDEN = 403;
const OK = 200;
const LOG_IN_FORM = /\/console\/log-in(?:\/|$)/;
const BACKUP = /\/backup$/;

interface Times {
  readonly counts: number[];
  sum: number;
}

export class ApiMeter {
  readonly #requests = new Map<string, { readonly labels: Labels; count: number }>();
  readonly #times = new Map<ApiName, Times>();
  readonly #refused: Record<ApiName | 'console', number> = { management: 0, edge: 0, console: 0 };
  readonly #parts: Parameters<typeof noteBackup>[0];

  /** Notes each backup that was sent completely, with the parts. */
  constructor(parts: Parameters<typeof noteBackup>[0]) {
    this.#parts = parts;
  }

  watch(api: ApiName, server: Pick<Server, 'on'>): void {
    this.#times.set(api, { counts: BOUNDS.map(() => 0).concat(0), sum: 0 });
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const startMs = performance.now();
      const { method = '', url = '/' } = request;
      response.once('close', () => {
        const path = url.split('?', 1)[0]!;
        this.#answered(api, method, path, response, (performance.now() - startMs) / 1_000);
      });
    });
  }

  write(to: Exposition): void {
    to.family(
      'frontdoor_control_api_requests_total',
      'counter',
      'Requests that an API has answered, by status',
      Array.from(this.#requests.values(), ({ labels, count }) => [labels, count] as const),
    );
    to.histogram(
      'frontdoor_control_api_request_seconds',
      'Seconds until the end of an answer; streams are left out',
      BOUNDS,
      Array.from(this.#times, ([api, times]) => [{ api }, times] as const),
    );
    to.family(
      'frontdoor_control_refused_credentials_total',
      'counter',
      'Requests and log-ins with wrong, ended or missing credentials',
      Object.entries(this.#refused).map(([at, count]) => [{ at }, count] as const),
    );
  }

  #answered(api: ApiName, method: string, path: string, response: ServerResponse, seconds: number): void {
    const { statusCode, headersSent, writableFinished } = response;
    // The client went first.
    if (!headersSent) return;
    const key = `${api} ${statusCode}`;
    const counted = this.#requests.get(key);
    if (counted === undefined)
      this.#requests.set(key, { labels: { api, status: String(statusCode) }, count: 1 });
    else counted.count += 1;
    if (method === 'POST' && LOG_IN_FORM.test(path)) {
      if (statusCode === FORBIDDEN) this.#refused.console += 1;
    } else if (statusCode === UNAUTHENTICATED) this.#refused[api] += 1;
    if (method === 'GET' && statusCode === OK && writableFinished && BACKUP.test(path))
      noteBackup(this.#parts);
    const type = String(response.getHeader('content-type') ?? '');
    if (STREAMS.some((stream) => type.startsWith(stream))) return;
    const times = this.#times.get(api)!;
    const bucket = BOUNDS.findIndex((bound) => seconds <= bound);
    times.counts[bucket < 0 ? BOUNDS.length : bucket]! += 1;
    times.sum += seconds;
  }
}
