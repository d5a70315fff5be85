/** Every bound of access that an operator or a test may set. */
import type { Rate } from './rate-limits.ts';

export interface AccessLimits {
  /** Log-ins that one address starts at one share; and those that it returns from. */
  readonly loginRate: Rate;
  /** Wrong tokens, keys or session cookies of one address at one share (keys: for each provider), before no more of it are checked there. */
  readonly wrongRate: Rate;
  /** Wrong names and passwords of one address at one share. */
  readonly wrongPasswordRate: Rate;
  readonly maxSessions: number;
  /** Sessions that the control plane is being asked about. */
  readonly maxLookups: number;
  readonly maxTokens: number;
  /** Tokens being verified. */
  readonly maxChecks: number;
  /** Callers whose rates are kept; and addresses with wrong credentials, each at each share. */
  readonly maxCallers: number;
  readonly usageEveryMs: number;
}

export const DEFAULT_ACCESS_LIMITS: AccessLimits = {
  loginRate: { requests: 50, perMs: 5_000 },
  wrongRate: { requests: 200, perMs: 20_000 },
  wrongPasswordRate: { requests: 10, perMs: 10_000 },
  maxSessions: 100_000,
  maxLookups: 512,
  maxTokens: 4_096,
  maxChecks: 256,
  maxCallers: 100_000,
  usageEveryMs: 30_000,
};
