/**
 * Forwards payloads, acknowledgements and traces between the addresses of circuits. An address is that of a link or of
 * an end at this router. Controllers define the next address of each address by Route. Every frame of the data path
 * passes here.
 */
import { ShortLivedMap, systemClock, type Clock } from '#base';
import { failAlone } from '#net';
import { controlToPass, decodeControl, traceResponse, type ControlFrame, type Frame } from '#wire';
import { PAYLOAD_FLAGS, PAYLOAD_TYPE, type DataFrame, type PayloadFrame } from '#wire/xgress';
import type { Metrics } from '../metrics/metrics.ts';
import { newCircuit, type CircuitTags, type RoutedCircuit } from './circuit-table.ts';
import type { CircuitEnd, Forwarding, FrameSource, LinkDestination } from './destination.ts';
import { FabricMeters } from './fabric-meters.ts';
import { LinkWaiters } from './link-waiters.ts';
import { QuietCircuits } from './quiet-circuits.ts';
import { SourceHolds } from './source-holds.ts';
import { TransitGate } from './transit-gate.ts';

/** When a Route arrives for a circuit with more entries than this, entries of closed links are removed. */
const SWEEP_ENTRIES = 8;
/** How long an SDK that has the last payload of a circuit may take to read the rest and to close it. */
const SDK_CLOSE_WAIT_MS = 30_000;

export interface CircuitForward {
  readonly source: string;
  readonly destination: string;
  /** `start` is the end of the initiator, which is registered after routing. */
  readonly type: 'start' | 'end' | 'link';
}

export interface RouteProblem {
  readonly type: 'end' | 'link';
  readonly address: string;
}

/** Called for frames that cannot be forwarded. `controllerId` is undefined if no controller routed the circuit here. */
export interface ForwardFaults {
  onForwardFault(circuitId: string, controllerId: string | undefined): void;
  onInvalidLink(linkId: string): void;
}

export interface ForwarderOptions {
  readonly routerId: string;
  readonly faults: ForwardFaults;
  /** Time without payloads after which an ending circuit is removed; 0: at once. */
  readonly closeCheckIntervalMs: number;
  readonly metrics: Metrics;
  readonly clock?: Clock;
}

export class Forwarder implements Forwarding {
  readonly #routerId: string;
  readonly #faults: ForwardFaults;
  readonly #meters: FabricMeters;
  readonly #clock: Clock;
  readonly #circuits = new ShortLivedMap<string, RoutedCircuit>();
  readonly #links = new Map<string, LinkDestination>();
  readonly #ends = new ShortLivedMap<string, CircuitEnd>();
  readonly #waiters = new LinkWaiters();
  readonly #holds = new SourceHolds();
  /** Gates of links that were full before. */
  readonly #gates = new Map<string, TransitGate>();
  readonly #quiet: QuietCircuits;

  constructor({ routerId, faults, closeCheckIntervalMs, metrics, clock = systemClock }: ForwarderOptions) {
    this.#routerId = routerId;
    this.#faults = faults;
    this.#meters = new FabricMeters(metrics);
    this.#clock = clock;
    this.#quiet = new QuietCircuits(closeCheckIntervalMs, (circuitId) => this.#dropIfQuiet(circuitId), clock);
  }

  get circuitCount(): number {
    return this.#circuits.size;
  }

  circuits(): IterableIterator<RoutedCircuit> {
    return this.#circuits.values();
  }

  circuit(circuitId: string): RoutedCircuit | undefined {
    return this.#circuits.get(circuitId);
  }

  end(address: string): CircuitEnd | undefined {
    return this.#ends.get(address);
  }

  hasLink(id: string): boolean {
    return this.#links.has(id);
  }

  /** Counts how often each source of frames was paused. A source is read again when it was released as often. */
  get holds(): SourceHolds {
    return this.#holds;
  }

  /** Registers an end of a circuit at this router. */
  register(circuitId: string, address: string, end: CircuitEnd, controllerId: string): void {
    this.#ends.set(address, end);
    const { ends } = this.#circuit(circuitId, controllerId);
    if (!ends.includes(address)) ends.push(address);
  }

