/**
 * One circuit through the overlay: a reliable, ordered, half-closable byte stream with callbacks, no promises and
 * no stream objects. Gateway and agent use it directly; `circuitDuplex` wraps it for library users.
 */
export interface Circuit {
  /** The overlay's circuit id, for logs. */
  readonly id: string;
  /** The way that it takes ends soon and there is another: it is not to be kept for a later request. */
  readonly isLeaving?: boolean;
  /**
   * Queues bytes; the view is owned by the circuit from now on and must not be changed. False: the window is full,
   * wait for `onDrain` (a write is still accepted, so callers must obey). Ignored after `end` or `destroy`.
   */
  write(view: Uint8Array): boolean;
  /** Half-close: the far end reads the end of the stream after all that was written. */
  end(): void;
  /** Ends both directions at once; the far end sees a broken stream unless both sides had ended. */
  destroy(reason?: string): void;
  /** Stops and restarts `onData`. While paused the window fills and the far end stops. Starts paused until the handlers are set and `resume` is called. */
  pause(): void;
  resume(): void;
  /** Bytes from the far end; the view may be kept. */
  onData: (view: Uint8Array) => void;
  /** The far end half-closed, after its last byte. */
  onEnd: () => void;
  /** After `write` returned false: room again. */
  onDrain: () => void;
  /** Once, last. `error` when the circuit broke before both directions had ended. */
  onClose: (error?: CircuitError) => void;
}

/** Why a circuit could not be made, or broke. `hop` names the part that failed, for the log and the error page. */
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
  /** This identity may not dial the service, or it is gone. */
  | 'not-authorized'
  /** No control plane answers, which alone can make circuits. */
  | 'control-away'
  | 'timeout'
  | 'channel-closed'
  | 'circuit-closed'
  | 'overlay';
