import assert from 'node:assert/strict';
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { it } from 'node:test';
import { silentLog } from '#base';
import type { GatewayFeedEvent } from '#domain/gateway-shapes';
import { openApiWorld } from './shares/operations/api-fixture.ts';
import { GatewayFeed } from './shares/gateway-feed/gateway-feed.ts';
import { KeyRotation } from './credentials/oauth/mod.ts';
import { describeEachStore } from './store/engine/each-store-suite.ts';
import { openIdentityKeys } from './shares/logins/identity-keys.ts';
import { openLoginFixture } from './shares/logins/login-fixture.ts';

const DAY_MS = 86_400_000;

describeEachStore('the keys of identity tokens for origins', (open) => {
  it('are published before they sign, verify after it, and the one that signs stands first', async () => {
    await using world = await openLoginFixture({ open });
    const { store, secrets, clock } = world;
    const { identityKeys, access } = world.parts;
    const kids = () => identityKeys.current().map(({ kid }) => kid);
    const [first, ...more] = kids();
    assert.deepEqual(more, []);
    const rotation = await KeyRotation.start({ store, secrets, clock, log: silentLog });
    assert.deepEqual(kids(), [first], 'too young to be replaced');

    const feed = new GatewayFeed(world.catalog, access, 'epoch');
    const announced: string[][] = [];
    feed.listen((line) => {
      const event = JSON.parse(line) as GatewayFeedEvent;
      if (event.type === 'delta' && event.keys !== undefined)
        announced.push(event.keys.identityKeys.map(({ kid }) => kid));
    });
    clock.advance(90 * DAY_MS);
    await rotation.look();
    feed.flush();
    const second = kids().find((kid) => kid !== first)!;
    assert.deepEqual(announced, [[first, second]], 'gateways know it, and the old one signs');
    clock.advance(5 * 60_000 - 1);
    feed.heartbeat();
    assert.equal(announced.length, 1);
    clock.advance(1);
    feed.heartbeat();
    assert.deepEqual(announced.at(-1), [second, first], 'its time has come');
    clock.advance(6 * 60_000 + 1);
    feed.heartbeat();
    assert.deepEqual(announced.at(-1), [second], 'nothing that the old one signed is valid');
    assert.equal(announced.length, 3);
    await rotation.close();
  });

  it('are the same at the API, without their private halves and without credentials', async () => {
    const world = await openApiWorld({ open });
    const { store, secrets, clock } = world;
    const keys = await openIdentityKeys({ store, secrets, clock });
    const [key] = keys.current();
    const answer = await world.call('GET', '/.well-known/origin-jwks.json', { authorization: null });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers['cache-control'], 'public, max-age=300');
    assert.deepEqual(answer.body, { keys: [key!.publicJwk] });
    const publicOfPrivate = createPublicKey(createPrivateKey(key!.privateKey));
    assert.deepEqual(publicOfPrivate.export({ format: 'jwk' }), {
      crv: key!.publicJwk['crv'],
      kty: 'EC',
      x: key!.publicJwk['x'],
      y: key!.publicJwk['y'],
    });
    assert.equal('d' in key!.publicJwk, false);
    const row = await store.db
      .selectFrom('signing_key')
      .selectAll()
      .where('id', '=', key!.kid)
      .executeTakeFirstOrThrow();
    assert.ok(!JSON.stringify(row).includes('PRIVATE KEY'));
    await world.close();
  });
});
