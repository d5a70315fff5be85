import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { contentType, decodeTrustBundle, makeResult, versionHeader } from '#wire';
import { encodeRouterHello } from '#wire/ctrl';
import { until } from '../../../../test/support/deadline.ts';
import { beginRotation } from '../../pki/mod.ts';
import { OverlayWorld } from '../testing/overlay-world.ts';

let world: OverlayWorld;
beforeEach(async () => {
  world = await OverlayWorld.open();
  await world.start();
});
afterEach(() => world.close());

test('a router of Frontdoor gets the authorities when it connects and when they change; its answer is its receipt', async () => {
  const hello = encodeRouterHello(versionHeader('linux', 'x64'), []);
  const router = await world.dial('r1', await world.identityOf('r1'), hello);
  const first = decodeTrustBundle(
    new TextDecoder().decode((await router.frame(contentType.trustBundle)).body),
  );
  assert.deepEqual(first, { trustedPem: world.pki.caBundlePem, endedPem: '' });
  const parts = { secrets: world.secrets, trustDomain: 'test.frontdoor', nowMs: world.clock.nowMs() };
  await world.store.transaction((trx) => beginRotation(trx, parts, 'root', undefined));
  await world.pki.renewServers();
  const frame = await router.frame(contentType.trustBundle);
  const { trustedPem } = decodeTrustBundle(new TextDecoder().decode(frame.body));
  assert.equal(trustedPem, world.pki.caBundlePem);
  assert.equal(trustedPem.match(/BEGIN/g)?.length, 4);
  router.channel.reply(frame, makeResult(frame, true));
  const query = world.store.db.selectFrom('root_receipt').select(['identity_id', 'root']);
  const { value } = await until(
    'the receipt',
    () => query.execute(),
    (rows) => rows.length > 0,
  );
  assert.deepEqual(value, [{ identity_id: 'r1', root: 'root-ca-2' }]);
});
