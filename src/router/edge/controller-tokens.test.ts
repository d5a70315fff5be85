// Tokens that a router must refuse. Each case differs in one point from a token that is accepted.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { before, describe, it } from 'node:test';
import { DataState_Action, DataState_PublicKeyUsage } from '#wire/ctrl';
import { identityChange, TokenSigner, type Claims } from '../../../test/support/token-signer.ts';
import { TokenWorld } from './testing/token-world.ts';
import type { CertifiedPeer } from './token-session.ts';

const NOW_S = Math.floor(Date.now() / 1_000);
const HOUR_S = 3_600;
const LONG_MS = 30_000;

let world: TokenWorld;
let peer: CertifiedPeer;

before(async () => {
  world = await TokenWorld.make();
  peer = await world.peer();
});

async function faultOf(token: string, from = peer): Promise<string | undefined> {
  const session = await world.open(token, from);
  return 'fault' in session ? session.fault : undefined;
}

/** The token with another header, and with the signature that `sign` makes of it. */
function forged(token: string, header: Claims, sign: (input: string) => string = () => ''): string {
  const input = `${Buffer.from(JSON.stringify(header)).toString('base64url')}.${token.split('.')[1]}`;
  return `${input}.${sign(input)}`;
}

describe('a token of an API session is refused', () => {
  it('without a signature', async () => {
    const token = await world.signer.access(peer.fingerprint);
    for (const alg of ['none', 'None', 'NONE']) {
      const unsigned = forged(token, { alg, kid: world.signer.kid });
      assert.equal(await faultOf(unsigned), 'the algorithm of the token does not fit its key');
    }
  });

  it('signed with the public key as a shared secret', async () => {
    const token = await world.signer.access(peer.fingerprint);
    const { publicKey, raw } = world.signer.certificate;
    for (const secret of [publicKey.export({ type: 'spki', format: 'pem' }), raw]) {
      const sign = (input: string): string => createHmac('sha256', secret).update(input).digest('base64url');
      const forgery = forged(token, { alg: 'HS256', kid: world.signer.kid }, sign);
      assert.equal(await faultOf(forgery), 'the algorithm of the token does not fit its key');
    }
  });

  it('of another controller, whether it names its own key, none, or one of this network', async () => {
    const other = await TokenSigner.make(world.authority);
    const unknown = 'the token is signed by an unknown key';
    assert.equal(await faultOf(await other.access(peer.fingerprint)), unknown);
    assert.equal(await faultOf(await other.access(peer.fingerprint, {}, { kid: undefined })), unknown);
    const { kid } = world.signer;
    const claimed = await other.access(peer.fingerprint, {}, { kid });
    assert.equal(await faultOf(claimed), 'the signature of the token is wrong');
  });

  it('that carries a key of its own', async () => {
    const other = await TokenSigner.make(world.authority);
    const jwk = other.certificate.publicKey.export({ format: 'jwk' });
    const { kid } = world.signer;
    const token = await other.access(peer.fingerprint, {}, { kid, jwk });
    assert.equal(await faultOf(token), 'the signature of the token is wrong');
  });

  it('with claims that were changed', async () => {
    const [header, , signature] = (await world.signer.access(peer.fingerprint)).split('.');
    const [, claims] = (await world.signer.access(peer.fingerprint, { sub: 'identity-2' })).split('.');
    assert.equal(await faultOf(`${header}.${claims}.${signature}`), 'the signature of the token is wrong');
  });

  const claims: [string, Claims, string][] = [
    ['for another audience', { aud: ['elsewhere'] }, 'the token is for another audience'],
    ['without an audience', { aud: undefined }, 'the token is for another audience'],
    ['of another issuer', { iss: 'https://elsewhere.example/oidc' }, 'the token has another issuer'],
    ['of an issuer over HTTP', { iss: 'http://localhost:1280/oidc' }, 'the token has another issuer'],
    ['without an issuer', { iss: undefined }, 'the token has another issuer'],
    ['that has expired', { exp: NOW_S - HOUR_S }, 'the token has expired'],
    ['that does not expire', { exp: undefined }, 'a claim of the token is missing or malformed'],
    ['that is not valid yet', { nbf: NOW_S + HOUR_S }, 'the token is not valid yet'],
    ['for refreshing', { z_t: 'r' }, 'the token is not one of an API session'],
    ['of a service', { z_t: 's' }, 'the token is not one of an API session'],
    ['without a session', { z_asid: undefined }, 'the token lacks a claim'],
    ['without an id', { jti: undefined }, 'the token lacks a claim'],
    ['with malformed fingerprints', { z_cfs: 'ab' }, 'the token has malformed fingerprints'],
    ['of an unknown identity', { sub: 'identity-9' }, 'there is no identity as the token names it'],
  ];
  for (const [name, changed, fault] of claims) {
    it(`by its claims: ${name}`, async () => {
      assert.equal(await faultOf(await world.signer.access(peer.fingerprint, changed)), fault);
    });
  }

  it('of an identity that was disabled or deleted', async () => {
    const token = await world.signer.access(peer.fingerprint, { sub: 'identity-2' });
    assert.equal(await faultOf(token), undefined);
    world.change([identityChange('identity-2', true)], DataState_Action.UPDATE);
    assert.equal(await faultOf(token), 'the identity is disabled');
    world.change([identityChange('identity-2')], DataState_Action.DELETE);
    assert.equal(await faultOf(token), 'there is no identity as the token names it');
  });

  it('with the certificate of another identity', async () => {
    const token = await world.signer.access(peer.fingerprint);
    const other = await world.peer();
    assert.equal(await faultOf(token, other), 'certificate is not that of session session-1');
  });

  it('that is malformed or too long', async () => {
    for (const token of ['ey.', 'ey.ey.ey', 'ey'.padEnd(100, '.')])
      assert.equal(await faultOf(token), 'the token is malformed', token);
    assert.equal(await faultOf(`ey.${'a'.repeat(40_000)}`), 'the token is too long');
  });

  it('whose key the controller has replaced', async () => {
    const former = await TokenSigner.make(world.authority);
    const token = await former.access(peer.fingerprint);
    world.change([former.publicKey]);
    assert.equal(await faultOf(token), undefined);
    world.change([former.publicKey], DataState_Action.DELETE);
    assert.equal(await faultOf(token), 'the token is signed by an unknown key');
  });

  it('whose key verifies certificates only', async () => {
    const other = await TokenSigner.make(world.authority);
    const key = other.publicKey;
    assert.ok(key.case === 'publicKey');
    const usages = [DataState_PublicKeyUsage.CLIENT_X509_CERT_VALIDATION];
    world.change([{ ...key, value: { ...key.value, usages } }]);
    assert.equal(
      await faultOf(await other.access(peer.fingerprint)),
      'the token is signed by an unknown key',
    );
  });
});

describe('tokens of one address', () => {
  it('wait for the data model up to a number, and those of other addresses are checked in the meantime', async () => {
    const other = await TokenSigner.make(world.authority);
    const early = await other.access(peer.fingerprint);
    const from = (address: string): CertifiedPeer => ({ ...peer, address });
    const waiting = Array.from({ length: 128 }, (_, port) =>
      world.open(early, from(`10.0.0.1:${port}`), LONG_MS),
    );
    assert.deepEqual(await world.open(early, from('10.0.0.1:999'), LONG_MS), {
      fault: 'too many tokens of this address are checked now',
      isOfAnother: false,
    });
    const token = await world.signer.access(peer.fingerprint);
    assert.ok(!('fault' in (await world.open(token, from('10.0.0.2:1')))));
    world.change([other.publicKey]);
    for (const session of await Promise.all(waiting)) assert.ok(!('fault' in session));
    assert.ok(!('fault' in (await world.open(token, from('10.0.0.1:999')))));
  });
});
