/**
 * Requests at a fixed rate, independent of those before them: every other one over a connection of its own,
 * the rest over kept connections. Each is recorded with its time, so that an outage appears as clients see
 * it.
 */
import { Agent, request } from 'node:http';

export interface SteadyProbesOptions {
  /** Plain listeners, one after the other. */
  readonly ports: readonly number[];
  readonly host: string;
  /** The expected body of the answer. */
  readonly body: string;
  readonly perSecond: number;
}

export interface Probe {
  readonly atMs: number;
  readonly tookMs: number;
  /** Undefined for an expected answer. */
  readonly failure: string | undefined;
}

const PROBE_MS = 15_000;
const KEPT_CONNECTIONS = 8;

export class SteadyProbes {
  readonly all: Probe[] = [];
  readonly #options: SteadyProbesOptions;
  readonly #kept = new Agent({ keepAlive: true, maxSockets: KEPT_CONNECTIONS });
  readonly #timer: NodeJS.Timeout;
  readonly #open = new Set<Promise<void>>();
  #count = 0;

  constructor(options: SteadyProbesOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#send(), 1_000 / options.perSecond);
  }

  /** Those that began at or after `atMs` of `performance.now()`. */
  since(atMs: number): ProbeSummary {
    return summaryOf(this.all.filter((probe) => probe.atMs >= atMs));
  }

  /** Resolves when those under way have ended. */
  async stop(): Promise<ProbeSummary> {
    clearInterval(this.#timer);
    await Promise.all(this.#open);
    this.#kept.destroy();
    return summaryOf(this.all);
  }

  #send(): void {
    const probe = this.#probe((this.#count += 1)).finally(() => this.#open.delete(probe));
    this.#open.add(probe);
  }

  async #probe(number: number): Promise<void> {
    const { ports, host, body } = this.#options;
    const atMs = performance.now();
    // Four in a row go to each port: fresh and kept connections, kept circuits and new ones.
    const port = ports[(number >> 2) % ports.length]!;
    const agent = number % 2 === 0 ? this.#kept : undefined;
    // Every other pair asks for an answer that leaves no circuit behind.
    const path = number % 4 < 2 ? '/' : '/once';
    const failure = await ask({ port, host, path, body, agent });
    this.all.push({ atMs, tookMs: performance.now() - atMs, failure });
  }
}

export interface ProbeSummary {
  readonly count: number;
  readonly failed: number;
  /** Time from the begin of the first failed request to that of the last. */
  readonly outageMs: number;
  readonly slowestMs: number;
  /** How often each reason was given. */
  readonly reasons: Readonly<Record<string, number>>;
}

function summaryOf(probes: readonly Probe[]): ProbeSummary {
  const failed = probes.filter(({ failure }) => failure !== undefined);
  const reasons: Record<string, number> = {};
  for (const { failure } of failed) reasons[failure!] = (reasons[failure!] ?? 0) + 1;
  const times = failed.map(({ atMs }) => atMs);
  return {
    count: probes.length,
    failed: failed.length,
    outageMs: failed.length === 0 ? 0 : Math.max(...times) - Math.min(...times),
    slowestMs: probes.reduce((most, { tookMs }) => Math.max(most, tookMs), 0),
    reasons,
  };
}

interface Question {
  readonly port: number;
  readonly host: string;
  readonly path: string;
  readonly body: string;
  readonly agent: Agent | undefined;
}

function ask(question: Question): Promise<string | undefined> {
  const { port, host, path, body, agent } = question;
  return new Promise((resolve) => {
    const headers = { host, accept: 'application/json' };
    const to = { host: '127.0.0.1', port, path, headers };
    const asked = request({ ...to, agent: agent ?? false, timeout: PROBE_MS });
    asked.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
      response.on('end', () => {
        const isGood = response.statusCode === 200 && text === body;
        resolve(isGood ? undefined : `${response.statusCode} ${codeOf(text)}`);
      });
      response.on('error', (error) => resolve(`broken answer: ${error.message}`));
    });
    asked.on('timeout', () => asked.destroy(new Error('no answer in time')));
    asked.on('error', (error: NodeJS.ErrnoException) => {
      // As every client does: a kept connection may have been closed in the meantime, by a gateway that may do so.
      if (asked.reusedSocket && error.code === 'ECONNRESET') resolve(ask({ ...question, agent: undefined }));
      else resolve(error.code ?? error.message);
    });
    asked.end();
  });
}

/** Error code of an error page; for another text its beginning. */
function codeOf(text: string): string {
  try {
    const { error } = JSON.parse(text) as { error?: { code?: string } | string };
    return (typeof error === 'string' ? error : error?.code) ?? text.slice(0, 60);
  } catch {
    return text.slice(0, 60);
  }
}
