/**
 * Tells controllers of circuits that ended here, and, at most every 15 s, of circuits whose frames this router could
 * not move on. A circuit's owner is the controller that routed it.
 */
import type { Channel } from '#net';
import { ctrlMessages, FaultSubject } from '#wire/ctrl';

const FORWARD_FAULT_INTERVAL_MS = 15_000;
const MAX_OWNERS = 1_000_000;
const MAX_FORWARD_FAULTS = 10_000;

export class FaultReporter {
  readonly #channels: () => Channel[];
  readonly #owners = new Map<string, Channel>();
  readonly #forwardFaults = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(channels: () => Channel[]) {
    this.#channels = channels;
  }

  own(circuitId: string, owner: Channel): void {
    if (this.#owners.size >= MAX_OWNERS) this.#owners.delete(this.#owners.keys().next().value!);
    this.#owners.set(circuitId, owner);
  }

  disown(circuitId: string): void {
    this.#owners.delete(circuitId);
  }

  onCircuitClosed(circuitId: string, isTerminator: boolean): void {
    const subject = isTerminator ? FaultSubject.EGRESS_FAULT : FaultSubject.INGRESS_FAULT;
    const owner = this.#owners.get(circuitId);
    this.#owners.delete(circuitId);
    const channels = owner === undefined || owner.isClosed ? this.#channels() : [owner];
    for (const channel of channels) channel.send(ctrlMessages.fault.frame({ subject, id: circuitId }));
  }

  onForwardFault(circuitId: string): void {
    if (this.#forwardFaults.size >= MAX_FORWARD_FAULTS) return;
    this.#forwardFaults.add(circuitId);
    this.#timer ??= setTimeout(() => this.#report(), FORWARD_FAULT_INTERVAL_MS);
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #report(): void {
    this.#timer = undefined;
    const id = [...this.#forwardFaults].join(' ');
    this.#forwardFaults.clear();
    const subject = FaultSubject.UNKNOWN_OWNER_FORWARD_FAULT;
    for (const channel of this.#channels()) channel.send(ctrlMessages.fault.frame({ subject, id }));
  }
}
