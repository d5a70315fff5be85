/**
 * One event of the audit trail, as whoever caused it describes it. Secrets never stand in it: `before` and `after` are
 * the views that the API shows, and whatever is named like a secret is masked once more on the way in.
 */
import { MASK } from '../secrets/mod.ts';

export type ActorKind =
  /** Callers of the Management API. */
  | 'account'
  | 'client'
  /** A caller whom another issuer vouches for. */
  | 'issuer'
  /** Machines, by their certificate. */
  | 'environment'
  | 'gateway'
  | 'router'
  /** Whoever holds an enrollment code. */
  | 'enrollment'
  /** Whoever logged in at a share: `<provider>#<subject>`. */
  | 'visitor'
  /** No credential, or a bad one. */
  | 'anonymous'
  /** This program itself: a first start, an expiry, a rotation. */
  | 'system';

export interface Actor {
  readonly kind: ActorKind;
  readonly id: string | null;
}

export interface AuditTarget {
  /** The resource's name in singular: `frontdoor`, `environment`, `share`, `auth-provider`, `api-account`… */
  readonly kind: string;
  readonly id: string;
}

export interface AuditEntry {
  /** '': belongs to no organization. */
  readonly organizationId: string;
  readonly actor: Actor;
  /** Id of the operation, or of what a machine did. */
  readonly action: string;
  readonly target?: AuditTarget | undefined;
  readonly before?: unknown;
  readonly after?: unknown;
  /** Of the connection; null for the program itself. */
  readonly address: string | null;
  readonly result: 'ok' | 'refused';
  /** Code of a refusal. */
  readonly reason?: string | undefined;
  /** So many equal ones. */
  readonly occurrences?: number | undefined;
}

const SECRET_NAMES = /^(?:token|secret|key|password|code|enrollmentCode|.*[Ss]ecret|.*_hmac|.*_sealed)$/;
const MAX_DEPTH = 8;

/** The same value with everything masked whose name says that it is a secret. A share's token is its name. */
export function masked(value: unknown, targetKind: string | undefined, depth = 0): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_DEPTH) return null;
  if (Array.isArray(value)) return value.map((item) => masked(item, targetKind, depth + 1));
  const result: Record<string, unknown> = {};
  for (const [name, inner] of Object.entries(value)) {
    if (inner === undefined) continue;
    const isShareToken = targetKind === 'share' && name === 'token' && depth === 0;
    const isSecret = SECRET_NAMES.test(name) && !isShareToken && typeof inner === 'string';
    result[name] = isSecret ? MASK : masked(inner, targetKind, depth + 1);
  }
  return result;
}
