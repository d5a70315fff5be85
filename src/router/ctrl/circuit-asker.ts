/**
 * Asks a controller for a circuit, and within the same dial another one, when the first goes away before it has
 * answered or does not know a way. While none is connected, for a moment only, the question waits: a control plane that
 * is restarted costs time then, and no circuit.
 */
import { FrontdoorError } from '#base';
import { ChannelError } from '#net';
import type { Frame } from '#wire';
import type { Controller, Controllers } from './controllers.ts';

/** Time after the loss of the last controller in which a question waits; after that it fails at once. */
export const CONTROLLER_RETURN_MS = 5_000;
/** Questions that wait for a controller at a time. */
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
   * `mayKnowBetter`: whether another controller might answer otherwise. Rejects with `FrontdoorError`: `no-controller`
   * (unavailable); with a `ChannelError` when the answer did not come in time.
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
        // Each channel numbers its own copy.
        const answer = await controller.channel.request({ ...question }, leftMs);
        if (!mayKnowBetter(answer)) return { answer, controller };
        refused = { answer, controller };
      } catch (error) {
        if (!(error instanceof ChannelError) || error.code !== 'closed') throw error;
      }
    }
  }

  /** Resolves when one is connected, and rejects when that is not to be expected. */
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
