import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { DataState_Action } from '#wire/ctrl';
import { makeTestAuthority } from '../../../test/support/certificates.ts';
import { identityChange, TokenSigner } from '../../../test/support/token-signer.ts';
import { TokenSession } from './token-session.ts';
import { TokenWorld } from './testing/token-world.ts';

const SESSION_NAME = 'spiffe://network/identity/identity-1/apiSession/session-1/apiSessionCertificate/c1';
const LONG_MS = 30_000;

let world: TokenWorld;

before(async () => {
  world = await TokenWorld.make();
});

function assertOpen(session: object): asserts session is TokenSession {
  assert.ok(session instanceof TokenSession, JSON.stringify(session));
}

describe('a session of an SDK that logs in with OIDC', () => {
  it('opens with a token of the controller and the certificate that the token names', async () => {
    const peer = await world.peer();
    const token = await world.signer.access(peer.fingerprint);
    const session = await world.open(token, peer);
    assertOpen(session);
    assert.deepEqual(
      [session.id, session.identityId, session.token, session.fingerprints],
      ['session-1', 'identity-1', token, [peer.fingerprint]],
    );
    assert.equal(world.sessions.faultOf(session), undefined);
  });

  it('opens with a certificate that an authority of the network issued for this session', async () => {
    const peer = await world.peer({ uris: [SESSION_NAME] });
    assertOpen(await world.open(await world.signer.access('00'), peer));
    const other = await world.signer.access('00', { z_asid: 'session-2' });
    assert.deepEqual(await world.open(other, peer), {
      fault: 'certificate is not that of session session-2',
      isOfAnother: true,
    });
    const foreign = await world.peer({ uris: [SESSION_NAME] }, await makeTestAuthority('another'));
    assert.ok('fault' in (await world.open(await world.signer.access('00'), foreign)));
  });

  it('opens where the issuer is a host that a connected controller announces', async () => {
    const peer = await world.peer();
    const token = await world.signer.access(peer.fingerprint, { iss: 'https://public.example:1280/oidc' });
    assert.ok('fault' in (await world.open(token, peer)));
    world.announced.add('public.example');
    assertOpen(await world.open(token, peer));
  });

  it('waits for the key and the identity, which the data model can have a little later', async () => {
    const later = await TokenSigner.make(world.authority);
    const peer = await world.peer();
    const opening = world.open(await later.access(peer.fingerprint, { sub: 'identity-9' }), peer, LONG_MS);
    world.change([later.publicKey]);
    world.change([identityChange('identity-9')]);
    assertOpen(await opening);
  });

  it('is over when its identity is disabled or deleted, or is revoked', async () => {
    const session = await world.session();
    world.change([identityChange('identity-1', true)], DataState_Action.UPDATE);
    assert.equal(world.sessions.faultOf(session), 'the identity is disabled');
    world.change([identityChange('identity-1')], DataState_Action.UPDATE);
    assert.equal(world.sessions.faultOf(session), undefined);
    const { access } = session;
    const before = (ms: number) => ({ issuedBefore: { seconds: BigInt(Math.floor(ms / 1_000)), nanos: 0 } });
    const revocations: [string, string, object, boolean][] = [
      [access.tokenId, '', {}, true],
      [access.tokenId, 'JTI', {}, true],
      ['another token', 'JTI', {}, false],
      ['session-1', 'API_SESSION', {}, true],
      ['session-1', '', {}, false],
      ['identity-1', 'IDENTITY', {}, true],
      ['identity-1', 'IDENTITY', before(access.issuedAtMs + 5_000), true],
      ['identity-1', 'IDENTITY', before(access.issuedAtMs), false],
    ];
    for (const [id, type, more, isOver] of revocations) {
      world.change([{ case: 'revocation', value: { id, type, ...more } }]);
      assert.equal(
        world.sessions.faultOf(session),
        isOver ? 'the session is revoked' : undefined,
        `${type} ${id}`,
      );
      world.change([{ case: 'revocation', value: { id } }], DataState_Action.DELETE);
    }
    world.change([identityChange('identity-1')], DataState_Action.DELETE);
    assert.equal(world.sessions.faultOf(session), 'there is no identity as the token names it');
  });

  it('has one token at all of its channels', async () => {
    const renewing = await TokenWorld.make();
    const peer = await renewing.peer();
    const open = async (z_asid: string) => {
      const session = await renewing.open(await renewing.signer.access(peer.fingerprint, { z_asid }), peer);
      assertOpen(session);
      renewing.channels.push(session);
      return session;
    };
    const [first, second, other] = [
      await open('session-1'),
      await open('session-1'),
      await open('session-2'),
    ];
    const former = other.token;
    const token = await renewing.signer.access(peer.fingerprint);
    assert.equal(await renewing.sessions.renew(first, token), undefined);
    assert.deepEqual([first.token, second.token, other.token], [token, token, former]);
  });
});
