/**
 * Reports to controllers: circuits that ended here, circuits whose frames cannot be forwarded (at most once per
 * interval), and unknown links in Routes. Reports to a disconnected controller wait until it reconnects.
 */
import type { Log } from '#base';
import { ctrlMessages, FaultSubject } from '#wire/ctrl';
import type { Controller, Controllers } from '../ctrl/controllers.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { ForwardFaults } from './forwarder.ts';

const MAX_FORWARD_FAULTS = 10_000;
/** Maximum number of waiting reports about ended circuits, over all disconnected controllers. */
const MAX_KEPT_CLOSINGS = 10_000;

export interface CircuitFaultsOptions {
  readonly controllers: Controllers;
  /** Interval of reports about frames that cannot be forwarded; 0: no reports. */
  readonly faultTxIntervalMs: number;
  readonly metrics: Metrics;
  readonly log: Log;
}

interface Closing {
  readonly circuitId: string;
  readonly isTerminator: boolean;
}

export class CircuitFaults implements ForwardFaults {
  readonly #options: CircuitFaultsOptions;
  /** Maps circuits to their controllers, if known. */
  readonly #forwardFaults = new Map<string, string | undefined>();
  readonly #kept = new Map<string, Closing[]>();
  #keptCount = 0;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: CircuitFaultsOptions) {
    this.#options = options;
    options.controllers.onConnected((controller) => this.#reportKept(controller));
  }

  /** Reports that an end at this router closed on its own. */
  onCircuitClosed(circuitId: string, controllerId: string, isTerminator: boolean): void {
    const owner = this.#options.controllers.byId(controllerId);
    if (owner !== undefined) {
      reportClosing(owner, { circuitId, isTerminator });
      return;
    }
    if (this.#keptCount >= MAX_KEPT_CLOSINGS) return;
    this.#keptCount += 1;
    const closings = this.#kept.get(controllerId) ?? [];
    closings.push({ circuitId, isTerminator });
    this.#kept.set(controllerId, closings);
  }

  onForwardFault(circuitId: string, controllerId: string | undefined): void {
    const { faultTxIntervalMs } = this.#options;
    if (this.#isClosed || faultTxIntervalMs <= 0 || this.#forwardFaults.size >= MAX_FORWARD_FAULTS) return;
    this.#forwardFaults.set(circuitId, controllerId);
    this.#timer ??= setTimeout(() => this.#report(), faultTxIntervalMs);
  }

  onInvalidLink(linkId: string): void {
    this.#options.metrics.meter('faults.link').mark(1);
    const fault = { subject: FaultSubject.LINK_FAULT, id: linkId };
    this.#options.controllers.broadcast(ctrlMessages.fault.frame(fault));
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #report(): void {
    this.#timer = undefined;
    const byOwner = new Map<string | undefined, string[]>();
    for (const [circuitId, owner] of this.#forwardFaults) {
      const ids = byOwner.get(owner) ?? [];
      ids.push(circuitId);
      byOwner.set(owner, ids);
    }
    this.#forwardFaults.clear();
    const { controllers, log, metrics } = this.#options;
    for (const [owner, ids] of byOwner) {
      metrics.meter('faults.circuit').mark(ids.length);
      const id = ids.join(' ');
      if (owner === undefined) {
        const subject = FaultSubject.UNKNOWN_OWNER_FORWARD_FAULT;
        controllers.broadcast(ctrlMessages.fault.frame({ subject, id }));
      } else {
        // The controller is disconnected. The next frames that cannot be forwarded report the circuits again.
        const fault = ctrlMessages.fault.frame({ subject: FaultSubject.FORWARD_FAULT, id });
        controllers.byId(owner)?.channel.send(fault);
      }
      log.warn(
        { circuits: ids.length, controllerId: owner ?? 'unknown' },
        'frames of circuits cannot be forwarded',
      );
    }
  }

  #reportKept(controller: Controller): void {
    const closings = this.#kept.get(controller.id);
    if (closings === undefined) return;
    this.#kept.delete(controller.id);
    this.#keptCount -= closings.length;
    for (const closing of closings) reportClosing(controller, closing);
  }
}

function reportClosing({ channel }: Controller, { circuitId, isTerminator }: Closing): void {
  const subject = isTerminator ? FaultSubject.EGRESS_FAULT : FaultSubject.INGRESS_FAULT;
  channel.send(ctrlMessages.fault.passedFrame({ subject, id: circuitId }));
}
