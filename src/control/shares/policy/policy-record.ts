/**
 * Converts a share's policy from a request to the form that is stored and shown: complete, with parsed
 * certificates and hashed or kept passwords. `domain/access` defines the meaning of a policy.
 */
import { X509Certificate } from 'node:crypto';
import { FrontdoorError } from '#base';
import { DEFAULT_POLICY, type SharePolicy, type SharePolicyBody } from '#contract/schemas';
import { formatIsoDuration, invalidValue, parseIsoDuration, parseWebOrigin } from '#domain';
import { canonicalEmail, parsePathPattern } from '#domain/access';
import { MASK } from '../../secrets/mod.ts';
import { wantedCors, wantedHsts } from './web-policy-record.ts';
import { hashPassword } from '../../credentials/passwords/mod.ts';
import type { StoredPolicy } from './stored-policy.ts';

/** Every gateway keeps every policy. */
const MAX_POLICY_BYTES = 131_072;

/** A policy that is ready to be stored, except for kept passwords. */
export interface WantedPolicy {
  readonly policy: SharePolicy;
  /** Hashes of the given passwords, by user name. */
  readonly newHashes: ReadonlyMap<string, string>;
}

/**
 * `body` satisfies its schema. Throws `invalid`, `tooLarge`. Slow if passwords are new, so it must not run in a
 * transaction.
 */
export async function wantedPolicyOf(body: SharePolicyBody): Promise<WantedPolicy> {
  const policy = checkedPolicyOf(body);
  const given = (body.basicAuth ?? []).filter(({ password }) => password !== MASK);
  const hashes = await Promise.all(
    given.map(async ({ name, password }) => [name, await hashPassword(password)] as const),
  );
  return { policy, newHashes: new Map(hashes) };
}

/** Returns the policy without passwords, for questions about a policy that is not stored. Throws `invalid`, `tooLarge`. */
export function draftPolicyOf(body: SharePolicyBody): StoredPolicy {
  return { policy: checkedPolicyOf(body), passwordHashes: new Map() };
}

function checkedPolicyOf(body: SharePolicyBody): SharePolicy {
  const policy = wholePolicyOf(body);
  if (Buffer.byteLength(JSON.stringify(policy)) > MAX_POLICY_BYTES) {
    throw new FrontdoorError(
      'tooLarge',
      'too-large',
      `A policy must not be larger than ${MAX_POLICY_BYTES} bytes`,
    );
  }
  return policy;
}

/** Returns the policy to store instead of `before`, or undefined for the default policy. Throws `invalid`. */
export function settledPolicy(
  { policy, newHashes }: WantedPolicy,
  before: StoredPolicy | undefined,
): StoredPolicy | undefined {
  if (JSON.stringify(policy) === JSON.stringify(DEFAULT_POLICY)) return undefined;
  const passwordHashes = new Map<string, string>();
  for (const [at, { name }] of policy.basicAuth.entries()) {
    const hash = newHashes.get(name) ?? before?.passwordHashes.get(name);
    if (hash === undefined)
      throw invalidValue(`basicAuth.${at}.password`, 'password, as none is stored for this name');
    passwordHashes.set(name, hash);
  }
  return { policy, passwordHashes };
}

function wholePolicyOf(body: SharePolicyBody): SharePolicy {
  const { emails = [], claims = [], basicAuth = [], ipAllow = [], ipDeny = [], publicPaths = [] } = body;
  const { expiresAt = null, rateLimit = null, session = {}, clientCertificate = null } = body;
  const {
    allowedOrigins = [],
    allowPreflights = false,
    responseTimeoutSeconds = null,
    contact = null,
    httpsRedirect = 'auto',
  } = body;
  const names = new Set<string>();
  for (const [at, { name }] of basicAuth.entries()) {
    if (names.has(name)) throw invalidValue(`basicAuth.${at}.name`, 'unique name');
    names.add(name);
  }
  return {
    emails: emails.map((text) => canonicalEmail(text)!),
    claims: claims.map(({ claim, anyOf }) => ({ claim, anyOf })),
    basicAuth: basicAuth.map(({ name }) => ({ name, password: MASK })),
    clientCertificate:
      clientCertificate === null
        ? null
        : {
            authorities: clientCertificate.authorities.map(authorityOf),
            names: clientCertificate.names ?? [],
          },
    ipAllow,
    ipDeny,
    publicPaths: publicPaths.map((text) => parsePathPattern(text)!),
    expiresAt: expiresAt === null ? null : new Date(expiresAt).toISOString(),
    rateLimit: rateLimit === null ? null : { requests: rateLimit.requests, per: durationOf(rateLimit.per) },
    session: {
      idle: session.idle === undefined ? DEFAULT_POLICY.session.idle : durationOf(session.idle),
      absolute:
        session.absolute === undefined ? DEFAULT_POLICY.session.absolute : durationOf(session.absolute),
    },
    allowedOrigins: allowedOrigins.map((text) => parseWebOrigin(text)!),
    allowPreflights,
    responseTimeoutSeconds,
    contact,
    cors: wantedCors(body.cors ?? null),
    hsts: wantedHsts(body.hsts ?? null),
    httpsRedirect,
  };
}

/** Re-encoded from the parsed certificate, so that gateways read exactly what was checked here. */
function authorityOf(pem: string, at: number): string {
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(pem);
  } catch {
    throw invalidValue(`clientCertificate.authorities.${at}`, 'PEM certificate');
  }
  if (!certificate.ca) throw invalidValue(`clientCertificate.authorities.${at}`, 'certificate authority');
  return certificate.toString();
}

function durationOf(text: string): string {
  return formatIsoDuration(parseIsoDuration(text)!);
}
