/**
 * The enrollment JWT from the view of the enrolling machine. Token and control plane prove each other, because
 * the token is signed with the key of the certificate that its issuer uses for TLS.
 */
import type { X509Certificate } from 'node:crypto';
import { clockProblem, FrontdoorError, systemClock, validityProblem } from '#base';
import { readJsonObject } from '#base/shapes';
import { directDialer, fetchServedCertificate, type OutwardDialer } from '#net';
import { serverDateOf } from '#net/http';

const ALGORITHMS = ['RS256', 'ES256', 'ES384', 'ES512'];

export interface EnrollmentToken {
  /** `https://host:port`, without a default port. */
  readonly issuer: string;
  /** As the token writes it: `https://host:443` is the same address as `https://host`. */
  readonly writtenIssuer: string;
  /** Id of the new identity. */
  readonly subject: string;
  readonly jti: string;
  readonly method: string;
  /** `tls:host:port`; for routers. */
  readonly controlAddresses: readonly string[];
}

/**
 * Returns the unverified content of the token, which is only used to find its issuer. Throws `invalid` if it is
 * not an enrollment token.
 */
export function readEnrollmentToken(jwt: string): EnrollmentToken {
  try {
    const claims = readJsonObject(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString());
    const { iss, sub, jti, em, ctrl, ctrls } = claims;
    if (
      typeof iss === 'string' &&
      typeof sub === 'string' &&
      typeof jti === 'string' &&
      typeof em === 'string'
    ) {
      const { origin, protocol } = new URL(iss);
      if (protocol === 'https:' && sub !== '' && jti !== '') {
        // Older controllers have a single address.
        const named: unknown[] = Array.isArray(ctrls) ? ctrls : [ctrl];
        const controlAddresses = named.filter((one) => typeof one === 'string');
        return { issuer: origin, writtenIssuer: iss, subject: sub, jti, method: em, controlAddresses };
      }
    }
  } catch {
    // The error below must not contain any part of the token.
  }
  throw new FrontdoorError('invalid', 'enrollment-token-unreadable', 'this is not an enrollment token');
}

/**
 * Fetches the issuer's certificate and verifies the token with it. From here on the certificate is the trust
 * anchor. If `ca` of `trust` is given, the certificate must also chain to it.
 */
export async function proveEnrollmentToken(
  jwt: string,
  token: EnrollmentToken,
  timeoutMs: number,
  trust: { readonly ca?: string | undefined; readonly outward?: OutwardDialer | undefined },
): Promise<X509Certificate> {
  const leaf = await fetchServedCertificate(token.issuer, timeoutMs, trust);
  try {
    const { jwtVerify } = await import('jose');
    await jwtVerify(jwt, leaf.publicKey, {
      algorithms: ALGORITHMS,
      issuer: token.writtenIssuer,
      clockTolerance: 60,
    });
  } catch (cause) {
    const { code, payload } = cause as { code?: string; payload?: { exp?: unknown } };
    const untilMs = Number(payload?.exp) * 1_000;
    const problem = validityProblem({ fromMs: -Infinity, untilMs }, systemClock.nowMs()) ?? 'has expired';
    if (code === 'ERR_JWT_EXPIRED') {
      const serverMs = await serverDateOf(token.issuer, trust.outward ?? directDialer);
      const clock = serverMs === undefined ? undefined : clockProblem(serverMs, systemClock.nowMs());
      const remedy = clock ?? 'get a new one, or set the clock if it is wrong';
      const message = `the enrollment token ${problem}: ${remedy}`;
      throw new FrontdoorError('unauthenticated', 'enrollment-token-expired', message);
    }
    const message = `the server at ${token.issuer} did not sign the enrollment token; the connection may be intercepted`;
    throw new FrontdoorError('unauthenticated', 'enrollment-token-unproven', message, { cause });
  }
  return leaf;
}
