/**
 * Clients that ask again and again: some over a connection that they keep, some over a new one each time. Every answer
 * is judged; anything but a whole answer of the service is a failure, reported with its reason.
 */
import { Agent as HttpAgent, request as httpRequest, type RequestOptions } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';

export interface SteadyRequestsOptions {
  readonly port: number;
  readonly host: string;
  /** Over TLS, with this server name and without judging the certificate. */
  readonly isSecure?: boolean;
  readonly path?: string;
  /** The expected body. */
  readonly body: string;
  /** Clients that keep their connection, and clients that make a new one for each request. */
  readonly keeping: number;
  readonly fresh: number;
}

const REQUEST_MS = 30_000;
/** Between an answer and the next request of a client: all that happens meets requests, and the machine has time for it. */
const PAUSE_MS = 10;

export class SteadyRequests {
  answered = 0;
  readonly failures: string[] = [];
  readonly #options: SteadyRequestsOptions;
  readonly #loops: Promise<void>[];
  #isOver = false;

  constructor(options: SteadyRequestsOptions) {
    this.#options = options;
    const kinds = [
      ...Array.from({ length: options.keeping }, () => true),
      ...Array.from({ length: options.fresh }, () => false),
    ];
    this.#loops = kinds.map((keeps) => this.#loop(keeps));
  }

  get summary(): string {
    const total = this.answered + this.failures.length;
    return `${this.answered} of ${total}, ${this.failures.length} failed: ${this.failures.slice(0, 5).join('; ')}`;
  }

  /** Resolves when the requests that are under way have ended. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#loops);
  }

  async #loop(keepAlive: boolean): Promise<void> {
    const { isSecure = false } = this.#options;
    const agent = isSecure
      ? new HttpsAgent({ keepAlive, maxSockets: 1 })
      : new HttpAgent({ keepAlive, maxSockets: 1 });
    while (!this.#isOver) {
      const failure = await this.#ask(agent);
      if (failure === undefined) this.answered += 1;
      else this.failures.push(`${keepAlive ? 'kept' : 'fresh'}: ${failure}`);
      if (!this.#isOver) await pause(PAUSE_MS);
    }
    agent.destroy();
  }

  #ask(agent: HttpAgent | HttpsAgent): Promise<string | undefined> {
    const { port, host, isSecure = false, path = '/', body } = this.#options;
    const options: RequestOptions = {
      host: '127.0.0.1',
      port,
      path,
      headers: { host },
      agent,
      timeout: REQUEST_MS,
    };
    return new Promise((resolve) => {
      const request = isSecure
        ? httpsRequest({ ...options, servername: host, rejectUnauthorized: false })
        : httpRequest(options);
      request.on('response', (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
        response.on('end', () => {
          const isGood = response.statusCode === 200 && text === body;
          resolve(isGood ? undefined : `${response.statusCode} ${text.slice(0, 80)}`);
        });
        response.on('error', (error) => resolve(`broken answer: ${error.message}`));
      });
      request.on('timeout', () => request.destroy(new Error('no answer in time')));
      request.on('error', (error: NodeJS.ErrnoException) =>
        resolve(`${error.code ?? error.message}${request.reusedSocket ? ' on a kept connection' : ''}`),
      );
      request.end();
    });
  }
}
