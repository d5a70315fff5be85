/**
 * The rules of a share, or of a shared policy, as a person edits them: lists as lines, numbers and times as texts, so that nothing typed is lost before the
 * API has judged it. Pure.
 */
import type { AnswerOf } from '#contract';
import type { SharePolicyAnswer, SharePolicyBody } from '#contract/schemas';
import { NO_RULES } from '#contract/access-sentences';
import { numberOf } from '../../parts/typed-number.ts';
import { spanDraftOf, spanOf, type SpanDraft } from './span-draft.ts';

/** What a share and a shared policy have in common. */
export type PolicyRules = Omit<SharePolicyAnswer, 'warnings'>;

export interface ClaimDraft {
  readonly claim: string;
  /** Lines. */
  readonly anyOf: string;
}

export interface BasicUserDraft {
  readonly name: string;
  /** `MASK`: the stored one is kept. */
  readonly password: string;
}

export interface PolicyDraft {
  readonly emails: string;
  readonly claims: readonly ClaimDraft[];
  readonly basicAuth: readonly BasicUserDraft[];
  readonly ipAllow: string;
  readonly ipDeny: string;
  readonly publicPaths: string;
  /** ISO 8601; '': never. */
  readonly expiresAt: string;
  /** '': no limit. */
  readonly rateRequests: string;
  readonly ratePer: SpanDraft;
  readonly sessionIdle: SpanDraft;
  readonly sessionAbsolute: SpanDraft;
  readonly allowedOrigins: string;
  readonly allowPreflights: boolean;
  /** PEM certificates, one after the other; '': none is asked for. */
  readonly authorities: string;
  readonly certificateNames: string;
  readonly responseTimeoutSeconds: string;
  readonly contact: string;
  readonly httpsRedirect: SharePolicyAnswer['httpsRedirect'];
  readonly hsts: HstsDraft;
  readonly cors: CorsDraft;
}

export interface HstsDraft {
  /** Whether gateways send the header. */
  readonly isOn: boolean;
  readonly maxAgeSeconds: string;
  readonly includeSubdomains: boolean;
  readonly preload: boolean;
}

