/** Reads the claim of a rule from an identity and checks its value. */
import type { ClaimRule } from './access-rules.ts';
import type { CallerIdentity } from './caller-identity.ts';

const MAX_DEPTH = 8;

/**
 * `groups` are the identity's groups. A claim with exactly this name has precedence over a path into an object,
 * because names such as `https://example.com/roles` contain dots.
 */
export function readClaim(identity: Pick<CallerIdentity, 'claims' | 'groups'>, claim: string): unknown {
  if (claim === 'groups') return identity.groups;
  if (Object.hasOwn(identity.claims, claim)) return identity.claims[claim];
  const steps = claim.split('.');
  if (steps.length < 2 || steps.length > MAX_DEPTH) return undefined;
  let value: unknown = identity.claims;
  for (const step of steps) {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, step))
      return undefined;
    value = (value as Readonly<Record<string, unknown>>)[step];
  }
  return value;
}

/** Whether the claim is one of the values, or a list that contains one; compared exactly. */
export function holdsClaim(identity: Pick<CallerIdentity, 'claims' | 'groups'>, rule: ClaimRule): boolean {
  const value = readClaim(identity, rule.claim);
  return Array.isArray(value) ? value.some((each) => isOneOf(rule, each)) : isOneOf(rule, value);
}

function isOneOf({ anyOf }: ClaimRule, value: unknown): boolean {
  if (typeof value === 'string') return anyOf.includes(value);
  return (typeof value === 'number' || typeof value === 'boolean') && anyOf.includes(String(value));
}
