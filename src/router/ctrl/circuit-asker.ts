/**
 * Requests circuits from a controller. Within the same dial it asks another controller if the first one disconnects
 * before it answers, knows no path, or stops responding at all. Without a connected controller a request waits for a
 * short time, so that a restart of the control plane delays circuits but does not fail them.
 */
import { FrontdoorError, messageOf } from '#base';
import { ChannelError } from '#net';
import type { Frame } from '#wire';
import { SILENCE_LIMITS, SilenceWatch, type SilenceLimits } from './silence-watch.ts';
import type { Controller, Controllers } from './controllers.ts';

/** Time after the loss of the last controller in which requests wait. After that they fail at once. */
export const CONTROLLER_RETURN_MS = 5_000;
/** Maximum number of requests that wait for a controller. */
const MAX_WAITING = 4_096;

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
   * Called with an answer that arrives after that of another controller. A circuit that it grants has to be reported
   * as ended.
   */
  onUnused(unused: CircuitAnswer): void;
}

type Outcome = CircuitAnswer | { readonly error: unknown; readonly controller: Controller };

export class CircuitAsker {
  readonly #controllers: Controllers;
  readonly #limits: SilenceLimits;
  readonly #waiting = new Set<() => void>();
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
    const deadlineMs = performance.now() + question.timeoutMs;
    const asked = new Set<Controller>();
    const pending = new Map<Controller, Promise<Outcome>>();
    let refused: CircuitAnswer | undefined;
    try {
      for (;;) {
        const controller = this.#next(asked);
        if (controller !== undefined) {
          asked.add(controller);
          pending.set(controller, send(question, controller, deadlineMs));
        } else if (refused !== undefined) {
          return refused;
        } else if (pending.size === 0) {
          await this.#untilConnected(deadlineMs);
          continue;
        }
        const outcome = await this.#firstOf(pending, controller, asked);
        if (outcome === 'silent') continue;
        pending.delete(outcome.controller);
        if ('error' in outcome) {
          const { error } = outcome;
          if (!(error instanceof ChannelError) || error.code !== 'closed') throw error;
        } else if (question.mayKnowBetter(outcome.answer)) refused = outcome;
        else return outcome;
      }
    } finally {
      for (const outcome of pending.values()) void dispose(outcome, question);
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
  ): Promise<Outcome | 'silent'> {
    if (newest === undefined) return Promise.race(pending.values());
    const watch = new SilenceWatch(newest, this.#limits, () => this.#next(asked) !== undefined);
    try {
      return await Promise.race([...pending.values(), watch.silent]);
    } finally {
      watch.stop();
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

/** Resolves in any case. */
function send({ frame }: CircuitQuestion, controller: Controller, deadlineMs: number): Promise<Outcome> {
  const leftMs = Math.max(1, Math.ceil(deadlineMs - performance.now()));
  // Each channel sets the sequence number of its own copy.
  return controller.channel.request({ ...frame }, leftMs).then(
    (answer) => ({ answer, controller }),
    (error: unknown) => ({ error, controller }),
  );
}

/** Never rejects: a malformed answer grants nothing. */
async function dispose(outcome: Promise<Outcome>, question: CircuitQuestion): Promise<void> {
  const late = await outcome;
  if ('error' in late) return;
  try {
    question.onUnused(late);
  } catch (error) {
    late.controller.channel.log.debug({ err: messageOf(error) }, 'a late answer to a dial is malformed');
  }
}