/** Lists are lines; empty ones have the defaults of the API. */
export interface CorsDraft {
  /** '': CORS is left to the service. */
  readonly origins: string;
  readonly methods: string;
  readonly headers: string;
  readonly exposedHeaders: string;
  readonly credentials: boolean;
  readonly maxAgeSeconds: string;
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;
/** One year, which most sites use. */
const HSTS_OFF: HstsDraft = {
  isOn: false,
  maxAgeSeconds: '31536000',
  includeSubdomains: false,
  preload: false,
};
const CORS_OFF: CorsDraft = {
  origins: '',
  methods: '',
  headers: '',
  exposedHeaders: '',
  credentials: false,
  maxAgeSeconds: '',
};
const ONE_MINUTE: SpanDraft = { amount: '1', unit: 'M' };

export function policyDraftOf(policy: PolicyRules): PolicyDraft {
  const { rateLimit, session, clientCertificate, responseTimeoutSeconds } = policy;
  return {
    emails: textOf(policy.emails),
    claims: policy.claims.map(({ claim, anyOf }) => ({ claim, anyOf: textOf(anyOf) })),
    basicAuth: policy.basicAuth.map(({ name, password }) => ({ name, password })),
    ipAllow: textOf(policy.ipAllow),
    ipDeny: textOf(policy.ipDeny),
    publicPaths: textOf(policy.publicPaths),
    expiresAt: policy.expiresAt ?? '',
    rateRequests: rateLimit === null ? '' : String(rateLimit.requests),
    ratePer: rateLimit === null ? ONE_MINUTE : spanDraftOf(rateLimit.per),
    sessionIdle: spanDraftOf(session.idle),
    sessionAbsolute: spanDraftOf(session.absolute),
    allowedOrigins: textOf(policy.allowedOrigins),
    allowPreflights: policy.allowPreflights,
    authorities: clientCertificate === null ? '' : clientCertificate.authorities.join(''),
    certificateNames: textOf(clientCertificate?.names ?? []),
    responseTimeoutSeconds: responseTimeoutSeconds === null ? '' : String(responseTimeoutSeconds),
    contact: policy.contact ?? '',
    httpsRedirect: policy.httpsRedirect,
    hsts: hstsDraftOf(policy.hsts),
    cors: corsDraftOf(policy.cors),
  };
}

function hstsDraftOf(hsts: SharePolicyAnswer['hsts']): HstsDraft {
  if (hsts === null) return HSTS_OFF;
  const { maxAgeSeconds, includeSubdomains, preload } = hsts;
  return { isOn: true, maxAgeSeconds: String(maxAgeSeconds), includeSubdomains, preload };
}

function corsDraftOf(cors: SharePolicyAnswer['cors']): CorsDraft {
  if (cors === null) return CORS_OFF;
  return {
    origins: textOf(cors.origins),
    methods: textOf(cors.methods),
    headers: textOf(cors.headers),
    exposedHeaders: textOf(cors.exposedHeaders),
    credentials: cors.credentials,
    maxAgeSeconds: String(cors.maxAgeSeconds),
  };
}

/** The body of the change. Fields of a newer API, which this console does not know, stay as they were read. */
export function policyOf(draft: PolicyDraft, rules: PolicyRules): SharePolicyBody {
  const { rateRequests, authorities, certificateNames, responseTimeoutSeconds, contact } = draft;
  return {
    ...rules,
    emails: linesOf(draft.emails),
    claims: draft.claims.map(({ claim, anyOf }) => ({ claim: claim.trim(), anyOf: linesOf(anyOf) })),
    basicAuth: draft.basicAuth.map(({ name, password }) => ({ name: name.trim(), password })),
    ipAllow: linesOf(draft.ipAllow),
    ipDeny: linesOf(draft.ipDeny),
    publicPaths: linesOf(draft.publicPaths),
    expiresAt: draft.expiresAt === '' ? null : draft.expiresAt,
    rateLimit:
      rateRequests.trim() === '' ? null : { requests: numberOf(rateRequests), per: spanOf(draft.ratePer) },
    session: { idle: spanOf(draft.sessionIdle), absolute: spanOf(draft.sessionAbsolute) },
    allowedOrigins: linesOf(draft.allowedOrigins),
    allowPreflights: draft.allowPreflights,
    clientCertificate:
      authorities.trim() === ''
        ? null
        : { authorities: certificatesOf(authorities), names: linesOf(certificateNames) },
    responseTimeoutSeconds: responseTimeoutSeconds.trim() === '' ? null : numberOf(responseTimeoutSeconds),
    contact: contact.trim() === '' ? null : contact.trim(),
    httpsRedirect: draft.httpsRedirect,
    hsts: hstsOf(draft.hsts),
    cors: corsOf(draft.cors),
  };
}

function hstsOf({
  isOn,
  maxAgeSeconds,
  includeSubdomains,
  preload,
}: HstsDraft): NonNullable<SharePolicyBody['hsts']> | null {
  return isOn ? { maxAgeSeconds: numberOf(maxAgeSeconds), includeSubdomains, preload } : null;
}

function corsOf(draft: CorsDraft): NonNullable<SharePolicyBody['cors']> | null {
  const origins = linesOf(draft.origins);
  if (origins.length === 0) return null;
  const methods = linesOf(draft.methods);
  return {
    origins,
    ...(methods.length === 0 ? {} : { methods }),
    headers: linesOf(draft.headers),
    exposedHeaders: linesOf(draft.exposedHeaders),
    credentials: draft.credentials,
    ...(draft.maxAgeSeconds.trim() === '' ? {} : { maxAgeSeconds: numberOf(draft.maxAgeSeconds) }),
  };
}

/** The rules of a share, without what the API says about them. */
export function rulesOfShare({ warnings: _about, ...rules }: SharePolicyAnswer): PolicyRules {
  return rules;
}

/** The rules of a shared policy, without its name and what is measured. */
export function rulesOfPolicy(policy: AnswerOf<'getPolicy'>): PolicyRules {
  const { id: _id, name: _name, shareCount: _count, createdAt: _at, ...rules } = policy;
  return rules;
}

/** A draft without any rule. */
export const EMPTY_DRAFT: PolicyDraft = policyDraftOf(NO_RULES);

/** The changes of a draft that take a rule away. */
export function unsetRule(fields: readonly (keyof PolicyDraft)[]): Partial<PolicyDraft> {
  return Object.fromEntries(fields.map((field) => [field, EMPTY_DRAFT[field]]));
}

/** Names of the fields that differ. */
export function changedFields(read: PolicyRules, wanted: SharePolicyBody): readonly string[] {
  const before: Readonly<Record<string, unknown>> = policyOf(policyDraftOf(read), read);
  return Object.entries(wanted)
    .filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name]))
    .map(([name]) => name);
}

export function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

function textOf(lines: readonly string[]): string {
  return lines.join('\n');
}

/** Other text is sent, too, so that the API refuses it. */
function certificatesOf(text: string): string[] {
  const found = text.match(CERTIFICATE)?.map((pem) => `${pem}\n`) ?? [];
  const rest = text.replaceAll(CERTIFICATE, '').trim();
  return rest === '' ? found : [...found, rest];
}