  /**
   * Removes the end at `address`, which has closed. If the other end is at this router too, it is notified immediately,
   * because it has already received all data; only an SDK that closes the circuit itself gets time to read it.
   */
  unregister(circuitId: string, address: string): void {
    const circuit = this.#circuits.get(circuitId);
    this.#forgetEnd(circuit, address);
    if (circuit === undefined) return;
    circuit.isEnding = true;
    const at = circuit.ends.indexOf(address);
    if (at >= 0) circuit.ends.splice(at, 1);
    const other = circuit.next.get(address);
    const isOtherHere = other !== undefined && circuit.ends.includes(other);
    if (other === undefined || (isOtherHere && !this.#isClosedBySdk(circuit))) this.unroute(circuitId);
    else if (isOtherHere || circuit.ends.length === 0) this.#quiet.add(circuitId);
  }

  /**
   * Adds forwards to the existing ones: a reroute replaces only the forwards that it lists. Changes nothing if it
   * returns a problem.
   */
  route(
    circuitId: string,
    controllerId: string,
    forwards: readonly CircuitForward[],
    tags?: CircuitTags,
  ): RouteProblem | undefined {
    for (const { destination, type } of forwards) {
      if (type === 'start' || this.#links.has(destination) || this.#ends.has(destination)) continue;
      if (type === 'link') this.#faults.onInvalidLink(destination);
      return { type, address: destination };
    }
    const circuit = this.#circuit(circuitId, controllerId);
    circuit.tags = tags ?? circuit.tags;
    circuit.lastActiveMs = this.#clock.monotonicMs();
    for (const { source, destination } of forwards) {
      const before = circuit.next.get(source);
      circuit.next.set(source, destination);
      if (before !== undefined && before !== destination) this.#wakeOne(before, source);
    }
    if (circuit.next.size > SWEEP_ENTRIES) this.#sweep(circuit);
    this.#quiet.remove(circuitId);
    return undefined;
  }

  /** Removes the circuit and notifies its ends at this router. */
  unroute(circuitId: string): void {
    const circuit = this.#circuits.get(circuitId);
    if (circuit === undefined) return;
    this.#circuits.delete(circuitId);
    this.#quiet.remove(circuitId);
    for (const address of circuit.ends) {
      const end = this.#ends.get(address);
      this.#forgetEnd(circuit, address);
      try {
        end?.unrouted();
      } catch (error) {
        failAlone({ kind: 'circuit', id: circuitId }, error);
      }
    }
  }

  /**
   * Removes the circuit once no more frames arrive for it. Removes it at once if both ends are here, because then no
   * frames are in transit, and if its initiator has sent nothing to the end that was dialed here. A host of OpenZiti's Go
   * SDK accepts no other circuit before that one begins or ends.
   */
  unrouteWhenQuiet(circuitId: string): void {
    const circuit = this.#circuits.get(circuitId);
    if (circuit === undefined) return;
    const hasNotBegun = circuit.egressData !== undefined && !circuit.hasDelivered;
    if (hasNotBegun || this.#isAllHere(circuit)) this.unroute(circuitId);
    else this.#quiet.add(circuitId);
  }

  registerLink(link: LinkDestination): void {
    const before = this.#links.get(link.id);
    if (before !== undefined) this.unregisterLink(before);
    this.#links.set(link.id, link);
    this.linkDrained(link.id);
  }

  unregisterLink(link: LinkDestination): void {
    if (this.#links.get(link.id) !== link) return;
    // Ends that wait for it resume when the link returns, or when the circuit is rerouted.
    this.#links.delete(link.id);
    this.#gates.get(link.id)?.close();
    this.#gates.delete(link.id);
    this.#holds.forget(link);
  }

  linkDrained(id: string): void {
    this.#gates.get(id)?.open();
    this.#waiters.wake(id, () => this.#links.get(id)?.isWritable !== false);
  }

  isWritable(circuitId: string, source: string): boolean {
    const address = this.#circuits.get(circuitId)?.next.get(source);
    const link = address === undefined ? undefined : this.#links.get(address);
    if (link === undefined || link.isWritable) return true;
    const end = this.#ends.get(source);
    if (end !== undefined) this.#waiters.add(link.id, end);
    return false;
  }

  /** Never throws: an exception ends this circuit alone. */
  forward(circuitId: string, source: string, frame: DataFrame): void {
    try {
      this.#forward(circuitId, source, frame);
    } catch (error) {
      failAlone({ kind: 'circuit', id: circuitId, fail: () => this.unroute(circuitId) }, error);
    }
  }

  #forward(circuitId: string, source: string, frame: DataFrame): void {
    const circuit = this.#circuits.get(circuitId);
    const isFromLink = this.#links.has(source);
    if (isFromLink) this.#meters.received(frame, circuit);
    const address = circuit?.next.get(source);
    const isPayload = frame.contentType === PAYLOAD_TYPE;
    if (circuit === undefined || address === undefined) {
      if (isPayload && circuit?.isEnding !== true)
        this.#faults.onForwardFault(circuitId, circuit?.controllerId);
      return;
    }
    const nowMs = this.#clock.monotonicMs();
    // Frames that cannot be forwarded do not keep a circuit alive.
    if (!isPayload || (frame.flags & PAYLOAD_FLAGS.retransmit) === 0) circuit.lastActiveMs = nowMs;
    const link = this.#links.get(address);
    if (link !== undefined) {
      this.#meters.sent(frame, circuit);
      if (isPayload) this.#toLink(link, frame, source);
      else link.deliver(frame);
      return;
    }
    const end = this.#ends.get(address);
    if (end === undefined) {
      if (isPayload && !circuit.isEnding) this.#faults.onForwardFault(circuitId, circuit.controllerId);
      return;
    }
    if (isPayload) {
      circuit.lastDeliveredMs = nowMs;
      circuit.hasDelivered = true;
    }
    if (isPayload && !end.isWritable && end.deliverLater !== undefined)
      end.deliverLater(frame, this.#sourceOf(source));
    else end.deliver(frame);
  }

  control(source: string, frame: Frame): void {
    const control = decodeControl(frame);
    if (control === undefined) return;
    const address = this.#circuits.get(control.circuitId)?.next.get(source);
    if (!control.isTrace) {
      this.#sendControl(address, control, controlToPass(control));
      return;
    }
    const hops = Math.max(0, control.hops - 1);
    if (address === undefined || (!this.#links.has(address) && !this.#ends.has(address))) {
      this.#answer(source, control, hops, 'the circuit leads nowhere from here');
    } else if (hops === 0) {
      this.#answer(source, control, 0);
    } else {
      this.#sendControl(address, control, controlToPass(control, hops));
    }
  }

  close(): void {
    this.#meters.close();
    for (const gate of this.#gates.values()) gate.close();
    this.#quiet.close();
  }

  #toLink(link: LinkDestination, frame: PayloadFrame, from: string): void {
    let gate = this.#gates.get(link.id);
    if (gate === undefined) {
      if (link.isWritable) {
        link.deliver(frame);
        return;
      }
      const holds = this.#holds;
      gate = new TransitGate({ link, hold: (it) => holds.hold(it), release: (it) => holds.release(it) });
      this.#gates.set(link.id, gate);
    }
    gate.pass(frame, this.#sourceOf(from));
  }

  #sourceOf(address: string): FrameSource | undefined {
    const source = this.#links.get(address) ?? this.#ends.get(address)?.source;
    return source !== undefined && isFrameSource(source) ? source : undefined;
  }

  #answer(source: string, control: ControlFrame, hops: number, error?: string): void {
    const hop = { type: 'forwarder', id: this.#routerId, hops, error };
    this.#sendControl(source, control, traceResponse(control, hop));
  }

  #sendControl(address: string | undefined, control: ControlFrame, frame: Frame): void {
    if (address === undefined) return;
    const link = this.#links.get(address);
    if (link !== undefined) link.sendControl(frame);
    else this.#ends.get(address)?.onControl(decodeControl(frame) ?? control);
  }

  #circuit(circuitId: string, controllerId: string): RoutedCircuit {
    let circuit = this.#circuits.get(circuitId);
    if (circuit === undefined) {
      circuit = newCircuit(circuitId, controllerId, this.#clock.monotonicMs());
      this.#circuits.set(circuitId, circuit);
    }
    return circuit;
  }

  #forgetEnd(circuit: RoutedCircuit | undefined, address: string): void {
    const end = this.#ends.get(address);
    if (end === undefined) return;
    this.#ends.delete(address);
    const next = circuit?.next.get(address);
    if (next !== undefined) this.#waiters.remove(next, end);
  }

  /** Resumes an end that waits for `before`, because its circuit was rerouted. */
  #wakeOne(linkId: string, address: string): void {
    const end = this.#ends.get(address);
    if (end === undefined) return;
    this.#waiters.remove(linkId, end);
    end.onWritable();
  }

  #sweep(circuit: RoutedCircuit): void {
    for (const source of circuit.next.keys()) {
      if (!this.#links.has(source) && !this.#ends.has(source)) circuit.next.delete(source);
    }
  }

  #isAllHere({ next }: RoutedCircuit): boolean {
    for (const address of next.values()) if (!this.#ends.has(address)) return false;
    return true;
  }

  #isClosedBySdk({ ends }: RoutedCircuit): boolean {
    return ends.some((address) => this.#ends.get(address)?.hasLastPayload === true);
  }

  #dropIfQuiet(circuitId: string): boolean {
    const circuit = this.#circuits.get(circuitId);
    if (circuit === undefined) return true;
    const quietMs = this.#clock.monotonicMs() - circuit.lastDeliveredMs;
    const waitMs = this.#isClosedBySdk(circuit) ? SDK_CLOSE_WAIT_MS : this.#quiet.intervalMs;
    if (circuit.ends.length > 0 && quietMs < waitMs) return false;
    this.unroute(circuitId);
    return true;
  }
}

function isFrameSource(source: Partial<FrameSource>): source is FrameSource {
  return source.pauseReading !== undefined && source.resumeReading !== undefined;
}
