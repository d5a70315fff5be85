/** Every bound of the gateway's data path, with its default. Times in milliseconds, sizes in bytes. */
export interface GatewayLimits {
  /** From accept, or from a later head's first byte, to the end of the head. */
  readonly headTimeoutMs: number;
  /** Between the end of an answer and the next request on the same connection. */
  readonly idleTimeoutMs: number;
  /** Whether a request may go on, where that takes more than a look into memory. */
  readonly decisionTimeoutMs: number;
  /** The same while the gateway is closing. */
  readonly drainIdleMs: number;
  /** For a circuit, waiting for a free dial slot included. */
  readonly dialTimeoutMs: number;
  /** From the last byte of the request that was sent to the first of the answer. */
  readonly answerTimeoutMs: number;
  /** Without a byte in either direction, after an answer or an upgrade has begun. */
  readonly streamIdleMs: number;
  /** A client that takes none of the bytes that wait for it. */
  readonly stallTimeoutMs: number;
  /** A client that has half-closed waits this long for the rest of its answer, without a byte of it. */
  readonly halfClosedTimeoutMs: number;
  /** A request's body that comes slower than this over `bodyRateWindowMs` is cut; 0: never. */
  readonly minBodyBytesPerS: number;
  readonly bodyRateWindowMs: number;
  /** After a final answer, how long bytes of the client are read and discarded so that it can read the answer. */
  readonly lingerMs: number;

  readonly maxHeadBytes: number;
  readonly maxRequestLineBytes: number;
  readonly maxFields: number;
  readonly maxResponseHeadBytes: number;
  readonly maxResponseFields: number;
  /** Answers 1xx before the answer proper. */
  readonly maxInterimAnswers: number;
  /** Bytes that wait for a client's socket before its circuit is paused. */
  readonly maxUnsentBytes: number;

  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number;
  readonly maxIdleCircuitsPerShare: number;
  readonly maxIdleCircuits: number;
  /** Circuits of a share with requests lately that wait for a time without any control plane; 0: none. */
  readonly standbyPerShare: number;
  /** Standby circuits of all shares together. */
  readonly maxStandbyCircuits: number;
  readonly idleCircuitMs: number;
  /** A circuit that is older is replaced, once a dial has shown that it can be: circuits leave parts that drain by themselves. */
  readonly circuitAgeMs: number;
  /** How long requests wait for a host to come back, after the last host of a share that was served went. */
  readonly absenceHoldMs: number;
  /** Dials of one share at the same time. */
  readonly maxDialsPerShare: number;
  /** Requests of one share that wait for a circuit. */
  readonly maxWaitingPerShare: number;
}

export const DEFAULT_GATEWAY_LIMITS: GatewayLimits = {
  headTimeoutMs: 10_000,
  idleTimeoutMs: 60_000,
  drainIdleMs: 1_000,
  decisionTimeoutMs: 10_000,
  dialTimeoutMs: 10_000,
  answerTimeoutMs: 60_000,
  streamIdleMs: 3_600_000,
  stallTimeoutMs: 600_000,
  halfClosedTimeoutMs: 60_000,
  minBodyBytesPerS: 240,
  bodyRateWindowMs: 10_000,
  lingerMs: 2_000,

  maxHeadBytes: 16_384,
  maxRequestLineBytes: 8_192,
  maxFields: 100,
  maxResponseHeadBytes: 65_535,
  maxResponseFields: 256,
  maxInterimAnswers: 16,
  maxUnsentBytes: 65_536,

  maxConnections: 16_384,
  maxConnectionsPerAddress: 1_024,
  maxIdleCircuitsPerShare: 512,
  maxIdleCircuits: 2_048,
  standbyPerShare: 2,
  maxStandbyCircuits: 512,
  idleCircuitMs: 30_000,
  circuitAgeMs: 10_000,
  absenceHoldMs: 5_000,
  maxDialsPerShare: 64,
  maxWaitingPerShare: 8_192,
};
