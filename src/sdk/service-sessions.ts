/**
 * Service sessions of one identity, one for each service and type. They are kept, because OpenZiti's controllers answer
 * a repeated request with the id of the session that exists and a token that no router accepts.
 */
import { FrontdoorError, systemClock, type Clock, type ErrorKind } from '#base';
import type { ServiceSession } from './edge-resources.ts';

type SessionType = ServiceSession['type'];

export interface ServiceSessionsOptions {
  create(serviceId: string, type: SessionType): Promise<ServiceSession>;
  readonly clock?: Clock;
}

interface Kept {
  readonly session: Promise<ServiceSession>;
  /** When it is requested again. */
  dueMs: number;
  /** Whether a router refused it, so that it is used again only if the control plane still lists it. */
  wasRefused: boolean;
  isPending: boolean;
}

/** Sessions are requested again at this interval, so that a changed policy takes effect. */
const RENEWAL_MS = 30 * 60_000;
/** Pause before the next request after a failed one. Until then, the former session is used. */
const RETRY_MS = 5_000;
const REFUSALS: ReadonlySet<ErrorKind> = new Set([
  'invalid',
  'unauthenticated',
  'forbidden',
  'notFound',
  'conflict',
]);

export class ServiceSessions {
  readonly #options: ServiceSessionsOptions;
  readonly #clock: Clock;
  readonly #kept = new Map<string, Kept>();

  constructor(options: ServiceSessionsOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /**
   * Returns the session that is kept, or a new one. Concurrent callers share one request. Rejects with the control
   * plane's refusal, which ends a kept session, or, if there is none, with the reason why there was no answer.
   */
  get(serviceId: string, type: SessionType): Promise<ServiceSession> {
    const key = `${type} ${serviceId}`;
    const nowMs = this.#clock.monotonicMs();
    const former = this.#kept.get(key);
    if (former !== undefined && nowMs < former.dueMs) return former.session;
    const kept: Kept = {
      session: this.#request(serviceId, type, former),
      dueMs: nowMs + RENEWAL_MS,
      wasRefused: false,
      isPending: true,
    };
    this.#kept.set(key, kept);
    kept.session.then(
      () => (kept.isPending = false),
      () => {
        if (this.#kept.get(key) === kept) this.#kept.delete(key);
      },
    );
    return kept.session;
  }

  /** Called when a router refused the session. The next call of `get` asks the control plane. */
  refused({ serviceId, type }: Pick<ServiceSession, 'serviceId' | 'type'>): void {
    const kept = this.#kept.get(`${type} ${serviceId}`);
    if (kept === undefined) return;
    kept.dueMs = 0;
    kept.wasRefused = true;
  }

  /**
   * Discards the sessions of this type, whose API session has been replaced. A request in progress is kept, because it
   * may be the one that replaced it.
   */
  forgetAll(type: SessionType): void {
    for (const [key, { isPending }] of this.#kept)
      if (!isPending && key.startsWith(`${type} `)) this.#kept.delete(key);
  }

  async #request(serviceId: string, type: SessionType, former: Kept | undefined): Promise<ServiceSession> {
    const known = await former?.session.catch(() => undefined);
    try {
      const created = await this.#options.create(serviceId, type);
      return known?.id === created.id ? known : created;
    } catch (error) {
      if (known === undefined || former?.wasRefused === true || isRefusal(error)) throw error;
      this.#retrySoon(known);
      return known;
    }
  }

  #retrySoon({ serviceId, type }: ServiceSession): void {
    const kept = this.#kept.get(`${type} ${serviceId}`);
    if (kept !== undefined) kept.dueMs = this.#clock.monotonicMs() + RETRY_MS;
  }
}

/** Whether the control plane responded with a refusal, and not with an error of its own. */
export function isRefusal(error: unknown): boolean {
  return error instanceof FrontdoorError && REFUSALS.has(error.kind);
}
