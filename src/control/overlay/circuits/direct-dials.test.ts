// CreateCircuitV3, which routers of OpenZiti 2.1 send for an SDK's ConnectV2: a dial without a service session.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  contentType,
  encodeBytesMap,
  encodeTextList,
  headerId,
  HeaderWriter,
  makeFrame,
  type Frame,
} from '#wire';
import { decodeCircuitCreated, decodeEdgeRefusal } from '#wire/circuits';
import { OverlayWorld } from '../testing/overlay-world.ts';
import type { ScriptedRouter } from '../testing/scripted-router.ts';

const { createCircuit: keys } = headerId;

interface Dial {
  readonly identityId: string;
  readonly serviceId: string;
  readonly circuitId: string;
  readonly token: string;
  readonly fingerprint: string;
}

function dialFrame(changes: Partial<Dial> = {}): Frame {
  const dial: Dial = {
    identityId: 'env2',
    serviceId: 'svc1',
    circuitId: '',
    token: 'signed-env2',
    fingerprint: 'fp-env2',
    ...changes,
  };
  const headers = new HeaderWriter()
    .text(keys.identityId, dial.identityId)
    .text(keys.serviceId, dial.serviceId)
    .text(keys.circuitId, dial.circuitId)
    .text(keys.apiSessionToken, dial.token)
    .bytes(keys.fingerprints, encodeTextList([dial.fingerprint]))
    .text(keys.terminatorInstanceId, '')
    .bytes(keys.peerData, encodeBytesMap(new Map([[headerId.edge.publicKey, Uint8Array.of(7)]])));
  return makeFrame(contentType.createCircuitV3, { headers });
}

describe('a dial without a service session', () => {
  let world: OverlayWorld;
  let router: ScriptedRouter;

  before(async () => {
    world = await OverlayWorld.open();
    for (const id of ['env1', 'env2', 'env3']) await world.addIdentity(id, 'environment');
    await world.addService('svc1', 'env1', { openTo: 'grants', grants: ['env2'] });
    await world.start();
    router = await world.router('r1');
    assert.equal((await world.bind(router, 'env1', 'svc1', 'term1')).result, 0);
    await router.route();
    await router.next('unroute');
    for (const id of ['env2', 'env3'])
      world.sessions.add({
        id: `signed-session-${id}`,
        token: `signed-${id}`,
        identityId: id,
        fingerprints: [`fp-${id}`],
        isSigned: true,
      });
  });
  after(() => world.close());

  test('is a circuit for the identity of the session', async () => {
    const request = dialFrame();
    router.send(request);
    const route = await router.route();
    const created = await router.frame(contentType.createCircuitV3Response);
    const { circuitId, tags } = decodeCircuitCreated(created);
    assert.equal(circuitId, route.circuitId);
    assert.equal(tags.get('clientId'), 'env2');
  });

  const refused: readonly (readonly [string, Partial<Dial>, number])[] = [
    ['names another identity than its session', { identityId: 'env3' }, 2],
    ['has the token of another identity', { token: 'signed-env3' }, 2],
    ['has the certificate of another identity', { fingerprint: 'fp-env3' }, 2],
    ['has an unknown token', { token: 'made-up' }, 2],
    ['has no token', { token: '' }, 2],
    ['has a session whose posture only a controller knows', { token: 'token-env2' }, 2],
    ['is not granted', { identityId: 'env3', token: 'signed-env3', fingerprint: 'fp-env3' }, 3],
    ['names a service that does not exist', { serviceId: 'none' }, 6],
    ['chooses the id of its circuit', { circuitId: 'mine' }, 1],
  ];
  for (const [name, changes, code] of refused)
    test(`that ${name} is refused`, async () => {
      router.send(dialFrame(changes));
      assert.equal(decodeEdgeRefusal(await router.frame(contentType.error)).code, code);
    });
});
