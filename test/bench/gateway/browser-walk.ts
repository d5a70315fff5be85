/** What a browser does in a log-in: follows redirects, keeps each host's cookies. Names of the zone are on loopback. */
import { request as requestPlain, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as requestSecure } from 'node:https';

const MAX_STEPS = 20;
const DEADLINE_MS = 15_000;

export interface Arrival {
  readonly status: number;
  /** The last address, without its query. */
  readonly at: string;
}

/** Queries of a log-in hold codes. */
function placeOf({ origin, pathname }: URL): string {
  return `${origin}${pathname}`;
}

export class BrowserWalk {
  readonly #ca: string;
  /** Cookies by host, then by name. */
  readonly #cookies = new Map<string, Map<string, string>>();

  constructor(ca: string) {
    this.#ca = ca;
  }

  cookie(host: string, name: string): string | undefined {
    return this.#cookies.get(host)?.get(name);
  }

  /** Follows redirects to their end; throws when they have none. */
  async open(start: string): Promise<Arrival> {
    let url = new URL(start);
    for (let step = 0; step < MAX_STEPS; step += 1) {
      const answer = await this.#get(url);
      answer.resume();
      this.#keep(url.hostname, answer.headers['set-cookie'] ?? []);
      const { statusCode = 0, headers } = answer;
      if (statusCode < 300 || statusCode > 399 || headers.location === undefined)
        return { status: statusCode, at: placeOf(url) };
      url = new URL(headers.location, url);
    }
    throw new Error(`more than ${MAX_STEPS} redirects, the last to ${placeOf(url)}`);
  }

  #get(url: URL): Promise<IncomingMessage> {
    const cookies = [...(this.#cookies.get(url.hostname) ?? [])].map(([name, value]) => `${name}=${value}`);
    const options: RequestOptions & { readonly ca?: string; readonly servername?: string } = {
      host: '127.0.0.1',
      port: url.port,
      path: `${url.pathname}${url.search}`,
      agent: false,
      timeout: DEADLINE_MS,
      headers: {
        host: url.host,
        accept: 'text/html',
        'sec-fetch-mode': 'navigate',
        ...(cookies.length === 0 ? {} : { cookie: cookies.join('; ') }),
      },
      ...(url.protocol === 'https:' ? { ca: this.#ca, servername: url.hostname } : {}),
    };
    return new Promise((resolve, reject) => {
      const request = (url.protocol === 'https:' ? requestSecure : requestPlain)(options, resolve);
      request.on('timeout', () => request.destroy(new Error(`${url.host} did not answer in time`)));
      request.on('error', reject);
      request.end();
    });
  }

  #keep(host: string, lines: readonly string[]): void {
    let cookies = this.#cookies.get(host);
    if (cookies === undefined) this.#cookies.set(host, (cookies = new Map()));
    for (const line of lines) {
      const [pair = '', ...attributes] = line.split(';');
      const at = pair.indexOf('=');
      const name = pair.slice(0, at).trim();
      const isGone = attributes.some((attribute) => /^\s*max-age=0\s*$/i.test(attribute));
      if (isGone) cookies.delete(name);
      else cookies.set(name, pair.slice(at + 1).trim());
    }
  }
}
