// A guarded share refuses every request without credentials, and a change of its provider is in effect at the gateway
// within five seconds: at the share's own host, and at every custom frontend that has the provider.
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { until } from '../support/deadline.ts';
import { startPrivateService, type PrivateService } from '../support/private-service.ts';
import { openWorld, type World } from '../support/world.ts';

const SHORTLY_MS = 5_000;
const ZONES = ['apps.example.test', 'tools.example.test'];

let world: World;
let service: PrivateService;
before(async () => {
  service = await startPrivateService();
  world = await openWorld();
  const agent = await world.startAgent('host');
  for (const name of ['wiki', 'open']) await agent.share(`http://127.0.0.1:${service.port}`, { name });
});
after(async () => {
  await world?.close();
  await service?.close();
});

/** The status at the gateway's plain port. */
async function statusOf(host: string, key?: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const headers = { host, ...(key === undefined ? {} : { 'x-api-key': key }) };
  const asked = request({ host: '127.0.0.1', port: world.up.httpPort, headers, agent: false }, (answer) => {
    answer.resume();
    answer.on('end', () => resolve(answer.statusCode ?? 0));
    answer.on('error', reject);
  });
  asked.on('error', reject);
  asked.end();
  return promise;
}

const becomes = (what: string, host: string, status: number, key?: string) =>
  until(
    `${host}: ${what}`,
    () => statusOf(host, key),
    (found) => found === status,
    SHORTLY_MS,
  );

async function done(method: 'POST' | 'PATCH' | 'DELETE' | 'GET', path: string, body?: unknown) {
  const answer = await world.call(method, path, body);
  assert.ok(answer.status < 300, answer.text);
  return answer.json as { id: string } & Record<string, unknown>;
}

const keysOf = (...keys: string[]) => ({
  placement: 'header',
  name: 'X-Api-Key',
  keys: keys.map((key) => ({ name: `name-of-${key}`, key })),
});

const makeProvider = (name: string, ...keys: string[]) =>
  done('POST', '/auth-providers', { name, type: 'API_KEY', data: keysOf(...keys) });

describe('a share with an auth provider', () => {
  it('refuses requests without its credential, disabled or not, and its provider cannot be deleted', async () => {
    const host = 'wiki.share.localhost';
    const { id } = await makeProvider('Keys', 'first-key-of-wiki');
    await becomes('it is open', host, 200);
    await done('PATCH', '/shares/wiki', { authProviderIds: [id] });
    await becomes('it is shut', host, 401);
    const shut = service.requestCount;
    assert.equal(await statusOf(host, 'another-key'), 401);
    assert.equal(service.requestCount, shut, 'nothing reached the service');
    await becomes('the key is admitted', host, 200, 'first-key-of-wiki');
    await done('PATCH', `/auth-providers/${id}`, { enabled: false });
    await becomes('its key admits nobody', host, 401, 'first-key-of-wiki');
    assert.equal((await world.call('DELETE', `/auth-providers/${id}`)).status, 409);
    const disabled = service.requestCount;
    for (let times = 0; times < 20; times += 1) assert.equal(await statusOf(host), 401);
    assert.equal(service.requestCount, disabled, 'nothing reached the service');
    await done('PATCH', '/shares/wiki', { authProviderIds: [] });
    await becomes('it is open again', host, 200);
    await done('DELETE', `/auth-providers/${id}`);
  });
});

describe('an auth provider that is updated', () => {
  it('is updated at every custom frontend that has it, within five seconds', async () => {
    const { id } = await makeProvider('Custom', 'first-custom-key');
    const other = await makeProvider('Other', 'key-of-another-one');
    const frontends = (await done('GET', '/frontends')) as unknown as { id: string }[];
    const made: string[] = [];
    for (const hostname of ZONES) {
      const body = { hostname, frontendId: frontends[0]!.id, authProviderIds: [id] };
      made.push((await done('POST', '/custom-frontends', body)).id);
    }
    const body = {
      hostname: 'third.example.test',
      frontendId: frontends[0]!.id,
      authProviderIds: [other.id],
    };
    made.push((await done('POST', '/custom-frontends', body)).id);
    for (const each of made) await world.grantHostname(each);
    const hosts = ZONES.map((zone) => `open.${zone}`);
    const third = 'open.third.example.test';
    for (const host of hosts) await becomes('it is served', host, 200, 'first-custom-key');
    await becomes('it is served', third, 200, 'key-of-another-one');
    assert.equal(await statusOf('open.share.localhost'), 200, 'the share itself has no guard');
    for (const host of hosts)
      assert.deepEqual([await statusOf(host), await statusOf(host, 'key-of-another-one')], [401, 401]);

    await done('PATCH', `/auth-providers/${id}`, { data: keysOf('second-custom-key') });
    for (const host of hosts) {
      await becomes('the new key is admitted', host, 200, 'second-custom-key');
      await becomes('the old key does not', host, 401, 'first-custom-key');
    }
    await done('PATCH', `/auth-providers/${id}`, { enabled: false });
    for (const host of hosts) await becomes('every caller is refused', host, 401, 'second-custom-key');
    assert.equal(await statusOf(third, 'key-of-another-one'), 200, 'the others are as they were');
    await done('PATCH', `/auth-providers/${id}`, { enabled: true });
    for (const host of hosts) await becomes('the key is admitted again', host, 200, 'second-custom-key');
    for (const each of made) await done('DELETE', `/custom-frontends/${each}`);
    for (const host of [...hosts, third]) await becomes('it is gone', host, 404, 'second-custom-key');
  });
});
