/**
 * Moves payloads and acknowledgements between the addresses of circuits. An address is a link or one end of a
 * circuit; which address follows which, the controller says by Route. Plain maps: every frame of the data path
 * passes here.
 */
import { PAYLOAD_TYPE, type DataFrame } from '#wire';

/** Where frames for an address go. */
export interface Destination {
  deliver(frame: DataFrame): void;
  /** The circuit is gone; called after the address was forgotten. */
  unrouted(): void;
}

export interface Forward {
  readonly source: string;
  readonly destination: string;
}

/** Who is told that frames of a circuit cannot be moved on. */
export type ForwardFaultListener = (circuitId: string) => void;

interface Circuit {
  readonly next: Map<string, string>;
  /** Addresses of ends on this router. */
  readonly ends: Set<string>;
}

export class Forwarder {
  readonly #circuits = new Map<string, Circuit>();
  readonly #destinations = new Map<string, Destination>();
  readonly #onFault: ForwardFaultListener;

  constructor(onFault: ForwardFaultListener) {
    this.#onFault = onFault;
  }

  get circuitCount(): number {
    return this.#circuits.size;
  }

  hasDestination(address: string): boolean {
    return this.#destinations.has(address);
  }

  /** An end of a circuit on this router. */
  register(circuitId: string, address: string, destination: Destination): void {
    this.#destinations.set(address, destination);
    this.#circuit(circuitId).ends.add(address);
  }

  /**
   * The end at `address` is closed. When the other end is on this router too, it learns it now: everything sent
   * before has already been handed to it.
   */
  unregister(circuitId: string, address: string): void {
    this.#destinations.delete(address);
    const circuit = this.#circuits.get(circuitId);
    if (circuit === undefined) return;
    circuit.ends.delete(address);
    const other = circuit.next.get(address);
    if (other === undefined || circuit.ends.has(other)) this.unroute(circuitId);
  }

  route(circuitId: string, forwards: readonly Forward[]): void {
    const { next } = this.#circuit(circuitId);
    for (const { source, destination } of forwards) next.set(source, destination);
  }

  /** Forgets the circuit and tells its ends here. */
  unroute(circuitId: string): void {
    const circuit = this.#circuits.get(circuitId);
    if (circuit === undefined) return;
    this.#circuits.delete(circuitId);
    for (const address of circuit.ends) {
      const destination = this.#destinations.get(address);
      this.#destinations.delete(address);
      destination?.unrouted();
    }
  }

  forward(circuitId: string, source: string, frame: DataFrame): void {
    const address = this.#circuits.get(circuitId)?.next.get(source);
    const destination = address === undefined ? undefined : this.#destinations.get(address);
    if (destination !== undefined) destination.deliver(frame);
    else if (frame.contentType === PAYLOAD_TYPE) this.#onFault(circuitId);
  }

  #circuit(circuitId: string): Circuit {
    let circuit = this.#circuits.get(circuitId);
    if (circuit === undefined) {
      circuit = { next: new Map(), ends: new Set() };
      this.#circuits.set(circuitId, circuit);
    }
    return circuit;
  }
}
