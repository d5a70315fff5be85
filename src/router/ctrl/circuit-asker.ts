/**
 * Requests circuits from a controller. Within the same dial it asks another controller if the first one disconnects
 * before it answers, or knows no path. Without a connected controller a request waits for a short time, so that a
 * restart of the control plane delays circuits but does not fail them.
 */
import { FrontdoorError } from '#base';
import { ChannelError } from '#net';
import type { Frame } from '#wire';
import type { Controller, Controllers } from './controllers.ts';

/** Time after the loss of the last controller in which requests wait. After that they fail at once. */
export const CONTROLLER_RETURN_MS = 5_000;
/** Maximum number of requests that wait for a controller. */
const MAX_WAITING = 4_096;

export interface CircuitAnswer {
  readonly answer: Frame;
  readonly controller: Controller;
}

export class CircuitAsker {
  readonly #controllers: Controllers;
  readonly #waiting = new Set<() => void>();
  #lostMs: number | undefined;

  constructor(controllers: Controllers) {
    this.#controllers = controllers;
    controllers.onConnected(() => {
      this.#lostMs = undefined;
      for (const wake of [...this.#waiting]) wake();
    });
    controllers.onDisconnected(() => {
      if (controllers.best() === undefined) this.#lostMs = performance.now();
    });
  }

  /**
   * `mayKnowBetter` returns true if another controller could give a better answer. Rejects with a `FrontdoorError`
   * `no-controller` (unavailable), or with a `ChannelError` if the answer was late.
   */
  async ask(
    question: Frame,
    timeoutMs: number,
    mayKnowBetter: (answer: Frame) => boolean,
  ): Promise<CircuitAnswer> {
    const deadlineMs = performance.now() + timeoutMs;
    const asked = new Set<Controller>();
    let refused: CircuitAnswer | undefined;
    for (;;) {
      const controller = this.#controllers.all().find((one) => !asked.has(one) && !one.channel.isClosed);
      if (controller === undefined) {
        if (refused !== undefined) return refused;
        await this.#untilConnected(deadlineMs);
        continue;
      }
      asked.add(controller);
      try {
        const leftMs = Math.max(1, Math.ceil(deadlineMs - performance.now()));
        // Each channel sets the sequence number of its own copy.
        const answer = await controller.channel.request({ ...question }, leftMs);
        if (!mayKnowBetter(answer)) return { answer, controller };
        refused = { answer, controller };
      } catch (error) {
        if (!(error instanceof ChannelError) || error.code !== 'closed') throw error;
      }
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
