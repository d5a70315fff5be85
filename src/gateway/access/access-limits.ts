/** The limits of access control that an operator or a test can set. */
import type { Rate } from './rate-limits.ts';

export interface AccessLimits {
  /** Log-ins that one address may start at one share, and separately those that may return. */
  readonly loginRate: Rate;
  /**
   * Wrong tokens, keys or session cookies per address and share (for keys per provider). Beyond this rate,
   * further ones are refused unchecked.
   */
  readonly wrongRate: Rate;
  /** Wrong names and passwords per address and share. */
  readonly wrongPasswordRate: Rate;
  readonly maxSessions: number;
  /** Concurrent session look-ups at the control plane. */
  readonly maxLookups: number;
  readonly maxTokens: number;
  /** Concurrent token verifications. */
  readonly maxChecks: number;
  /** Callers with a tracked rate, and addresses with wrong credentials, counted per share. */
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
