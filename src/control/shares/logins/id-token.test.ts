import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { createLocalJWKSet, exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose';
import { servesTenants, verifyIdToken, type IdTokenChecks } from './id-token.ts';

const ISSUER = 'https://login.example/{tenantid}/v2.0';
const TENANT = '11111111-2222-3333-4444-555555555555';
const OTHER = '99999999-2222-3333-4444-555555555555';
const issuerOf = (tenant: string): string => `https://login.example/${tenant}/v2.0`;
const nowMs = Date.now();
const nowS = Math.floor(nowMs / 1_000);

describe('an ID token', () => {
  let key: CryptoKey;
  let publicKey: JWK;
  before(async () => {
    const pair = await generateKeyPair('RS256');
    key = pair.privateKey;
    publicKey = { ...(await exportJWK(pair.publicKey)), kid: 'k', alg: 'RS256' };
  });

  const good = { iss: issuerOf(TENANT), tid: TENANT, sub: 'ann', aud: 'frontdoor', nonce: 'n' };
  /** Verifies a token with these claims, by keys that the provider published for `keyIssuer`. */
  async function verify(
    claims: Readonly<Record<string, unknown>>,
    checks: Partial<IdTokenChecks> = {},
    keyIssuer: string = ISSUER,
  ) {
    const token = await new SignJWT({ iat: nowS, exp: nowS + 60, ...claims })
      .setProtectedHeader({ alg: 'RS256', kid: 'k' })
      .sign(key);
    return verifyIdToken(token, {
      issuer: ISSUER,
      clientId: 'frontdoor',
      nonce: 'n',
      algorithms: ['RS256'],
      nowMs,
      keysFor: (isIssuer) => createLocalJWKSet({ keys: isIssuer(keyIssuer) ? [publicKey] : [] }),
      ...checks,
    });
  }

  it('is accepted from the issuer of the tenant that it names, or from the one issuer of the metadata', async () => {
    assert.equal((await verify(good)).sub, 'ann');
    assert.equal((await verify(good, {}, issuerOf(TENANT))).sub, 'ann', 'a key for this tenant');
    const one = { issuer: issuerOf(TENANT) };
    assert.equal((await verify({ ...good, tid: undefined }, one, issuerOf(TENANT))).sub, 'ann');
    assert.deepEqual([servesTenants(ISSUER), servesTenants(issuerOf(TENANT))], [true, false]);
  });

  const REFUSED: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
    ['of another tenant than its issuer', { tid: OTHER }],
    ['without a tenant', { tid: undefined }],
    ['with a list as its tenant', { tid: [TENANT] }],
    ['with the placeholder as its tenant', { tid: '{tenantid}', iss: ISSUER }],
    ['with a path as its tenant', { tid: `${TENANT}/../x`, iss: issuerOf(`${TENANT}/../x`) }],
    ['with a tenant in capital letters', { tid: 'AAAAAAAA-2222-3333-4444-555555555555' }],
    ['for another client', { aud: 'another' }],
    ['for several clients, without the one that asked for it', { aud: ['frontdoor', 'another'] }],
    ['that another client asked for', { azp: 'another' }],
    ['of another log-in', { nonce: 'm' }],
    ['without a nonce', { nonce: undefined }],
    ['without a subject', { sub: undefined }],
    ['that has expired', { exp: nowS - 600 }],
    ['without an end', { exp: undefined }],
    ['of the future', { iat: nowS + 600 }],
    ['with a time that is text', { iat: 'now' }],
  ];
  for (const [what, claims] of REFUSED)
    it(`is refused ${what}`, async () => {
      await assert.rejects(verify({ ...good, ...claims }));
    });

  it('is refused if its key was published for another issuer', async () => {
    await assert.rejects(verify(good, {}, issuerOf(OTHER)), /no applicable key/);
    const one = { issuer: issuerOf(TENANT) };
    await assert.rejects(verify({ ...good, tid: undefined }, one, ISSUER), /no applicable key/);
  });
});
