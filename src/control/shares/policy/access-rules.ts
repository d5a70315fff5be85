/** Converts a stored policy to the rules of gateways. */
import type { SharePolicy } from '#contract/schemas';
import { parseIsoDuration } from '#domain';
import { DEFAULT_SESSION_LIMITS, type AccessRules, type CorsRules } from '#domain/access';
import type { StoredPolicy } from './stored-policy.ts';

export function accessRulesOf({ policy, passwordHashes }: StoredPolicy): AccessRules {
  const { emails, claims, clientCertificate, publicPaths, rateLimit, session } = policy;
  const { allowedOrigins, allowPreflights, responseTimeoutSeconds, contact, httpsRedirect } = policy;
  const { cors, hsts } = policy;
  return {
    emails,
    claims,
    // A user whose hash is missing is kept with one that no password has, so that the share does not become
    // open.
    basicAuth: policy.basicAuth.map(({ name }) => ({ name, passwordHash: passwordHashes.get(name) ?? '' })),
    clientCertificate,
    ip: { allow: policy.ipAllow, deny: policy.ipDeny },
    publicPaths,
    expiresAtMs: policy.expiresAt === null ? null : Date.parse(policy.expiresAt),
    rateLimit:
      rateLimit === null ? null : { requests: rateLimit.requests, perMs: parseIsoDuration(rateLimit.per)! },
    session: {
      idleMs: parseIsoDuration(session.idle) ?? DEFAULT_SESSION_LIMITS.idleMs,
      absoluteMs: parseIsoDuration(session.absolute) ?? DEFAULT_SESSION_LIMITS.absoluteMs,
    },
    allowedOrigins,
    allowPreflights,
    contact,
    cors: cors === null ? null : corsRulesOf(cors),
    hsts:
      hsts === null
        ? null
        : {
            maxAgeS: hsts.maxAgeSeconds,
            includeSubdomains: hsts.includeSubdomains,
            preload: hsts.preload,
          },
    httpsRedirect,
    responseTimeoutMs: responseTimeoutSeconds === null ? null : responseTimeoutSeconds * 1_000,
  };
}

function corsRulesOf(cors: NonNullable<SharePolicy['cors']>): CorsRules {
  const { origins, methods, headers, exposedHeaders, credentials, maxAgeSeconds } = cors;
  return { origins, methods, headers, exposedHeaders, credentials, maxAgeS: maxAgeSeconds };
}
