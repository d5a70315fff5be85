/**
 * The enrollment JWT, seen from the machine that enrolls: the token and the control plane prove each other, because
 * the token is signed with the key of the certificate that its issuer shows in TLS.
 */
import type { X509Certificate } from 'node:crypto';
import { FrontdoorError } from '#base';
import { fetchServedCertificate } from '#net';

const ALGORITHMS = ['RS256', 'ES256', 'ES384', 'ES512'];

export interface EnrollmentToken {
  /** `https://host:port`. */
  readonly issuer: string;
  /** Id that the identity will have. */
  readonly subject: string;
  readonly jti: string;
  readonly method: string;
  /** `tls:host:port`; for routers. */
  readonly controlAddresses: readonly string[];
}

/** What the token says, unproven: only to find its issuer. Throws `invalid` when it is no enrollment token. */
export function readEnrollmentToken(jwt: string): EnrollmentToken {
  try {
    const claims = JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString()) as Record<
      string,
      unknown
    >;
    const { iss, sub, jti, em, ctrl, ctrls } = claims;
    if (
      typeof iss === 'string' &&
      typeof sub === 'string' &&
      typeof jti === 'string' &&
      typeof em === 'string'
    ) {
      const { origin, protocol } = new URL(iss);
      if (protocol === 'https:' && sub !== '' && jti !== '') {
        // Older controllers name one.
        const named: unknown[] = Array.isArray(ctrls) ? ctrls : [ctrl];
        const controlAddresses = named.filter((one) => typeof one === 'string');
        return { issuer: origin, subject: sub, jti, method: em, controlAddresses };
      }
    }
  } catch {
    // Told below: what it holds must not stand in an error.
  }
  throw new FrontdoorError('invalid', 'enrollment_token_unreadable', 'this is not an enrollment token');
}

/**
 * Fetches the certificate that the issuer shows and proves the token with it. From here on the certificate is the
 * anchor of trust. `ca`: the certificate must also chain to it.
 */
export async function proveEnrollmentToken(
  jwt: string,
  token: EnrollmentToken,
  timeoutMs: number,
  ca?: string,
): Promise<X509Certificate> {
  const leaf = await fetchServedCertificate(token.issuer, timeoutMs, ca);
  try {
    const { jwtVerify } = await import('jose');
    await jwtVerify(jwt, leaf.publicKey, {
      algorithms: ALGORITHMS,
      issuer: token.issuer,
      clockTolerance: 60,
    });
  } catch (cause) {
    const expired = (cause as { code?: string }).code === 'ERR_JWT_EXPIRED';
    throw expired
      ? new FrontdoorError(
          'unauthenticated',
          'enrollment_token_expired',
          'the enrollment token has expired; get a new one',
        )
      : new FrontdoorError(
          'unauthenticated',
          'enrollment_token_unproven',
          `the enrollment token was not signed by the server at ${token.issuer}; somebody may be in between`,
          { cause },
        );
  }
  return leaf;
}
