// A share that asked to be shut is never open: not while its provider is disabled, nor when somebody deletes it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../support/deadline.ts';
import { startPrivateService } from '../support/private-service.ts';
import { openWorld } from '../support/world.ts';

test('a share with an auth provider answers 503 at the gateway, whether the provider is enabled or not', async () => {
  const world = await openWorld();
  const service = await startPrivateService();
  try {
    const made = await world.call('POST', '/auth-providers', {
      name: 'Keys',
      type: 'API_KEY',
      data: { placement: 'bearer', keys: [{ name: 'ci' }] },
    });
    const { id } = made.json as { id: string };
    const agent = await world.startAgent('host');
    await agent.share(`http://127.0.0.1:${service.port}`, { name: 'wiki' });
    const page = (): Promise<number> => world.get('wiki.share.localhost', '/').then(({ status }) => status);
    await until('the open share', page, (status) => status === 200);
    assert.equal((await world.call('PATCH', '/shares/wiki', { authProviderIds: [id] })).status, 200);
    await until('the shut share', page, (status) => status === 503);
    const shut = service.requestCount;
    assert.equal((await world.call('PATCH', `/auth-providers/${id}`, { enabled: false })).status, 200);
    assert.equal((await world.call('DELETE', `/auth-providers/${id}`)).status, 409);
    for (let times = 0; times < 20; times += 1) assert.equal(await page(), 503);
    assert.equal(service.requestCount, shut, 'nothing reached the service');
    await world.call('PATCH', '/shares/wiki', { authProviderIds: [] });
    await until('the share that was opened again', page, (status) => status === 200);
    assert.equal((await world.call('DELETE', `/auth-providers/${id}`)).status, 204);
  } finally {
    await world.close();
    await service.close();
  }
});
