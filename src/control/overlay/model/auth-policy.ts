/** Policies that say how identities may log in, and how their passwords have to be. Administrators make them. */
import { textsOf } from '#base';
import type { EdgeEntityRecord, JsonObject } from './edge-entity.ts';

export const DEFAULT_AUTH_POLICY_ID = 'default';
/** As OpenZiti's own policy requires. */
const DEFAULT_MIN_PASSWORD_CHARS = 5;

/** The policy of identities that have no other, until an administrator changes it: a row with its id replaces it. */
export const DEFAULT_AUTH_POLICY: EdgeEntityRecord = {
  id: DEFAULT_AUTH_POLICY_ID,
  kind: 'auth-policy',
  name: 'Default',
  tags: {},
  createdAtMs: 0,
  updatedAtMs: 0,
  data: {
    primary: {
      cert: { allowed: true, allowExpiredCerts: false },
      extJwt: { allowed: true, allowedSigners: [] },
      updb: {
        allowed: true,
        minPasswordLength: DEFAULT_MIN_PASSWORD_CHARS,
        maxAttempts: 0,
        lockoutDurationMinutes: 0,
        requireMixedCase: false,
        requireNumberChar: false,
        requireSpecialChar: false,
      },
    },
    secondary: { requireTotp: false, requireExtJwtSigner: null },
  },
};

/** Where a policy and an identity are looked up. */
export interface AuthPolicySource {
  get(kind: 'identity' | 'auth-policy', id: string): EdgeEntityRecord | undefined;
}

/** How an identity has proven itself. `signerId` is that of the token's signer, for `ext-jwt`. */
export interface LogInWay {
  readonly method: 'cert' | 'password' | 'ext-jwt';
  readonly signerId?: string | undefined;
}

export function authPolicyIdOf({ data }: Pick<EdgeEntityRecord, 'data'>): string {
  const { authPolicyId } = data;
  return typeof authPolicyId === 'string' && authPolicyId !== '' ? authPolicyId : DEFAULT_AUTH_POLICY_ID;
}

/**
 * Identities that are not of the edge management API, such as environments, have the default as it is built in: changes of it
 * do not reach them (ADR 0034).
 */
export function authPolicyOf(edge: AuthPolicySource, identityId: string): EdgeEntityRecord {
  const identity = edge.get('identity', identityId);
  if (identity === undefined) return DEFAULT_AUTH_POLICY;
  const policy = edge.get('auth-policy', authPolicyIdOf(identity));
  return policy ?? edge.get('auth-policy', DEFAULT_AUTH_POLICY_ID) ?? DEFAULT_AUTH_POLICY;
}

/** Whether the policy permits a log-in. Signers that it does not list are permitted if it lists none. */
export function permitsLogIn({ data }: EdgeEntityRecord, { method, signerId }: LogInWay): boolean {
  const primary = objectAt(data, 'primary');
  if (method === 'cert') return objectAt(primary, 'cert')['allowed'] === true;
  if (method === 'password') return objectAt(primary, 'updb')['allowed'] === true;
  const { allowed, allowedSigners } = objectAt(primary, 'extJwt');
  const signers = textsOf(allowedSigners);
  return allowed === true && (signers.length === 0 || (signerId !== undefined && signers.includes(signerId)));
}

/** Whether a certificate logs in after its end, too. */
export function permitsExpired({ data }: EdgeEntityRecord): boolean {
  return objectAt(objectAt(data, 'primary'), 'cert')['allowExpiredCerts'] === true;
}

/** Wrong passwords in a row that lock a password, and for how long. */
export interface Lockout {
  readonly maxAttempts: number;
  /** 0 locks it until it is set again. */
  readonly minutes: number;
}

/** Returns undefined for a policy that does not limit wrong passwords. */
export function lockoutOf({ data }: EdgeEntityRecord): Lockout | undefined {
  const { maxAttempts, lockoutDurationMinutes } = objectAt(objectAt(data, 'primary'), 'updb');
  if (typeof maxAttempts !== 'number' || maxAttempts === 0) return undefined;
  return { maxAttempts, minutes: Number(lockoutDurationMinutes) };
}

/** Returns the signer of another party whose token every log-in needs, too; undefined for none. */
export function requiredSignerOf({ data }: Pick<EdgeEntityRecord, 'data'>): string | undefined {
  const { requireExtJwtSigner } = objectAt(data, 'secondary');
  return typeof requireExtJwtSigner === 'string' ? requireExtJwtSigner : undefined;
}

/** Whether every log-in needs a one-time password, too. */
export function requiresTotp({ data }: EdgeEntityRecord): boolean {
  return objectAt(data, 'secondary')['requireTotp'] === true;
}

/** Returns what the policy misses in a password. */
export function passwordProblem({ data }: EdgeEntityRecord, password: string): string | undefined {
  const rules = objectAt(objectAt(data, 'primary'), 'updb');
  const least = Number(rules['minPasswordLength']);
  if (password.length < least) return `a password has at least ${least} characters`;
  if (rules['requireMixedCase'] === true && !(/\p{Lu}/u.test(password) && /\p{Ll}/u.test(password)))
    return 'a password has small and capital letters';
  if (rules['requireNumberChar'] === true && !/\p{Nd}/u.test(password)) return 'a password has a digit';
  if (rules['requireSpecialChar'] === true && !/[^\p{L}\p{N}]/u.test(password))
    return 'a password has a character that is neither letter nor digit';
  return undefined;
}

function objectAt(object: JsonObject, field: string): JsonObject {
  const value = object[field];
  return typeof value === 'object' && value !== null ? (value as JsonObject) : {};
}
