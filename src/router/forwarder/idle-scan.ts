/**
 * Asks controllers to confirm circuits that have been idle for a long time. Controllers unroute the circuits that they
 * do not know. A circuit whose controller is disconnected remains, however long it is idle.
 */
import { systemClock, type Clock, type Log } from '#base';
import { ctrlMessages } from '#wire/ctrl';
import type { Controllers } from '../ctrl/controllers.ts';
import type { Forwarder } from './forwarder.ts';

const MAX_CIRCUITS_PER_MESSAGE = 1_000;

export interface IdleScanOptions {
  readonly forwarder: Forwarder;
  readonly controllers: Controllers;
  /** Time between two scans; 0: no scans. */
  readonly idleTxIntervalMs: number;
  readonly idleCircuitTimeoutMs: number;
  readonly log: Log;
  readonly clock?: Clock;
}

export class IdleScan {
  readonly #options: IdleScanOptions;
  readonly #clock: Clock;
  readonly #timer: NodeJS.Timeout | undefined;

  constructor(options: IdleScanOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    if (options.idleTxIntervalMs > 0) this.#timer = setInterval(() => this.#scan(), options.idleTxIntervalMs);
    else options.log.warn({}, 'no checks for idle circuits: forwarder.idleTxInterval is 0');
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #scan(): void {
    const { forwarder, idleCircuitTimeoutMs } = this.#options;
    const nowMs = this.#clock.monotonicMs();
    const byController = new Map<string, [circuitId: string, idleNs: bigint][]>();
    for (const { id, controllerId, lastActiveMs } of forwarder.circuits()) {
      const idleMs = nowMs - lastActiveMs;
      if (idleMs <= idleCircuitTimeoutMs) continue;
      const idle = byController.get(controllerId) ?? [];
      idle.push([id, BigInt(Math.round(idleMs)) * 1_000_000n]);
      byController.set(controllerId, idle);
    }
    for (const [controllerId, idle] of byController) this.#confirm(controllerId, idle);
  }

  #confirm(controllerId: string, idle: readonly [circuitId: string, idleNs: bigint][]): void {
    const { controllers, log } = this.#options;
    const controller = controllers.byId(controllerId);
    if (controller === undefined) {
      log.debug(
        { controllerId, circuits: idle.length },
        'keeping idle circuits: their controller is disconnected',
      );
      return;
    }
    for (let at = 0; at < idle.length; at += MAX_CIRCUITS_PER_MESSAGE) {
      const some = idle.slice(at, at + MAX_CIRCUITS_PER_MESSAGE);
      const circuitIds = some.map(([id]) => id);
      const idleTimes = Object.fromEntries(some);
      controller.channel.send(ctrlMessages.circuitConfirmation.frame({ circuitIds, idleTimes }));
    }
    log.info({ controllerId, circuits: idle.length }, 'confirming idle circuits with their controller');
  }
}
