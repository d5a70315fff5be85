/**
 * One circuit through the overlay: a reliable, ordered, half-closable byte stream with callbacks, without
 * promises and stream objects. Gateway and agent use it directly; `CircuitStream` wraps it for users of the library.
 */
export interface Circuit {
  /** The overlay's circuit id, for logs. */
  readonly id: string;
  /**
   * Whether its path will end soon although there is another one, so that the circuit should not be kept for a
   * later request.
   */
  readonly isLeaving?: boolean;
  /** Set when the circuit closes: whether the far end has acknowledged all bytes that were written. */
  readonly isDelivered?: boolean | undefined;
  /**
   * How many frames the far end has sent; undefined while it has acknowledged everything, and while the router of this end
   * sends nothing.
   */
  readonly heard?: number | undefined;
  /** How many bytes of `write` fill a payload. Multiples of it leave no small rest. */
  readonly payloadBytes?: number;
  /**
   * Queues bytes. The circuit owns the view from now on, so it must not be changed. Returns false if the window
   * is full; the caller then waits for `onDrain` (the write is accepted in any case). Ignored after `end` or
   * `destroy`.
   */
  write(view: Uint8Array): boolean;
  /** As `write`, but keeps no view, so that the caller may use the memory again. */
  writeLent(view: Uint8Array): boolean;
  /** As `write`, for a datagram: the far end receives the bytes as one `onData`. An empty one is lost. */
  writeMessage(message: Uint8Array): boolean;
  /** Half-closes: the far end reads the end of the stream after everything that was written. */
  end(): void;
  /** Ends both directions at once. The far end sees a broken stream unless both sides had ended. */
  destroy(reason?: string): void;
  /**
   * Stops and restarts `onData`. While paused, the window fills and the far end stops. A circuit starts paused;
   * call `resume` after setting the handlers.
   */
  pause(): void;
  resume(): void;
  /** Bytes from the far end. The view may be kept. */
  onData: (view: Uint8Array) => void;
  /** The far end half-closed, after its last byte. */
  onEnd: () => void;
  /** Called when there is room again after `write` returned false. */
  onDrain: () => void;
  /** The last call, once. `error` is set if the circuit broke before both directions had ended. */
  onClose: (error?: CircuitError) => void;
}

/** Why a circuit could not be made, or broke. `hop` is the part that failed, for the log and the error page. */
export class CircuitError extends Error {
  readonly code: CircuitErrorCode;
  readonly hop: 'gateway' | 'control' | 'router' | 'agent' | 'service';

  constructor(
    code: CircuitErrorCode,
    hop: CircuitError['hop'],
    message: string,
    options?: { cause?: unknown },
  ) {
    super(message, options);
    this.name = 'CircuitError';
    this.code = code;
    this.hop = hop;
  }
}

export type CircuitErrorCode =
  /** No agent hosts the service now. */
  | 'no-terminator'
  /** The agent could not reach the private service. */
  | 'service-refused'
  | 'service-timeout'
  /** This identity may not dial the service, or the service was deleted. */
  | 'not-authorized'
  /** No control plane responds, and only a control plane can make circuits. */
  | 'control-away'
  | 'timeout'
  | 'channel-closed'
  | 'circuit-closed'
  | 'overlay';
