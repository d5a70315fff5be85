/** Where frames of circuits go: one end of a circuit on this router, or a link to another router. */
import type { ControlFrame, DataFrame, Frame, PayloadFrame } from '#wire';

export interface Destination {
  /** False: its queue is full; a local end waits for `onWritable`, frames in transit are dropped. */
  readonly isWritable: boolean;
  deliver(frame: DataFrame): void;
}

/** What brings frames, over a connection of its own, which can wait while others take theirs. */
export interface FrameSource {
  pauseReading(): void;
  resumeReading(): void;
}

/**
 * One end of a circuit on this router. Where the router holds it, its own flow control bounds what waits, and it is
 * always writable; an SDK's end is not while the SDK's channel is full.
 */
export interface CircuitEnd extends Destination {
  /** `xgress`: the router holds this end; `xg-edge-fwd`: an SDK does. */
  readonly kind: 'xgress' | 'xg-edge-fwd';
  /** Instead of `deliver`, for a payload, while it is not writable. `source`: who brought it, if it can be held up. */
  deliverLater?(payload: PayloadFrame, source: FrameSource | undefined): void;
  /** The circuit is gone; called after the address was forgotten. */
  unrouted(): void;
  /** Called after `Forwarding.isWritable` was false, once the next destination of the circuit takes frames again. */
  onWritable(): void;
  /** A traceroute, or the answer to one. */
  onControl(control: ControlFrame): void;
  /** Returns its state for inspections of the circuit. */
  inspect(): object;
  /** The connection that brings this end's frames, where it is somebody else's window that bounds them. */
  readonly source?: FrameSource;
}

/** A link; its id is its address. */
export interface LinkDestination extends Destination, Partial<FrameSource> {
  readonly id: string;
  /** A control frame (1102), headers already stripped of channel matters. */
  sendControl(frame: Frame): void;
}

/**
 * What links and ends of circuits use of the forwarder. `source` is the address that a frame came from: the link's id
 * or the end's own address.
 */
export interface Forwarding {
  forward(circuitId: string, source: string, frame: DataFrame): void;
  /** A traceroute frame (1102) that came over a link, or from an end. */
  control(source: string, frame: Frame): void;
  /** False: what follows `source` in the circuit takes nothing now. */
  isWritable(circuitId: string, source: string): boolean;
  registerLink(link: LinkDestination): void;
  /** Only if it is still this one. */
  unregisterLink(link: LinkDestination): void;
  /** The link has room again: ends that wait for it go on. */
  linkDrained(id: string): void;
}
