/** What the two versions of HTTP have in common for the listener that hands connections to them. */
import type { TLSSocket } from 'node:tls';

export interface WebTimeouts {
  /** For a whole request; the first one's time begins with the connection. */
  readonly readTimeoutMs: number;
  /** From the head of a request to the end of its answer. */
  readonly writeTimeoutMs: number;
  /** Between two requests. */
  readonly idleTimeoutMs: number;
}

export interface WebConnections {
  take(socket: TLSSocket): void;
  /** Idle connections end now, the others with what they are answering. */
  closeGently(): void;
}
