/**
 * One event of the audit trail, as its cause describes it. It never contains secrets: `before` and `after` are
 * the views of the API, and fields with names of secrets are masked again when the event is written.
 */
import { MASK } from '../secrets/mod.ts';

export type ActorKind =
  /** A caller of the Management API. */
  | 'account'
  | 'client'
  /** A caller with a token of a trusted issuer. */
  | 'issuer'
  /** A person with a session at the console. */
  | 'person'
  /** Machines, by their certificate. */
  | 'environment'
  | 'gateway'
  | 'router'
  /** An identity of the edge management API; administrators are among them. */
  | 'edge'
  /** The holder of an enrollment code. */
  | 'enrollment'
  /** A person who logged in at a share: `<provider>#<subject>`. */
  | 'visitor'
  /** No credential, or an invalid one. */
  | 'anonymous'
  /** This program itself: a first start, an expiry, a rotation. */
  | 'system';

export interface Actor {
  readonly kind: ActorKind;
  readonly id: string | null;
}

export interface AuditTarget {
  /** The resource's name in the singular: `frontdoor`, `environment`, `share`, `auth-provider`, `api-account`… */
  readonly kind: string;
  readonly id: string;
}

export interface AuditEntry {
  /** '' if it belongs to no organization. */
  readonly organizationId: string;
  readonly actor: Actor;
  /** Id of the operation, or of a machine's action. */
  readonly action: string;
  readonly target?: AuditTarget | undefined;
  readonly before?: unknown;
  readonly after?: unknown;
  /** Address of the connection; null for the program itself. */
  readonly address: string | null;
  readonly result: 'ok' | 'refused';
  /** Code of a refusal. */
  readonly reason?: string | undefined;
  /** Number of equal events. */
  readonly occurrences?: number | undefined;
}

const SECRET_NAMES = /^(?:token|secret|key|password|code|enrollmentCode|.*[Ss]ecret|.*_hmac|.*_sealed)$/;
const MAX_DEPTH = 8;

/**
 * Returns the value with every field masked whose name is that of a secret. A share's token is its name and is
 * not masked.
 */
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
