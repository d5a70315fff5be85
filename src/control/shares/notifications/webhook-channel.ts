/** Sends signed messages to webhooks, through the client for addresses that other parties name. */
import { FrontdoorError, messageOf, type Clock } from '#base';
import { EgressClient, type EgressClientOptions } from '#net';
import type { Attempt, DestinationChannel, Outgoing } from './destination-channel.ts';
import type { NotificationDestination } from './destination-store.ts';
import { webhookBody, webhookHeaders } from './webhook-message.ts';

const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 65_536;
const MAX_PROBLEM_CHARS = 300;

export type WebhookEgress = Pick<EgressClientOptions, 'allowed' | 'ca' | 'lookup'>;

export class WebhookChannel implements DestinationChannel {
  readonly #client: EgressClient;
  readonly #clock: Clock;

  constructor(egress: WebhookEgress, clock: Clock) {
    this.#client = new EgressClient({
      ...egress,
      timeoutMs: TIMEOUT_MS,
      maxAnswerBytes: MAX_ANSWER_BYTES,
    });
    this.#clock = clock;
  }

  async send({ destination, messages: [message], signal }: Outgoing): Promise<Attempt> {
    const nowMs = this.#clock.nowMs();
    try {
      const body = webhookBody(message!);
      const headers = webhookHeaders(message!.id, body, secretsOf(destination, nowMs), nowMs);
      const url = destination.url ?? '';
      const { status } = await this.#client.send({ method: 'POST', url, headers, body, signal });
      if (status >= 200 && status < 300) return { status, problem: undefined };
      const isRedirect = status >= 300 && status < 400;
      const problem = isRedirect
        ? `the server answered ${status}; redirects are not followed`
        : `the server answered ${status}`;
      return { status, problem };
    } catch (error) {
      const problem = error instanceof FrontdoorError ? error.message : messageOf(error);
      return { status: null, problem: problem.slice(0, MAX_PROBLEM_CHARS) };
    }
  }
}

/** The secrets that sign now: the present one, and the one before during an overlap. */
function secretsOf({ secret, previous }: NotificationDestination, nowMs: number): readonly string[] {
  const former = previous !== null && previous.untilMs > nowMs ? [previous.secret] : [];
  return [...(secret === null ? [] : [secret]), ...former];
}
