/** Another party that signs tokens, with its key set, for tests. */
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey } from 'jose';
import type { openManagementFixture } from './management-fixture.ts';

export const ISSUER = 'https://idp.example';
export const AUDIENCE = 'frontdoor';
export const JWKS = 'https://idp.example/keys';

export interface TokenChange {
  readonly claims?: Record<string, unknown>;
  readonly issuer?: string;
  readonly audience?: string;
  readonly expires?: string;
  readonly by?: CryptoKey;
}

export interface ExternalIssuer {
  /** Answers requests for the key set. */
  readonly egress: NonNullable<Parameters<typeof openManagementFixture>[0]>;
  /** Addresses that were requested. */
  readonly fetched: readonly string[];
  /** A key that is not in the set. */
  readonly otherKey: CryptoKey;
  /** Returns a token for `ada@example.com`, or one that differs. */
  token(change?: TokenChange): Promise<string>;
}

export async function openExternalIssuer(): Promise<ExternalIssuer> {
  const pair = await generateKeyPair('ES256', { extractable: true });
  const { privateKey: otherKey } = await generateKeyPair('ES256');
  const json = { keys: [{ ...(await exportJWK(pair.publicKey)), kid: 'k1', alg: 'ES256', use: 'sig' }] };
  const fetched: string[] = [];
  const get = (url: string) => {
    fetched.push(url);
    return Promise.resolve({ status: 200, headers: {}, text: JSON.stringify(json), json });
  };
  return {
    egress: { get, send: ({ url }) => get(url) },
    fetched,
    otherKey,
    token: ({ claims, issuer = ISSUER, audience = AUDIENCE, expires = '5m', by = pair.privateKey } = {}) =>
      new SignJWT({ email: 'ada@example.com', ...claims })
        .setProtectedHeader({ alg: 'ES256', kid: 'k1' })
        .setIssuer(issuer)
        .setAudience(audience)
        .setSubject('42')
        .setIssuedAt()
        .setExpirationTime(expires)
        .sign(by),
  };
}
