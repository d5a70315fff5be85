import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { DataState_Action } from '#wire/ctrl';
import { policyChange } from '../../../test/support/token-signer.ts';
import type { AccessType } from '../model/service-access.ts';
import { TokenWorld } from './testing/token-world.ts';
import type { TokenSession } from './token-session.ts';

let world: TokenWorld;
let session: TokenSession;

before(async () => {
  world = await TokenWorld.make();
  session = await world.session();
});

async function faultOf(token: string, type: AccessType): Promise<string | undefined> {
  const grant = await world.grants.grant(session, token, type);
  return 'fault' in grant ? grant.fault : undefined;
}

describe('a dial or bind of a session that a token has proven', () => {
  it('is granted by a service token of its session and a policy', async () => {
    for (const type of ['Dial', 'Bind'] as const) {
      const token = await world.signer.service(type);
      const grant = await world.grants.grant(session, token, type);
      assert.ok(!('fault' in grant), JSON.stringify(grant));
      assert.deepEqual([grant.serviceId, grant.type], ['service-1', type]);
      assert.equal(await faultOf(token, type), undefined, 'the same token again');
    }
    assert.equal(await faultOf('service-1', 'Dial'), undefined, 'a dial by the id of the service');
  });

  it('is refused with a token of another session, identity, type or issuer, or one that is none', async () => {
    const { signer } = world;
    const anothers = 'the service session belongs to another API session';
    const refused: [string, AccessType, string][] = [
      [await signer.service('Dial', { z_asid: 'session-2' }), 'Dial', anothers],
      [await signer.service('Dial', { z_iid: 'identity-2' }), 'Dial', anothers],
      [await signer.service('Bind'), 'Dial', 'invalid session type: expected Dial, got Bind'],
      [await signer.service('Dial'), 'Bind', 'invalid session type: expected Bind, got Dial'],
      [await signer.service('Dial', { sub: 'service-9' }), 'Dial', 'service not found by id'],
      [
        await signer.service('Dial', { iss: 'https://elsewhere.example' }),
        'Dial',
        'invalid service session: the token has another issuer',
      ],
      [session.token, 'Dial', 'invalid service session: the token is for another audience'],
      ['service-9', 'Dial', 'unable to get service token either by JWT parsing or id lookup'],
      ['service-1', 'Bind', 'unable to get service token either by JWT parsing or id lookup'],
    ];
    for (const [token, type, fault] of refused) assert.equal(await faultOf(token, type), fault);
  });

  it('is over when its service session is revoked, or when the policy ends', async () => {
    const jti = 'service-session-1';
    const token = await world.signer.service('Dial', { jti });
    const grant = await world.grants.grant(session, token, 'Dial');
    assert.ok(!('fault' in grant));
    assert.equal(world.grants.faultOf(grant), undefined);
    world.change([{ case: 'revocation', value: { id: jti } }]);
    assert.equal(world.grants.faultOf(grant), 'the service session is revoked');
    world.change([{ case: 'revocation', value: { id: jti } }], DataState_Action.DELETE);
    world.change([policyChange('dial', 'Dial')], DataState_Action.DELETE);
    assert.equal(world.grants.faultOf(grant), 'no policies provide access');
    assert.equal(await faultOf(token, 'Dial'), 'no policies provide access');
  });
});
