// Sessions with signed tokens (ADR 0033) at routers: they are not announced, and their end is a revocation.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { contentType, headerId } from '#wire';
import { ctrlMessages } from '#wire/ctrl';
import type { EndedSessions } from '../model/api-sessions.ts';
import { OverlayWorld } from '../testing/overlay-world.ts';

let world: OverlayWorld;

beforeEach(async () => {
  world = await OverlayWorld.open();
  await world.addIdentity('env1', 'environment');
  await world.addIdentity('gw1', 'gateway');
});
afterEach(() => world.close());

const signed = {
  id: 'signed',
  token: 'nobody-has-it',
  identityId: 'gw1',
  fingerprints: ['fp'],
  isSigned: true,
};
const opaque = {
  id: 'opaque',
  token: 'opaque-token',
  identityId: 'gw1',
  fingerprints: ['fp'],
  isSigned: false,
};

test('the end of a session with signed tokens reaches routers as a revocation, and the session does not', async () => {
  await world.start();
  const router = await world.router('r1');
  await router.next('apiSessionAdded');
  await router.next('dataStateChangeSet');
  router.send(
    ctrlMessages.subscribeToDataModel.frame({ subscriptionDurationSeconds: 300, subscriptionId: 'sub1' }),
  );
  await router.frame(contentType.dataState);
  world.sessions.add(signed);
  world.sessions.add(opaque);
  const added = await router.next('apiSessionAdded');
  assert.deepEqual(
    added.apiSessions.map(({ id }) => id),
    ['opaque'],
  );
  world.sessions.remove(signed.token);
  const frame = await router.frame(contentType.dataStateChangeSet);
  assert.equal(frame.headers.text(headerId.dataModel.subscriptionId), 'sub1');
  const { changes } = ctrlMessages.dataStateChangeSet.decode(frame.body);
  const revoked = changes.map(({ model }) => (model.case === 'revocation' ? model.value : undefined));
  assert.deepEqual([revoked[0]?.id, revoked[0]?.type], ['signed', 'API_SESSION']);

  // It is part of the full state from then on.
  router.send(ctrlMessages.subscribeToDataModel.frame({ subscriptionId: 'sub2' }));
  const { events } = await router.next('dataState');
  assert.equal(events.filter(({ model }) => model.case === 'revocation').length, 1);
});

test('ends of sessions before the start are part of the first model that a router gets', async () => {
  const endedAtMs = world.clock.nowMs() - 60_000;
  const follow: EndedSessions['follow'] = (listener) => listener({ id: 'ended-before', endedAtMs });
  await world.start({ access: { endedSessions: { follow } } });
  const router = await world.router('r1');
  await router.next('apiSessionAdded');
  router.send(
    ctrlMessages.subscribeToDataModel.frame({ subscriptionDurationSeconds: 300, subscriptionId: 'sub1' }),
  );
  const { events } = await router.next('dataState');
  const ids = events.map(({ model }) => (model.case === 'revocation' ? model.value.id : undefined));
  assert.deepEqual(
    ids.filter((id) => id !== undefined),
    ['ended-before'],
  );
});
