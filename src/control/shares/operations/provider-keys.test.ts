import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { describeEachStore } from '../../store/engine/each-store-suite.ts';
import { openApiWorld, type ApiWorld, type CallAnswer } from './api-fixture.ts';

const MASK = '********';
const GIVEN = 'a key that is long enough'.replaceAll(' ', '-');

interface Key {
  readonly name: string;
  readonly key: string;
  readonly expiresAt?: string;
  readonly lastUsedAt?: string | null;
}

interface Provider {
  readonly id: string;
  readonly data: { readonly placement: string; readonly name?: string; readonly keys: readonly Key[] };
}

describeEachStore('keys of API_KEY providers', (open) => {
  let world: ApiWorld;
  let path: string;
  before(async () => {
    world = await openApiWorld({ open });
    path = `/frontdoor/${world.first.frontdoorId}/auth-providers`;
  });
  after(() => world.close());

  const dataOf = (...keys: readonly Partial<Key>[]) => ({ placement: 'header', name: 'X-Api-Key', keys });
  const bodyOf = (...keys: readonly Partial<Key>[]) => ({
    name: 'Keys',
    type: 'API_KEY',
    data: dataOf(...keys),
  });

  async function made(...keys: readonly Partial<Key>[]): Promise<Provider> {
    const answer = await world.call('POST', path, { body: bodyOf(...keys) });
    assert.equal(answer.status, 201, answer.text);
    return answer.body as Provider;
  }

  async function write(method: 'PUT' | 'PATCH', id: string, body: unknown): Promise<Provider> {
    const answer = await world.call(method, `${path}/${id}`, { body });
    assert.equal(answer.status, 200, answer.text);
    return answer.body as Provider;
  }

  async function read(id: string): Promise<readonly Key[]> {
    return ((await world.call('GET', `${path}/${id}`)).body as Provider).data.keys;
  }

  function refused({ status, body }: CallAnswer, property: string, type: string): void {
    assert.equal(status, 400);
    const message = `Value for ${property} must be of ${type}`;
    assert.deepEqual(body, { error: 'invalid_request', message });
  }

  const rowsOf = (id: string) =>
    world.store.db
      .selectFrom('auth_provider_key')
      .selectAll()
      .where('auth_provider_id', '=', id)
      .orderBy('name')
      .execute();

  const use = (id: string, name: string, atMs: number) =>
    world.store.db
      .updateTable('auth_provider_key')
      .set({ last_used_at: atMs })
      .where('auth_provider_id', '=', id)
      .where('name', '=', name)
      .execute();

  it('are made when they are not given, each with 256 random bits, and shown once', async () => {
    const { id, data } = await made(
      { name: 'ci' },
      { name: 'cron', key: GIVEN, expiresAt: '2031-01-01T00:00:00Z' },
    );
    const [ci, cron] = data.keys;
    assert.match(ci!.key, /^fdk_[A-Za-z0-9_-]{43}$/);
    assert.deepEqual(data, { ...dataOf(), keys: [{ name: 'ci', key: ci!.key }, cron] });
    assert.deepEqual(cron, { name: 'cron', key: GIVEN, expiresAt: '2031-01-01T00:00:00Z' });
    assert.deepEqual(await read(id), [
      { name: 'ci', key: MASK, lastUsedAt: null },
      { name: 'cron', key: MASK, expiresAt: '2031-01-01T00:00:00Z', lastUsedAt: null },
    ]);
  });

  it('are stored as HMACs only', async () => {
    const { id, data } = await made({ name: 'ci' }, { name: 'cron', key: GIVEN });
    const rows = await rowsOf(id);
    assert.deepEqual(
      rows.map(({ key_hmac }) => key_hmac),
      data.keys.map(({ key }) => world.secrets.apiKeyHmac(key)),
    );
    const provider = await world.store.db
      .selectFrom('auth_provider')
      .selectAll()
      .where('id', '=', id)
      .execute();
    const text = JSON.stringify([rows, provider, world.logLines]);
    for (const { key } of data.keys) assert.ok(!text.includes(key));
  });

  it('stay when their mask is sent under their name, with the time of their last use', async () => {
    const { id, data } = await made({ name: 'a' }, { name: 'b' }, { name: 'c' });
    const usedAtMs = Date.UTC(2030, 1, 2);
    await use(id, 'b', usedAtMs);
    const lastUsedAt = new Date(usedAtMs).toISOString();
    const expiresAt = '2032-05-01T00:00:00+02:00';
    const changed = await write('PUT', id, bodyOf({ name: 'new' }, { name: 'b', key: MASK, expiresAt }));
    const [fresh, kept] = changed.data.keys;
    assert.match(fresh!.key, /^fdk_/);
    assert.deepEqual(kept, { name: 'b', key: MASK, expiresAt, lastUsedAt });
    assert.deepEqual(
      (await rowsOf(id)).map(({ name, key_hmac }) => [name, key_hmac]),
      [
        ['b', world.secrets.apiKeyHmac(data.keys[1]!.key)],
        ['new', world.secrets.apiKeyHmac(fresh!.key)],
      ],
      'what PUT leaves out is removed',
    );
    const seen = await read(id);
    assert.deepEqual(
      (await write('PUT', id, bodyOf(...seen))).data.keys,
      seen,
      'what was read may be sent back',
    );
    await write('PATCH', id, { name: 'Renamed' });
    await write('PATCH', id, { data: { name: 'X-Other' } });
    assert.deepEqual(await read(id), seen);
  });

  it('given again begin unused; given as they are they are not new', async () => {
    const { id } = await made({ name: 'a', key: GIVEN });
    await use(id, 'a', 5);
    const same = await write('PUT', id, bodyOf({ name: 'a', key: GIVEN }));
    assert.deepEqual(same.data.keys, [{ name: 'a', key: GIVEN }]);
    assert.equal((await read(id))[0]!.lastUsedAt, new Date(5).toISOString());
    const rotated = await write('PUT', id, bodyOf({ name: 'a' }));
    assert.match(rotated.data.keys[0]!.key, /^fdk_/);
    assert.equal((await read(id))[0]!.lastUsedAt, null);
  });

  it('are refused when names or keys repeat, or a mask stands for none', async () => {
    const post = (...keys: readonly Partial<Key>[]) => world.call('POST', path, { body: bodyOf(...keys) });
    refused(await post({ name: 'a' }, { name: 'b' }, { name: 'a' }), 'data.keys.2.name', 'unique name');
    refused(
      await post({ name: 'a', key: GIVEN }, { name: 'b', key: GIVEN }),
      'data.keys.1.key',
      'unique key',
    );
    refused(await post({ name: 'a', key: MASK }), 'data.keys.0.key', 'key, as none is stored for this name');
    const { id } = await made({ name: 'a', key: GIVEN });
    const put = (...keys: readonly Partial<Key>[]) =>
      world.call('PUT', `${path}/${id}`, { body: bodyOf(...keys) });
    refused(await put({ name: 'b', key: MASK }), 'data.keys.0.key', 'key, as none is stored for this name');
    refused(await put({ name: 'a', key: MASK }, { name: 'b', key: GIVEN }), 'data.keys.1.key', 'unique key');
    assert.equal((await read(id)).length, 1);
  });

  it('go with their provider, and with its type', async () => {
    const { id } = await made({ name: 'a' });
    const data = { issuer: 'https://id.example', client_id: 'x' };
    const changed = await world.call('PUT', `${path}/${id}`, { body: { name: 'x', type: 'OIDC', data } });
    assert.equal(changed.status, 200);
    assert.deepEqual(await rowsOf(id), []);
    const other = await made({ name: 'a' });
    assert.equal((await world.call('DELETE', `${path}/${other.id}`)).status, 204);
    assert.deepEqual(await rowsOf(other.id), []);
  });

  it('may be a thousand in one provider', async () => {
    const keys = Array.from({ length: 1_000 }, (_, at) => ({ name: `key ${at}` }));
    const { id, data } = await made(...keys);
    assert.equal(new Set(data.keys.map(({ key }) => key)).size, 1_000);
    assert.equal((await rowsOf(id)).length, 1_000);
    const seen = await read(id);
    assert.deepEqual((await write('PUT', id, bodyOf(...seen))).data.keys, seen);
    refused(
      await world.call('POST', path, { body: bodyOf(...keys, { name: 'one more' }) }),
      'data.keys',
      'array of 1 to 1000 items',
    );
  });
});
