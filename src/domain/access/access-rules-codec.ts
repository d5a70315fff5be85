/**
 * Decodes access rules from another program or another version. A rule that this version does not understand
 * restricts access in an unknown way, so the whole set is refused with the name of that field, and its share has
 * to be closed.
 */
import { OPEN_RULES, type AccessRules } from './access-rules.ts';

export type ReadRules = { readonly rules: AccessRules } | { readonly unreadable: string };

/** Returns undefined for a valid value, or the path of the invalid field, starting with `at`. */
type Check = (value: unknown, at: string) => string | undefined;

/** Fields that were added after the first version. A control plane that does not send them means their defaults. */
const { allowedOrigins, allowPreflights, responseTimeoutMs, contact } = OPEN_RULES;
const LATER_FIELDS = { allowedOrigins, allowPreflights, responseTimeoutMs, contact };

const flag: Check = (value, at) => (typeof value === 'boolean' ? undefined : at);
const text: Check = (value, at) => (typeof value === 'string' ? undefined : at);
const count: Check = (value, at) => (Number.isSafeInteger(value) && (value as number) > 0 ? undefined : at);
const time: Check = (value, at) => (Number.isFinite(value) ? undefined : at);

function orNull(check: Check): Check {
  return (value, at) => (value === null ? undefined : check(value, at));
}

function listOf(check: Check): Check {
  return (value, at) => {
    if (!Array.isArray(value)) return at;
    for (const [i, item] of value.entries()) {
      const problem = check(item, `${at}.${i}`);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
}

/** Requires exactly these fields, because an unknown one may restrict access. */
function exactly(checks: Readonly<Record<string, Check>>): Check {
  return (value, at) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return at;
    const under = at === '' ? '' : `${at}.`;
    for (const [name, check] of Object.entries(checks)) {
      const problem = check((value as Readonly<Record<string, unknown>>)[name], `${under}${name}`);
      if (problem !== undefined) return problem;
    }
    const unknown = Object.keys(value).find((name) => !Object.hasOwn(checks, name));
    return unknown === undefined ? undefined : `${under}${unknown}`;
  };
}

const CHECKS: { readonly [K in keyof AccessRules]: Check } = {
  emails: listOf(text),
  claims: listOf(exactly({ claim: text, anyOf: listOf(text) })),
  basicAuth: listOf(exactly({ name: text, passwordHash: text })),
  clientCertificate: orNull(exactly({ authorities: listOf(text), names: listOf(text) })),
  ip: exactly({ allow: listOf(text), deny: listOf(text) }),
  publicPaths: listOf(text),
  expiresAtMs: orNull(time),
  rateLimit: orNull(exactly({ requests: count, perMs: count })),
  session: exactly({ idleMs: count, absoluteMs: count }),
  allowedOrigins: listOf(text),
  allowPreflights: flag,
  responseTimeoutMs: orNull(count),
  contact: orNull(text),
};

const checkRules = exactly(CHECKS);

/**
 * The rules as they are sent: a later field that has its default is left out, so that an older gateway closes the shares
 * that use a rule which it does not know, and no others. `readAccessRules` puts the defaults back.
 */
export function sentAccessRules(rules: AccessRules): Partial<AccessRules> {
  const defaults: Readonly<Record<string, unknown>> = LATER_FIELDS;
  const isSent = ([name, value]: readonly [string, unknown]): boolean =>
    !Object.hasOwn(defaults, name) || JSON.stringify(value) !== JSON.stringify(defaults[name]);
  return Object.fromEntries(Object.entries(rules).filter(isSent));
}

export function readAccessRules(value: unknown): ReadRules {
  const whole: unknown =
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? { ...LATER_FIELDS, ...value }
      : value;
  const problem = checkRules(whole, '');
  if (problem === undefined) return { rules: whole as AccessRules };
  return { unreadable: problem };
}
