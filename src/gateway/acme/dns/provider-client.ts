/**
 * The HTTP client for the API of a DNS provider: bounds in time and size, a few retries of requests that may succeed later,
 * and errors that name what to correct and repeat no secret.
 */
import { HIDDEN, messageOf, systemClock, type FrontdoorError, type Secret } from '#base';
import type { OutwardDialer } from '#net';
import { JsonClient, type JsonAnswer, type JsonRequest } from '#net/http';
import { parseRetryAfter } from '../order-failure.ts';
import { providerFailure } from './dns-provider.ts';

const MAX_TRIES = 4;
const REQUEST_MS = 20_000;
const MAX_ANSWER_BYTES = 1_048_576;
const FIRST_PAUSE_MS = 1_000;
/** A provider that asks for more time is asked again by the next order. */
const LONGEST_PAUSE_MS = 120_000;
const MAX_REASON_CHARS = 300;

export interface ProviderClientOptions {
  /** For messages, for example "Cloudflare". */
  readonly title: string;
  readonly origin: string;
  readonly outward: OutwardDialer;
  /** What no message may contain. */
  readonly secrets: readonly Secret[];
  /** Whether a response besides 429 and 5xx is about a moment only. */
  readonly isTemporary?: ((answer: JsonAnswer) => boolean) | undefined;
  /** Finds the reason in the response of a failed request. */
  readonly reasonOf: (answer: JsonAnswer) => string | undefined;
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
}

export class ProviderClient {
  readonly #options: ProviderClientOptions;
  readonly #http: JsonClient;

  constructor(options: ProviderClientOptions) {
    this.#options = options;
    const { origin, outward } = options;
    this.#http = new JsonClient({
      origin,
      outward,
      timeoutMs: REQUEST_MS,
      maxAnswerBytes: MAX_ANSWER_BYTES,
    });
  }

  /**
   * Resolves with any response that is not temporary. `make` makes the request again for each try. Rejects with
   * `dns-provider-failed`, and when the signal aborts.
   */
  async send(make: () => JsonRequest, signal: AbortSignal): Promise<JsonAnswer> {
    const { title, isTemporary = () => false } = this.#options;
    for (let tries = 1; ; tries += 1) {
      const { answer, error } = await this.#try(make(), signal);
      if (answer !== undefined && !isLater(answer.status) && !isTemporary(answer)) return answer;
      const reason = answer === undefined ? messageOf(error) : this.reason(answer);
      if (tries === MAX_TRIES) throw providerFailure(`${title} failed ${MAX_TRIES} times: ${reason}`, error);
      const askedMs =
        answer === undefined ? 0 : parseRetryAfter(answer.headers['retry-after'], systemClock.nowMs());
      if (askedMs > LONGEST_PAUSE_MS)
        throw providerFailure(`${title} asks to wait ${Math.ceil(askedMs / 1_000)} s: ${reason}`);
      await this.#options.pause(Math.max(askedMs, FIRST_PAUSE_MS * 2 ** (tries - 1)), signal);
    }
  }

  /** The status and the provider's own text, without secrets. */
  reason(answer: JsonAnswer): string {
    const text = this.#options.reasonOf(answer) ?? '';
    const shown = this.#withoutSecrets(text).replaceAll(/\s+/g, ' ').trim().slice(0, MAX_REASON_CHARS);
    return shown === '' ? `HTTP ${answer.status}` : `${shown} (HTTP ${answer.status})`;
  }

  /** The error of a request that failed, for example `'add a record at _acme-challenge.example.com'`. */
  failure(action: string, answer: JsonAnswer): FrontdoorError {
    return providerFailure(`${this.#options.title} did not ${action}: ${this.reason(answer)}`);
  }

  /** The error of a request that lacks a right. */
  refusal(source: string, rights: string, answer: JsonAnswer): FrontdoorError {
    const { title } = this.#options;
    return providerFailure(
      `${title} refuses what ${source} holds: ${this.reason(answer)}; it needs ${rights}`,
    );
  }

  close(): Promise<void> {
    return this.#http.close();
  }

  async #try(
    request: JsonRequest,
    signal: AbortSignal,
  ): Promise<{ readonly answer?: JsonAnswer; readonly error?: unknown }> {
    try {
      return { answer: await this.#http.request({ ...request, signal }) };
    } catch (error) {
      signal.throwIfAborted();
      return { error };
    }
  }

  #withoutSecrets(text: string): string {
    return this.#options.secrets.reduce((shown, secret) => shown.replaceAll(secret.reveal(), HIDDEN), text);
  }
}

function isLater(status: number): boolean {
  return status === 429 || status >= 500;
}

/** More labels than these are in no zone's name. */
const MAX_ZONES = 10;

/** The zones that a name may be in, the most specific first; top-level domains are not among them. */
export function zonesAbove(name: string): readonly string[] {
  const labels = name.split('.');
  const zones = labels.slice(0, -1).map((_, at) => labels.slice(at).join('.'));
  return zones.slice(-MAX_ZONES);
}
