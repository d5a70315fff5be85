/** The common interface of both HTTP versions for the listener that passes connections to them. */
import type { TLSSocket } from 'node:tls';

export interface WebTimeouts {
  /** Time limit for receiving a request. For the first one it starts with the connection. */
  readonly readTimeoutMs: number;
  /** Time limit from the head of a request to the end of its response. */
  readonly writeTimeoutMs: number;
  /** Time limit between two requests. */
  readonly idleTimeoutMs: number;
}

export interface WebConnections {
  take(socket: TLSSocket): void;
  /** Closes idle connections now, and others after their current response. */
  closeGently(): void;
}
