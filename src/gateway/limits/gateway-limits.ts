/** The limits of the gateway's data path, with defaults. Times are in milliseconds, sizes in bytes. */
import { definedFields } from '#base';

export interface GatewayLimits {
  /** From accept, or from a later head's first byte, to the end of the head. */
  readonly headTimeoutMs: number;
  /** From accept to the end of the PROXY header of a trusted proxy. */
  readonly proxyHeaderTimeoutMs: number;
  /** Between the end of a response and the next request on the same connection. */
  readonly idleTimeoutMs: number;
  /** Time for an access decision that cannot be made from memory. */
  readonly decisionTimeoutMs: number;
  /** The same as `idleTimeoutMs`, while the gateway is closing. */
  readonly drainIdleMs: number;
  /** Time for one dial. With the wait for a free slot, a request may take `circuitWaitMs`. */
  readonly dialTimeoutMs: number;
  /** From the last byte of the request to the first byte of the response. */
  readonly answerTimeoutMs: number;
  /** Without a byte in either direction, after a response or an upgrade has begun. */
  readonly streamIdleMs: number;
  /** For a client that reads none of its pending bytes. */
  readonly stallTimeoutMs: number;
  /** How long a half-closed client waits for the rest of its response without receiving a byte. */
  readonly halfClosedTimeoutMs: number;
  /** A request body slower than this over `bodyRateWindowMs` counts as slow; 0 disables the check. */
  readonly minBodyBytesPerS: number;
  readonly bodyRateWindowMs: number;
  /** A body that stays slow for this time is cut. A pause of a minute is shorter, with a window before and behind it. */
  readonly slowBodyMs: number;
  /** Slow bodies in all, and of one address; see `SlowBodies`. */
  readonly maxSlowBodies: number;
  readonly maxSlowBodiesPerAddress: number;
  /** How long data is discarded after a final response, so that the client can read the response. */
  readonly lingerMs: number;

  readonly maxHeadBytes: number;
  /** What unfinished heads, and large ones of running requests, use together: see `HeadBudget`. */
  readonly maxHeadsBytes: number;
  /** Heads up to this size are charged to that budget only while they are unfinished. */
  readonly smallHeadBytes: number;
  /** Bytes of a client that wait while an earlier request is decided or served; more are not read. */
  readonly maxHeldBytes: number;
  readonly maxRequestLineBytes: number;
  readonly maxFields: number;
  readonly maxResponseHeadBytes: number;
  readonly maxResponseFields: number;
  /** 1xx responses that are passed on at once, and a second from then on. Further ones are dropped. */
  readonly interimBurst: number;
  readonly interimsPerS: number;
  /** Pending bytes of a client's socket at which its circuit is paused. */
  readonly maxUnsentBytes: number;

  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number;
  /** Open connections to a share that does not speak HTTP. */
  readonly maxStreamsPerShare: number;
  /** Flows of datagrams of all shares. */
  readonly maxDatagramFlows: number;
  readonly maxIdleCircuitsPerShare: number;
  readonly maxIdleCircuits: number;
  /** Standby circuits per share with recent requests, for times without any control plane; 0: none. */
  readonly standbyPerShare: number;
  /** Standby circuits of all shares together. */
  readonly maxStandbyCircuits: number;
  readonly idleCircuitMs: number;
  /**
   * An older circuit is replaced, once a dial has shown that new circuits can be made, so that circuits leave
   * draining parts by themselves.
   */
  readonly circuitAgeMs: number;
  /**
   * How long requests wait for a host to return, after the last host of a served share left. A router may notice at once that
   * it has lost an agent, which itself notices the loss after 8 s of silence, looks once a second, and has to connect again.
   */
  readonly absenceHoldMs: number;
  /**
   * How long a request waits in all for a host that does not answer, which may be frozen. An agent whose connection was
   * forgotten is back within 3 s.
   */
  readonly silenceHoldMs: number;
  /** How long a request waits for a control plane once none is there. A router needs a part of this to connect again. */
  readonly controlAwayHoldMs: number;
  /** Concurrent dials per share. */
  readonly maxDialsPerShare: number;
  /** Requests per share that wait for a circuit. */
  readonly maxWaitingPerShare: number;
}

/** The longest wait of a request for a circuit. The pool decides first. */
export function circuitWaitMs({ dialTimeoutMs, absenceHoldMs }: GatewayLimits): number {
  return Math.max(dialTimeoutMs, absenceHoldMs) + 1_000;
}

export const DEFAULT_GATEWAY_LIMITS: GatewayLimits = {
  headTimeoutMs: 10_000,
  proxyHeaderTimeoutMs: 5_000,
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
  slowBodyMs: 90_000,
  maxSlowBodies: 1_024,
  maxSlowBodiesPerAddress: 64,
  lingerMs: 2_000,

  maxHeadBytes: 65_536,
  maxHeadsBytes: 67_108_864,
  smallHeadBytes: 16_384,
  maxHeldBytes: 16_384,
  maxRequestLineBytes: 8_192,
  maxFields: 200,
  maxResponseHeadBytes: 65_536,
  maxResponseFields: 256,
  interimBurst: 16,
  interimsPerS: 4,
  maxUnsentBytes: 65_536,

  maxConnections: 16_384,
  maxConnectionsPerAddress: 1_024,
  maxStreamsPerShare: 4_096,
  maxDatagramFlows: 16_384,
  maxIdleCircuitsPerShare: 512,
  maxIdleCircuits: 2_048,
  standbyPerShare: 2,
  maxStandbyCircuits: 512,
  idleCircuitMs: 30_000,
  circuitAgeMs: 10_000,
  absenceHoldMs: 12_000,
  silenceHoldMs: 5_000,
  controlAwayHoldMs: 1_000,
  maxDialsPerShare: 64,
  maxWaitingPerShare: 8_192,
};

/** What an operator sets about heads; undefined: the default. */
export interface HeadLimits {
  readonly maxBytes?: number | undefined;
  readonly maxFields?: number | undefined;
}

/** Heads of responses may always be as large as by default: their senders are known. */
export function headLimits({ maxBytes, maxFields }: HeadLimits): Partial<GatewayLimits> {
  const { maxRequestLineBytes, maxResponseHeadBytes, maxResponseFields } = DEFAULT_GATEWAY_LIMITS;
  return definedFields({
    maxHeadBytes: maxBytes,
    maxRequestLineBytes: maxBytes && Math.min(maxBytes, maxRequestLineBytes),
    maxResponseHeadBytes: maxBytes && Math.max(maxBytes, maxResponseHeadBytes),
    maxFields,
    maxResponseFields: maxFields && Math.max(maxFields, maxResponseFields),
  });
}
