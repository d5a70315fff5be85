/**
 * Requests circuits from a controller. Within the same dial it asks another controller if the first one disconnects
 * before it answers, knows no path, or stops responding at all. Without a connected controller a request waits for a
 * short time, so that a restart of the control plane delays circuits but does not fail them.
 */
import { FrontdoorError, messageOf } from '#base';
import { ChannelError } from '#net/channel';
import type { Frame } from '#wire';
import { SILENCE_LIMITS, SilenceWatch, type SilenceLimits } from './silence-watch.ts';
import type { Controller, Controllers } from './controllers.ts';

/** Time after the loss of the last controller in which requests wait. After that they fail at once. */
export const CONTROLLER_RETURN_MS = 5_000;
/** Maximum number of requests that wait for a controller. */
const MAX_WAITING = 4_096;
/**
 * Time after the end of a dial in which its answer is still expected. A circuit that it grants would remain otherwise,
 * and its host would wait for the first payload.
 */
const LATE_ANSWER_MS = 30_000;
/** Maximum number of late answers that are expected. */
const MAX_LATE = 8_192;

export interface CircuitAnswer {
  readonly answer: Frame;
  readonly controller: Controller;
}

export interface CircuitQuestion {
  readonly frame: Frame;
  readonly timeoutMs: number;
  /** Returns true if another controller could give a better answer. */
  mayKnowBetter(answer: Frame): boolean;
  /**
   * Called with an answer that arrives after that of another controller, or after the time limit. A circuit that it
   * grants has to be reported as ended.
   */
  onUnused(unused: CircuitAnswer): void;
}

type Outcome = CircuitAnswer | { readonly error: unknown; readonly controller: Controller };

export class CircuitAsker {
  readonly #controllers: Controllers;
  readonly #limits: SilenceLimits;
  readonly #waiting = new Set<() => void>();
  #lateCount = 0;
  #lostMs: number | undefined;

  constructor(controllers: Controllers, limits: SilenceLimits = SILENCE_LIMITS) {
    this.#controllers = controllers;
    this.#limits = limits;
    controllers.onConnected(() => {
      this.#lostMs = undefined;
      for (const wake of [...this.#waiting]) wake();
    });
    controllers.onDisconnected(() => {
      if (controllers.best() === undefined) this.#lostMs = performance.now();
    });
  }

  /**
   * Rejects with a `FrontdoorError` `no-controller` (unavailable), or with a `ChannelError` if the answer was late.
   */
  async ask(question: CircuitQuestion): Promise<CircuitAnswer> {
    const { timeoutMs } = question;
    const deadlineMs = performance.now() + timeoutMs;
    const { promise: timeout, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      reject(new ChannelError('timeout', `no response within ${timeoutMs} ms`));
    }, timeoutMs);
    timeout.catch(() => {});
    const asked = new Set<Controller>();
    const pending = new Map<Controller, Promise<Outcome>>();
    let refused: CircuitAnswer | undefined;
    try {
      for (;;) {
        const controller = this.#next(asked);
        if (controller !== undefined) {
          asked.add(controller);
          pending.set(controller, send(question, controller, deadlineMs + LATE_ANSWER_MS));
        } else if (refused !== undefined) {
          return refused;
        } else if (pending.size === 0) {
          await this.#untilConnected(deadlineMs);
          continue;
        }
        const outcome = await this.#firstOf(pending, controller, asked, timeout);
        if (outcome === 'silent') continue;
        pending.delete(outcome.controller);
        if ('error' in outcome) {
          const { error } = outcome;
          if (!(error instanceof ChannelError) || error.code !== 'closed') throw error;
        } else if (question.mayKnowBetter(outcome.answer)) refused = outcome;
        else return outcome;
      }
    } finally {
      clearTimeout(timer);
      for (const outcome of pending.values()) void this.#dispose(outcome, question);
    }
  }

  #next(asked: ReadonlySet<Controller>): Controller | undefined {
    return this.#controllers.all().find((one) => !asked.has(one) && !one.channel.isClosed);
  }

  /** Returns the first outcome, or `silent` if `newest` does not respond and another controller can be asked. */
  async #firstOf(
    pending: ReadonlyMap<Controller, Promise<Outcome>>,
    newest: Controller | undefined,
    asked: ReadonlySet<Controller>,
    timeout: Promise<never>,
  ): Promise<Outcome | 'silent'> {
    if (newest === undefined) return Promise.race([...pending.values(), timeout]);
    const watch = new SilenceWatch(newest, this.#limits, () => this.#next(asked) !== undefined);
    try {
      return await Promise.race([...pending.values(), watch.silent, timeout]);
    } finally {
      watch.stop();
    }
  }

  /** Never rejects: a malformed answer grants nothing. */
  async #dispose(outcome: Promise<Outcome>, question: CircuitQuestion): Promise<void> {
    if (this.#lateCount >= MAX_LATE) return;
    this.#lateCount += 1;
    const late = await outcome;
    this.#lateCount -= 1;
    if ('error' in late) return;
    try {
      question.onUnused(late);
    } catch (error) {
      late.controller.channel.log.debug({ err: messageOf(error) }, 'a late answer to a dial is malformed');
    }
  }

  /** Resolves once a controller is connected. Rejects if none is expected soon. */
  async #untilConnected(deadlineMs: number): Promise<void> {
    const nowMs = performance.now();
    const returnMs = this.#lostMs === undefined ? 0 : this.#lostMs + CONTROLLER_RETURN_MS;
    const waitMs = Math.min(returnMs, deadlineMs) - nowMs;
    if (waitMs <= 0 || this.#waiting.size >= MAX_WAITING)
      throw new FrontdoorError('unavailable', 'no-controller', 'the router has no controller now');
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, waitMs);
      this.#waiting.add(wake);
    });
  }
}

/** Resolves in any case. `lastMs` is the time until which an answer is of use. */
function send({ frame }: CircuitQuestion, controller: Controller, lastMs: number): Promise<Outcome> {
  const leftMs = Math.max(1, Math.ceil(lastMs - performance.now()));
  // Each channel sets the sequence number of its own copy.
  return controller.channel.request({ ...frame }, leftMs).then(
    (answer) => ({ answer, controller }),
    (error: unknown) => ({ error, controller }),
  );
}
