import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '#base';
import { seedFirstStart } from '../records/first-start.ts';
import { ephemeralSecrets } from '../../secrets/key-file.ts';
import { openEmbedded } from '../../store/engine/migrated-copy-fixture.ts';
import { openApiWorld } from './api-fixture.ts';
import { frontendHandlers } from './frontend-operations.ts';

const UUID = /^[0-9a-f-]{36}$/;

test('frontends show the URL under which a share is really served, the default one first', async () => {
  const world = await openApiWorld({
    frontendUrls: (host) => [
      `http://${host}:8080`,
      ...(host.endsWith('.secure.example') ? [`https://${host}`] : []),
    ],
  });
  try {
    const row = { id: 'second', public_name: 'secure', zone: 'secure.example', is_default: 0, created_at: 0 };
    await world.store.db.insertInto('frontend').values(row).execute();
    const { status, body } = await world.call('GET', `/frontdoor/${world.first.frontdoorId}/frontends`);
    assert.equal(status, 200);
    const [first, second, ...more] = body as { id: string; urlTemplate: string; publicName: string }[];
    assert.match(first!.id, UUID);
    assert.deepEqual(first, {
      id: first!.id,
      urlTemplate: 'http://{token}.share.localhost:8080',
      publicName: 'public',
    });
    assert.deepEqual(second, {
      id: 'second',
      urlTemplate: 'https://{token}.secure.example',
      publicName: 'secure',
    });
    assert.deepEqual(more, []);
  } finally {
    await world.close();
  }
});

test('frontends are listed by a handler that is given a store and the URLs of gateways, and nothing else', async () => {
  const store = await openEmbedded();
  try {
    await seedFirstStart(store, ephemeralSecrets(), { zone: 'share.localhost', clock: new ManualClock() });
    const parts = { store, frontendUrls: (host: string) => [`https://${host}`] };
    const call = {} as Parameters<typeof frontendHandlers.listFrontends>[1];
    const { status, body } = await frontendHandlers.listFrontends(parts, call);
    assert.equal(status, 200);
    assert.ok(Array.isArray(body));
    assert.deepEqual(
      body.map(({ urlTemplate }) => urlTemplate),
      ['https://{token}.share.localhost'],
    );
  } finally {
    await store.close();
  }
});
