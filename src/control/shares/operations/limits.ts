/** The Management API's limits, with their defaults. */
import type { BucketRate } from '#base';
import type { UnprovenLimits } from '#net';

/** For a caller whose credential was verified from the head. */
export const MAX_BODY_BYTES = 1_048_576;
/** For any caller: requests for a token. */
export const MAX_UNPROVEN_BODY_BYTES = 16_384;

export interface ApiLimits extends UnprovenLimits {
  /** Tokens, enrollments and bootstrap tokens, each per client address. */
  readonly credentials: BucketRate;
  /** All operations except reads, per caller. */
  readonly writes: BucketRate;
  /** Wrong secrets at the token endpoint, per client and address. */
  readonly failedLogins: BucketRate;
  readonly maxConnections: number;
  /** For the TLS handshake, and for the head of a request. */
  readonly headTimeoutMs: number;
  /** For a whole request with its body. */
  readonly requestTimeoutMs: number;
}

export const defaultApiLimits: ApiLimits = {
  credentials: { perSecond: 20, burst: 200 },
  writes: { perSecond: 1_000, burst: 2_000 },
  failedLogins: { perSecond: 1, burst: 20 },
  maxConnections: 4_096,
  headTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
};
