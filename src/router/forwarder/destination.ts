/** Destinations of circuit frames: an end of a circuit at this router, or a link to another router. */
import type { ControlFrame, Frame } from '#wire';
import type { DataFrame, PayloadFrame } from '#wire/xgress';

export interface Destination {
  /** False when its queue is full. A local end then waits for `onWritable`, and frames in transit are dropped. */
  readonly isWritable: boolean;
  deliver(frame: DataFrame): void;
}

/** A connection that delivers frames and can be paused without delaying other connections. */
export interface FrameSource {
  pauseReading(): void;
  resumeReading(): void;
}

/**
 * One end of a circuit at this router. An end that the router holds is always writable, because its own flow control
 * bounds the waiting data. An SDK's end is not writable while the SDK's channel is full.
 */
export interface CircuitEnd extends Destination {
  /** `xgress` if the router holds this end, `xg-edge-fwd` if an SDK does. */
  readonly kind: 'xgress' | 'xg-edge-fwd';
  /**
   * Replaces `deliver` for payloads while it is not writable. `source` is the connection that delivered the payload, if
   * it can be paused.
   */
  deliverLater?(payload: PayloadFrame, source: FrameSource | undefined): void;
  /** Called when the circuit was removed, after the address was. */
  unrouted(): void;
  /** Called after `Forwarding.isWritable` returned false, once the circuit's next destination is writable again. */
  onWritable(): void;
  /** Handles a traceroute, or the answer to one. */
  onControl(control: ControlFrame): void;
  /** Returns its state for inspections of the circuit. */
  inspect(): object;
  /**
   * True once an SDK's end was sent the last payload of the far end. The SDK may not have read all payloads that it
   * acknowledged, and it closes the circuit itself when it has.
   */
  readonly hasLastPayload?: boolean;
  /** The connection that delivers this end's frames, if another party's window bounds them. */
  readonly source?: FrameSource;
}

/** A link; its id is its address. */
export interface LinkDestination extends Destination, Partial<FrameSource> {
  readonly id: string;
  /** Sends a control frame (1102), whose channel headers were removed. */
  sendControl(frame: Frame): void;
}

/**
 * The interface of the forwarder to links and ends of circuits. `source` is the address that a frame came from: the id
 * of a link, or the address of an end.
 */
export interface Forwarding {
  forward(circuitId: string, source: string, frame: DataFrame): void;
  /** Handles a traceroute frame (1102) from a link or an end. */
  control(source: string, frame: Frame): void;
  /** Returns false while the destination of `source` in the circuit is not writable. */
  isWritable(circuitId: string, source: string): boolean;
  registerLink(link: LinkDestination): void;
  /** Has no effect if another link with the same id has replaced it. */
  unregisterLink(link: LinkDestination): void;
  /** Called when a link has room again. Resumes the ends that wait for it. */
  linkDrained(id: string): void;
}
