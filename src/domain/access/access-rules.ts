/**
 * The access rules of a share, as gateways receive them and as every decision uses them. The auth providers are
 * listed separately, by host. Times are in milliseconds, passwords are argon2id hashes. `contract`'s share policy
 * is the form of the API.
 * Its objects are closed: a rule that a reader does not know may be what keeps someone out.
 */
import type { TProperties } from 'typebox';
import { Part, Type, type ShapeOf } from '#base/shapes';
import { corsRulesSchema, hstsRulesSchema, httpsRedirectSchema } from './web-rules.ts';

const { closed, flag, nullable, number, text, texts, withDefault } = Part;

const sessionLimitsSchema = closed({ idleMs: number(), absoluteMs: number() });
export type SessionLimits = ShapeOf<typeof sessionLimitsSchema>;

const claimRuleSchema = closed({
  /** `groups`, or the name of a claim; `a.b` selects a field of an object. */
  claim: text(),
  /** The claim equals one of these values, or contains one. */
  anyOf: texts(),
});
export type ClaimRule = ShapeOf<typeof claimRuleSchema>;

const basicUserSchema = closed({
  name: text(),
  /** PHC string: `$argon2id$v=19$m=…,t=…,p=…$salt$hash`. */
  passwordHash: text(),
});
export type BasicUser = ShapeOf<typeof basicUserSchema>;

const clientCertificateSchema = closed({
  /** PEM certificates of the trusted authorities. */
  authorities: texts(),
  /**
   * One must equal the subject's common name, a DNS name or an e-mail address of the leaf (`*` as in e-mail
   * patterns); empty: any name.
   */
  names: texts(),
});
export type ClientCertificateRule = ShapeOf<typeof clientCertificateSchema>;

const rateLimitSchema = closed({ requests: number(), perMs: number() });
/** Applies per caller: an identity if there is one, otherwise an address. */
export type RateLimit = ShapeOf<typeof rateLimitSchema>;

export const accessRulesSchema = closed({
  /**
   * One pattern must match the verified e-mail address of a log-in or token; empty: any address.
   * `ann@example.com`, `*@example.com`.
   */
  emails: texts(),
  /** Rules that a log-in or token must all satisfy. */
  claims: Type.Array(claimRuleSchema),
  basicAuth: Type.Array(basicUserSchema),
  clientCertificate: nullable(clientCertificateSchema),
  /** CIDRs or addresses. `deny` has precedence; with an allow list, all other addresses are denied. */
  ip: closed({ allow: texts(), deny: texts() }),
  /** `/health`, `/static/*`: paths that require no identity. All other rules apply to them. */
  publicPaths: texts(),
  /** Every request is refused from this time on, in Unix milliseconds. */
  expiresAtMs: nullable(Type.Number()),
  rateLimit: nullable(rateLimitSchema),
  session: sessionLimitsSchema,
  // Fields after the first version have defaults: a control plane that does not send them means these.
  /** Canonical origins whose pages may act for callers that browsers identify by themselves. */
  allowedOrigins: withDefault(texts(), []),
  /** Whether CORS preflights, which carry no credential, are forwarded to the service. */
  allowPreflights: withDefault(flag(), false),
  /** Time limit for the first byte of the service's response; null: the gateway's own limit. */
  responseTimeoutMs: withDefault(nullable(number()), null),
  /** The owner's contact for people who are refused: an e-mail address or a web address. */
  contact: withDefault(nullable(text()), null),
  /** Pages of other origins that may read answers; null: only the service sets such headers. */
  cors: withDefault(nullable(corsRulesSchema), null),
  /** Null: only the service sets it. */
  hsts: withDefault(nullable(hstsRulesSchema), null),
  httpsRedirect: withDefault(httpsRedirectSchema, 'auto'),
});
export type AccessRules = ShapeOf<typeof accessRulesSchema>;

export const DEFAULT_SESSION_LIMITS: SessionLimits = { idleMs: 8 * 3_600_000, absoluteMs: 7 * 86_400_000 };

/** The rules of a share without a policy. */
export const OPEN_RULES: AccessRules = {
  emails: [],
  claims: [],
  basicAuth: [],
  clientCertificate: null,
  ip: { allow: [], deny: [] },
  publicPaths: [],
  expiresAtMs: null,
  rateLimit: null,
  session: DEFAULT_SESSION_LIMITS,
  allowedOrigins: [],
  allowPreflights: false,
  responseTimeoutMs: null,
  contact: null,
  cors: null,
  hsts: null,
  httpsRedirect: 'auto',
};

/**
 * The rules as they are sent: a field that has its default is left out, so that an older gateway closes the shares that
 * use a rule which it does not know, and no others. Readers put the defaults back.
 */
export function sentAccessRules(rules: AccessRules): Partial<AccessRules> {
  const fields: TProperties = accessRulesSchema.properties;
  const isSent = ([name, value]: readonly [string, unknown]): boolean => {
    const field = fields[name];
    if (field === undefined || !Object.hasOwn(field, 'default')) return true;
    return JSON.stringify(value) !== JSON.stringify((field as { readonly default?: unknown }).default);
  };
  return Object.fromEntries(Object.entries(rules).filter(isSent));
}
