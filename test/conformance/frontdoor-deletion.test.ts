// The deletion of a frontdoor closes the connections of its agents and gateways.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { FrontdoorError } from '#base';
import { until } from '../support/deadline.ts';
import { startPrivateService } from '../support/private-service.ts';
import { openWorld } from '../support/world.ts';

test('a deleted frontdoor closes the connections of its agents and gateways within ten seconds', async () => {
  const world = await openWorld();
  const service = await startPrivateService();
  try {
    const agent = await world.startAgent('host');
    await agent.share(`http://127.0.0.1:${service.port}`, { name: 'doomed' });
    const provider = await world.call('POST', '/auth-providers', {
      name: 'Staff',
      type: 'OIDC',
      data: { issuer: 'https://id.example', client_id: randomUUID() },
    });
    assert.equal(provider.status, 201);
    const page = (): Promise<number> => world.get('doomed.share.localhost', '/').then(({ status }) => status);
    await until('the share', page, (status) => status === 200);
    const { api, overlay } = agent;
    assert.equal(overlay.isAttached, true);
    assert.equal((await world.call('DELETE', '')).status, 204);
    await until(
      'no connection',
      () => overlay.isAttached,
      (isAttached) => !isAttached,
    );
    await until('no share', page, (status) => status === 404);
    await assert.rejects(
      api.services(),
      (error) => error instanceof FrontdoorError && error.kind === 'unauthenticated',
    );
    assert.equal((await world.call('GET', '/auth-providers')).status, 403);
  } finally {
    await world.close();
    await service.close();
  }
});
