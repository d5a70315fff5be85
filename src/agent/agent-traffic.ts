/**
 * What the circuits of all shares have carried since the agent started. Circuits count their own bytes, so that
 * nothing is added here for a frame; those of a circuit that ended are kept.
 */
import { ShortLivedSet } from '#base';
import type { CircuitCopy } from './circuit-copy.ts';

export class AgentTraffic {
  readonly #open = new ShortLivedSet<CircuitCopy>();
  #bytesToServices = 0;
  #bytesFromServices = 0;
  #circuits = 0;
  #failedDials = 0;

  begin(copy: CircuitCopy): void {
    this.#open.add(copy);
    this.#circuits += 1;
  }

  end(copy: CircuitCopy): void {
    if (!this.#open.delete(copy)) return;
    this.#bytesToServices += copy.bytesToService;
    this.#bytesFromServices += copy.bytesFromService;
  }

  /** The private service could not be reached for a circuit. */
  fail(): void {
    this.#failedDials += 1;
  }

  get openCircuits(): number {
    return this.#open.size;
  }

  /** Circuits that have reached their service. */
  get circuits(): number {
    return this.#circuits;
  }

  get failedDials(): number {
    return this.#failedDials;
  }

  get bytesToServices(): number {
    let bytes = this.#bytesToServices;
    for (const copy of this.#open) bytes += copy.bytesToService;
    return bytes;
  }

  get bytesFromServices(): number {
    let bytes = this.#bytesFromServices;
    for (const copy of this.#open) bytes += copy.bytesFromService;
    return bytes;
  }
}
