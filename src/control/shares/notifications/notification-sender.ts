/**
 * Sends queued notifications. Each control plane takes what is due, one delivery of a destination at a time, so that a slow
 * destination takes one place and delays no other. What fails is sent again later, with pauses of its destination.
 */
import { messageOf, type Clock, type Log } from '#base';
import type { Exposition } from '#net/metrics';
import type { Secrets } from '../../secrets/mod.ts';
import { concerns, type Store } from '../../store/mod.ts';
import { pauseMs, retryDelayMs } from './delivery-policy.ts';
import {
  noteAttempt,
  takeDueDeliveries,
  type AttemptOutcome,
  type NotificationDelivery,
} from './delivery-store.ts';
import type { Attempt, DestinationChannel, NotificationMessage } from './destination-channel.ts';
import {
  findDestination,
  noteFailure,
  noteSuccess,
  type DestinationType,
  type NotificationDestination,
} from './destination-store.ts';
import { MailChannel } from './mail-channel.ts';
import type { Mailer } from './mailer.ts';
import { WebhookChannel, type WebhookEgress } from './webhook-channel.ts';

const PASS_MS = 5_000;
const LEASE_MS = 60_000;
const MAX_RUNNING = 16;
const MAX_PROBLEM_CHARS = 300;
const COUNTED = { DELIVERED: 'delivered', PENDING: 'attemptFailed', FAILED: 'failed' } as const;

export interface NotificationSenderOptions {
  readonly store: Pick<Store, 'db' | 'onChange'>;
  readonly secrets: Pick<Secrets, 'seal' | 'unseal' | 'hmac'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly egress: WebhookEgress;
  /** Undefined if the operator configured no mail server. */
  readonly mailer?: Pick<Mailer, 'send'> | undefined;
  /** Address of the console, for links in mail; undefined if there is none. */
  readonly consoleUrl?: (() => string | undefined) | undefined;
  /** From 0 to 1. */
  readonly random?: (() => number) | undefined;
}

export class NotificationSender {
  readonly #options: NotificationSenderOptions;
  readonly #channels: Readonly<Record<DestinationType, DestinationChannel>>;
  readonly #timer: NodeJS.Timeout;
  /** By destination. */
  readonly #running = new Map<string, Promise<void>>();
  readonly #closing = new AbortController();
  readonly #counts = { delivered: 0, attemptFailed: 0, failed: 0 };
  #taking: Promise<void> | undefined;
  #again = false;

  constructor(options: NotificationSenderOptions) {
    this.#options = options;
    const { store, secrets, clock, mailer, consoleUrl = () => undefined } = options;
    this.#channels = {
      webhook: new WebhookChannel(options.egress, clock),
      email: new MailChannel({ mailer, store, secrets, clock, consoleUrl }),
    };
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

  /** Whether there can be destinations of type email. */
  get hasMail(): boolean {
    return this.#options.mailer !== undefined;
  }

  /** Sends one message now, beside those that are queued. Never rejects. */
  attempt(destination: NotificationDestination, message: NotificationMessage): Promise<Attempt> {
    return this.#attempt(destination, [message], []);
  }

  async #attempt(
    destination: NotificationDestination,
    messages: readonly NotificationMessage[],
    accepted: readonly string[],
  ): Promise<Attempt> {
    const { signal } = this.#closing;
    try {
      return await this.#channels[destination.type].send({ destination, messages, accepted, signal });
    } catch (error) {
      return { status: null, problem: messageOf(error).slice(0, MAX_PROBLEM_CHARS) };
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
        for (const batch of taken) this.#start(batch);
      } while (this.#again);
    } catch (error) {
      log.warn({ cause: messageOf(error) }, 'queued notifications could not be read');
    }
  }

  #start(batch: readonly NotificationDelivery[]): void {
    const { destinationId } = batch[0]!;
    const sent = this.#deliver(destinationId, batch)
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

  /** The batch is one message. */
  async #deliver(destinationId: string, batch: readonly NotificationDelivery[]): Promise<void> {
    const { store, secrets, clock } = this.#options;
    const destination = await findDestination(store.db, secrets, destinationId);
    if (destination === undefined) return;
    const deliveries = batch.toSorted((one, other) => one.eventAtMs - other.eventAtMs);
    const messages = deliveries.map(({ eventId: id, type, eventAtMs: atMs, data }) => ({
      id,
      type,
      atMs,
      data,
    }));
    const attempt = await this.#attempt(destination, messages, deliveries[0]!.accepted);
    if (this.#closing.signal.aborted) return;
    const outcomes = this.#outcomesOf(deliveries, attempt);
    for (const [index, outcome] of outcomes.entries())
      await noteAttempt(store.db, deliveries[index]!.id, outcome);
    this.#report(deliveries[0]!, outcomes);
    const nowMs = clock.nowMs();
    if (attempt.problem === undefined) await noteSuccess(store.db, destination.id, nowMs);
    else if (attempt.waitUntilMs === undefined)
      await noteFailure(store.db, destination, attempt.problem, nowMs + pauseMs(destination.failures + 1));
  }

  #report(
    { destinationId: destination, type }: NotificationDelivery,
    outcomes: readonly AttemptOutcome[],
  ): void {
    const { log } = this.#options;
    const { status, problem, attempts, state } = outcomes[0]!;
    if (problem === null) return;
    const fields = { destination, type, messages: outcomes.length, attempts, status, problem };
    if (state === 'FAILED') log.warn(fields, 'a notification was not delivered');
    else log.info(fields, 'a notification is sent again later');
  }

  /** Those that are sent again have the same time, so that they are one message again. */
  #outcomesOf(deliveries: readonly NotificationDelivery[], attempt: Attempt): readonly AttemptOutcome[] {
    const { clock, random = Math.random } = this.#options;
    const { status, problem = null, isFinal = false, waitUntilMs } = attempt;
    const nowMs = clock.nowMs();
    const drawn = random();
    return deliveries.map(({ attempts: before, accepted: had }) => {
      const accepted = attempt.accepted ?? had;
      if (waitUntilMs !== undefined)
        return { state: 'PENDING', attempts: before, dueAtMs: waitUntilMs, status, problem, accepted };
      const attempts = before + 1;
      const delayMs = problem === null || isFinal ? undefined : retryDelayMs(attempts, drawn);
      const state = problem === null ? 'DELIVERED' : delayMs === undefined ? 'FAILED' : 'PENDING';
      this.#counts[COUNTED[state]] += 1;
      return { state, attempts, dueAtMs: nowMs + (delayMs ?? 0), status, problem, accepted };
    });
  }
}
