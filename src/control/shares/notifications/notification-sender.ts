/**
 * Sends queued notifications. Each control plane takes what is due, one delivery of a destination at a time, so that a slow
 * destination takes one place and delays no other. What fails is sent again later, with pauses of its destination.
 */
import { FrontdoorError, messageOf, type Clock, type Log } from '#base';
import { EgressClient, type EgressClientOptions } from '#net';
import type { Exposition } from '#net/metrics';
import type { Secrets } from '../../secrets/mod.ts';
import { concerns, type Store } from '../../store/mod.ts';
import { pauseMs, retryDelayMs } from './delivery-policy.ts';
import { noteAttempt, takeDueDeliveries, type NotificationDelivery } from './delivery-store.ts';
import {
  findDestination,
  noteFailure,
  noteSuccess,
  type NotificationDestination,
} from './destination-store.ts';
import { webhookBody, webhookHeaders, type NotificationMessage } from './webhook-message.ts';

const PASS_MS = 5_000;
const LEASE_MS = 60_000;
const MAX_RUNNING = 16;
const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 65_536;
const MAX_PROBLEM_CHARS = 300;

export interface NotificationSenderOptions {
  readonly store: Pick<Store, 'db' | 'onChange'>;
  readonly secrets: Pick<Secrets, 'seal' | 'unseal'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly egress: Pick<EgressClientOptions, 'allowed' | 'ca' | 'lookup'>;
  /** From 0 to 1. */
  readonly random?: (() => number) | undefined;
}

export interface Attempt {
  /** HTTP status; null if there was no answer. */
  readonly status: number | null;
  /** Undefined if it was delivered. */
  readonly problem: string | undefined;
}

export class NotificationSender {
  readonly #options: NotificationSenderOptions;
  readonly #client: EgressClient;
  readonly #timer: NodeJS.Timeout;
  /** By destination. */
  readonly #running = new Map<string, Promise<void>>();
  readonly #closing = new AbortController();
  readonly #counts = { delivered: 0, attemptFailed: 0, failed: 0 };
  #taking: Promise<void> | undefined;
  #again = false;

  constructor(options: NotificationSenderOptions) {
    this.#options = options;
    this.#client = new EgressClient({
      ...options.egress,
      timeoutMs: TIMEOUT_MS,
      maxAnswerBytes: MAX_ANSWER_BYTES,
    });
    options.store.onChange((changes) => {
      if (concerns(changes, 'notification')) void this.pass();
    });
    this.#timer = setInterval(() => void this.pass(), PASS_MS);
    this.#timer.unref();
  }

  /** Deliveries that are under way end, and are sent again by the next start or another control plane. */
  async close(): Promise<void> {
    this.#closing.abort();
    clearInterval(this.#timer);
    await this.#taking;
    await this.settled();
  }

  /** Takes what is due now. Never rejects; resolves when everything is under way. */
  pass(): Promise<void> {
    this.#again = this.#taking !== undefined;
    this.#taking ??= this.#takeAll().finally(() => (this.#taking = undefined));
    return this.#taking;
  }

  /** Resolves when nothing is under way. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values());
  }

  /** Sends one message now, beside those that are queued. Never rejects. */
  async attempt(destination: NotificationDestination, message: NotificationMessage): Promise<Attempt> {
    const { clock } = this.#options;
    const nowMs = clock.nowMs();
    try {
      const body = webhookBody(message);
      const headers = webhookHeaders(message.id, body, secretsOf(destination, nowMs), nowMs);
      const { signal } = this.#closing;
      const { status } = await this.#client.send({
        method: 'POST',
        url: destination.url,
        headers,
        body,
        signal,
      });
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

  write(to: Exposition): void {
    const { delivered, attemptFailed, failed } = this.#counts;
    to.family(
      'frontdoor_control_notification_attempts_total',
      'counter',
      'Attempts of this control plane to deliver notifications, by their result',
      [
        [{ result: 'delivered' }, delivered],
        [{ result: 'retried' }, attemptFailed],
        [{ result: 'failed' }, failed],
      ],
    );
  }

  async #takeAll(): Promise<void> {
    const { store, clock, log } = this.#options;
    try {
      do {
        this.#again = false;
        const most = MAX_RUNNING - this.#running.size;
        if (most <= 0 || this.#closing.signal.aborted) return;
        const nowMs = clock.nowMs();
        const taken = await takeDueDeliveries(store.db, {
          nowMs,
          leaseUntilMs: nowMs + LEASE_MS,
          most,
          except: [...this.#running.keys()],
        });
        for (const delivery of taken) this.#start(delivery);
      } while (this.#again);
    } catch (error) {
      log.warn({ cause: messageOf(error) }, 'queued notifications could not be read');
    }
  }

  #start(delivery: NotificationDelivery): void {
    const { destinationId } = delivery;
    const sent = this.#deliver(delivery)
      .catch((error: unknown) => {
        const { log } = this.#options;
        const fields = { destination: destinationId, cause: messageOf(error) };
        log.warn(fields, 'the result of a notification could not be stored; it is sent again');
      })
      .finally(() => {
        this.#running.delete(destinationId);
        if (!this.#closing.signal.aborted) void this.pass();
      });
    this.#running.set(destinationId, sent);
  }

  async #deliver(delivery: NotificationDelivery): Promise<void> {
    const { store, secrets, clock, log, random = Math.random } = this.#options;
    const destination = await findDestination(store.db, secrets, delivery.destinationId);
    if (destination === undefined) return;
    const { eventId: id, type, eventAtMs: atMs, data } = delivery;
    const { status, problem } = await this.attempt(destination, { id, type, atMs, data });
    if (this.#closing.signal.aborted) return;
    const nowMs = clock.nowMs();
    const attempts = delivery.attempts + 1;
    if (problem === undefined) {
      this.#counts.delivered += 1;
      await noteAttempt(store.db, delivery.id, {
        state: 'DELIVERED',
        attempts,
        dueAtMs: nowMs,
        status,
        problem: null,
      });
      await noteSuccess(store.db, destination.id, nowMs);
      return;
    }
    const delayMs = retryDelayMs(attempts, random());
    const isLast = delayMs === undefined;
    this.#counts[isLast ? 'failed' : 'attemptFailed'] += 1;
    await noteAttempt(store.db, delivery.id, {
      state: isLast ? 'FAILED' : 'PENDING',
      attempts,
      dueAtMs: nowMs + (delayMs ?? 0),
      status,
      problem,
    });
    await noteFailure(store.db, destination, problem, nowMs + pauseMs(destination.failures + 1));
    const fields = { destination: destination.id, type, attempts, status, problem };
    if (isLast) log.warn(fields, 'a notification was not delivered');
    else log.info(fields, 'a notification is sent again later');
  }
}

/** The secrets that sign now: the present one, and the one before during an overlap. */
function secretsOf({ secret, previous }: NotificationDestination, nowMs: number): readonly string[] {
  const former = previous !== null && previous.untilMs > nowMs ? [previous.secret] : [];
  return [...(secret === null ? [] : [secret]), ...former];
}
