import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openApiWorld } from './api-fixture.ts';

const UUID = /^[0-9a-f-]{36}$/;

test('frontends tell the URL under which a share is really served, the default one first', async () => {
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
