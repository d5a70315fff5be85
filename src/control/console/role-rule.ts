/** The role that a newcomer gets from an identity provider's statements. */
import type { Role } from '#domain';
import { EmailPatterns } from '#domain/access';
import type { ProvenPerson } from '../shares/logins/mod.ts';
import type { RoleRule } from '../credentials/people/mod.ts';

/** Returns the role of the first rule that fits, or null. An e-mail address counts if the provider verified it. */
export function roleOf(rules: readonly RoleRule[], { email, groups }: ProvenPerson): Role | null {
  const fits = (rule: RoleRule): boolean => {
    if (rule.group !== undefined && !groups.includes(rule.group)) return false;
    if (rule.email === undefined) return rule.group !== undefined;
    return email !== null && new EmailPatterns([rule.email]).fits(email);
  };
  return rules.find(fits)?.role ?? null;
}
