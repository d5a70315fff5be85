/**
 * A place between dialers and one listener on 127.0.0.1 where a test makes the network fail. Made by a relay of bytes,
 * anywhere, or by the kernel's packet filter in a network namespace of its own, where packets really vanish.
 */

export interface BadNetwork {
  /** Half of the time there and back. */
  readonly delayMs: number;
  /** The largest random deviation from the delay, in either direction. */
  readonly jitterMs: number;
  readonly bytesPerSecond: number;
  /** Share of lost packets, 0 to 1; a relay cannot lose any: what comes from one on is a round trip later. */
  readonly loss: number;
}

export interface FaultPoint {
  /** Where the listener is dialed. */
  readonly port: number;
  /** Where it listens. */
  readonly listenerPort: number;
  /** Drops all packets silently, without a reset. */
  cut(): Promise<void>;
  /** Connections that stand, and those that are tried, are reset. */
  reset(): Promise<void>;
  /** Lets everything pass again; connections whose ends have not closed them continue. */
  heal(): Promise<void>;
  worsen(how: BadNetwork): Promise<void>;
  close(): Promise<void>;
}

export interface FaultNetwork {
  readonly kind: 'relay' | 'packet filter';
  /** Before the listener is there. */
  point(listenerPort: number): Promise<FaultPoint>;
}
