import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { AccessRules } from '#domain/access';
import type { GatewayReplay } from '#domain/gateway-shapes';
import { AccessWorld, deltaOf } from '../testing/access-world.ts';
import { shareOf } from '../testing/gateway-world.ts';

describe('a share whose rules cannot be read', () => {
  let world: AccessWorld;
  before(async () => {
    world = await AccessWorld.start();
    await world.serve('app');
    await world.serve('other');
  });
  after(() => world.close());

  it('is answered with 503 and a page with the reason, never open and never unknown, until it can be read', async () => {
    const rules = { ip: 'everywhere' } as unknown as AccessRules;
    const problems = world.world.gateway.table.change([shareOf('app', { rules, updatedAtMs: 2 })], []);
    world.access.change(deltaOf({}));
    assert.deepEqual(problems, [{ kind: 'share', id: 'id-app', token: 'app', field: 'rules' }]);
    const answer = await world.ask('app', { lines: ['Accept: application/json'] });
    assert.equal(answer.status, 503);
    const { error, errorId } = JSON.parse(answer.body) as { error: string; errorId: string };
    assert.equal(error, 'share-unreadable');
    const record = world.records.find((each) => each['errorId'] === errorId);
    assert.match(String(record?.['cause']), /cannot be read: rules/);
    assert.match((await world.ask('app')).body, /cannot read its access rules/);
    assert.equal(world.hits('app'), 0);
    const replay = { type: 'replay', shareId: 'id-app' } as GatewayReplay;
    assert.equal(world.world.gateway.replay(replay), undefined, 'nothing else reaches it either');
    assert.equal((await world.ask('other')).status, 200);
    world.publish('app', { updatedAtMs: 3 });
    assert.equal((await world.ask('app')).status, 200);
  });
});
