/** Requests to one share at a fixed rate, each of which needs a new circuit. */
import { request } from 'node:http';

const REQUEST_EACH_MS = 400;
const REQUEST_MS = 20_000;

export class Visitors {
  readonly #port: number;
  readonly #host: string;
  readonly #timer: NodeJS.Timeout;
  readonly #open = new Set<Promise<void>>();
  readonly #failures: { readonly atMs: number; readonly reason: string }[] = [];
  count = 0;
  slowestMs = 0;

  constructor(port: number, host: string) {
    this.#port = port;
    this.#host = host;
    this.#timer = setInterval(() => this.#send(), REQUEST_EACH_MS);
  }

  get failed(): number {
    return this.#failures.length;
  }

  /** The reasons of those that failed, each with its time of `performance.now()`. */
  get failures(): readonly { readonly atMs: number; readonly reason: string }[] {
    return this.#failures;
  }

  /** Returns what happened to requests that began at or after `sinceMs` of `performance.now()`, if any failed. */
  async firstFailure(sinceMs: number): Promise<string | undefined> {
    await this.stop();
    const failed = this.#failures.filter(({ atMs }) => atMs >= sinceMs);
    const [first] = failed;
    if (first === undefined) return undefined;
    return `${failed.length} requests failed, the first ${Math.round(first.atMs - sinceMs)} ms after the share had to answer: ${first.reason}`;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#open);
  }

  #send(): void {
    this.count += 1;
    const sent = this.#ask().finally(() => this.#open.delete(sent));
    this.#open.add(sent);
  }

  async #ask(): Promise<void> {
    const atMs = performance.now();
    const reason = await new Promise<string | undefined>((resolve) => {
      const headers = { host: this.#host, accept: 'application/json' };
      const asked = request({ host: '127.0.0.1', port: this.#port, headers, agent: false });
      asked.setTimeout(REQUEST_MS, () => asked.destroy(new Error('no answer in time')));
      asked.on('error', (error) => resolve(error.message));
      asked.on('response', (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (piece: string) => (text += piece));
        answer.on('error', (error) => resolve(error.message));
        answer.on('end', () =>
          resolve(answer.statusCode === 200 ? undefined : `${answer.statusCode} ${text.slice(0, 200)}`),
        );
      });
      asked.end();
    });
    this.slowestMs = Math.max(this.slowestMs, performance.now() - atMs);
    if (reason !== undefined) this.#failures.push({ atMs, reason });
  }
}
