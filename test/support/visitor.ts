/**
 * A visitor of the gateway without a browser. It keeps cookies by host as browsers do, completes log-ins, and
 * has a loopback address of its own. It sends only the credentials that it is given.
 */
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { goThroughProvider } from './login-browser.ts';

export interface Entrance {
  readonly ca: string;
  readonly plainPort: number;
  readonly securePort: number;
}

export interface Ask {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Whether it sends the headers of a browser's navigation; true when absent. */
  readonly navigates?: boolean;
  /** Uses the plain port. */
  readonly plain?: boolean;
  /** The gateway that is asked; default: the first one. */
  readonly at?: Entrance;
  /** Instead of the host asked for. */
  readonly hostHeader?: string;
  readonly clientCertificate?: { readonly cert: string; readonly key: string };
}

export interface VisitorAnswer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly location: string;
  readonly setCookies: readonly string[];
  readonly text: string;
}

export const SESSION_COOKIE = '__Host-frontdoor-session';
export const LOGIN_COOKIE = '__Host-frontdoor-login';
const NAVIGATION = { accept: 'text/html', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
const ANSWER_MS = 30_000;

let addresses = 0;

export class Visitor {
  readonly cookies = new Map<string, Map<string, string>>();
  /** Log-ins are counted by address. */
  readonly address: string;
  readonly #entrance: Entrance;

  constructor(entrance: Entrance) {
    this.#entrance = entrance;
    addresses += 1;
    this.address = `127.0.${1 + (addresses >> 8)}.${addresses & 255}`;
  }

  cookie(host: string, name: string = SESSION_COOKIE): string | undefined {
    return this.cookies.get(host)?.get(name);
  }

  setCookie(host: string, name: string, value: string): void {
    const jar = this.cookies.get(host) ?? new Map<string, string>();
    jar.set(name, value);
    this.cookies.set(host, jar);
  }

  /** The answer's head and body, the whole of it. */
  async ask(host: string, path: string, options: Ask = {}): Promise<VisitorAnswer> {
    const { response, pieces } = await this.open(host, path, options);
    const chunks: Buffer[] = [];
    for await (const chunk of pieces) chunks.push(chunk as Buffer);
    const setCookies = response.headers['set-cookie'] ?? [];
    return {
      status: response.statusCode ?? 0,
      headers: response.headers,
      location: response.headers.location ?? '',
      setCookies,
      text: Buffer.concat(chunks).toString(),
    };
  }

  /** Resolves when the head is here; the caller reads the body if it wants it. */
  async open(
    host: string,
    path: string,
    options: Ask = {},
  ): Promise<{ readonly response: IncomingMessage; readonly pieces: IncomingMessage }> {
    const { method = 'GET', headers = {}, navigates = true, plain = false, at = this.#entrance } = options;
    const port = plain ? at.plainPort : at.securePort;
    const cookies = [...(this.cookies.get(host) ?? [])].map(([name, value]) => `${name}=${value}`);
    const send = plain ? httpRequest : httpsRequest;
    const sent = send({
      host: '127.0.0.1',
      localAddress: this.address,
      port,
      path,
      method,
      agent: false,
      timeout: ANSWER_MS,
      headers: {
        host: options.hostHeader ?? `${host}:${port}`,
        ...(navigates ? NAVIGATION : {}),
        // A cookie with this prefix never travels in the clear.
        ...(cookies.length === 0 || plain ? {} : { cookie: cookies.join('; ') }),
        ...(headers as Record<string, string>),
      },
      ...(plain ? {} : { servername: host, ca: at.ca, ...options.clientCertificate }),
    });
    // The answer reports a connection that breaks off later.
    sent.on('error', () => {});
    sent.on('timeout', () => sent.destroy(new Error(`no answer within ${ANSWER_MS} ms: ${host}${path}`)));
    sent.end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    this.#keep(host, response.headers['set-cookie'] ?? []);
    return { response, pieces: response };
  }

  /**
   * Starts a log-in, and goes to the provider and back to `oauth.<zone>`. Returns the address that this host
   * redirects to.
   */
  async comeBack(host: string, path: string, user: string, at: Pick<Ask, 'at'> = {}): Promise<URL> {
    const back = await this.provenAt(host, path, user, at);
    const returned = await this.ask(back.hostname, back.pathname + back.search, at);
    if (returned.status !== 302) throw new Error(`not sent back: ${returned.status} ${returned.text}`);
    return new URL(returned.location);
  }

  /** Starts a log-in and goes to the provider. Returns the address that the provider redirects to. */
  async provenAt(host: string, path: string, user: string, at: Pick<Ask, 'at'> = {}): Promise<URL> {
    const started = await this.ask(host, path, at);
    if (started.status !== 302) throw new Error(`not sent to log in: ${started.status} ${started.text}`);
    return goThroughProvider(started.location, { user });
  }

  /** Completes a log-in. Returns the last answer, which sets the session. */
  async logIn(host: string, path: string, user: string, at: Pick<Ask, 'at'> = {}): Promise<VisitorAnswer> {
    const code = await this.comeBack(host, path, user, at);
    return this.ask(code.hostname, code.pathname + code.search, at);
  }

  #keep(host: string, lines: readonly string[]): void {
    for (const line of lines) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/; *max-age=0\b/i.test(line)) this.cookies.get(host)?.delete(name);
      else this.setCookie(host, name, value);
    }
  }
}
