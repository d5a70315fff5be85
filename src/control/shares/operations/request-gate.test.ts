import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { it } from 'node:test';
import type { KyselyPlugin } from 'kysely';
import { operations } from '#contract';
import { openApiWorld, type ApiWorld } from './api-fixture.ts';
import { createManagementApi } from './management-api.ts';
import { describeEachStore } from '../../store/engine/each-store-suite.ts';

interface Asked {
  readonly status: number;
  /** The answer with the asked id taken out. */
  readonly bytes: string;
  readonly statements: number;
}

/**
 * Asks the same API again, over a store that counts the statements of each request. The refusals of earlier ones are recorded
 * by a timer, at any time, so that each request has a count of its own.
 */
async function openCounting(world: ApiWorld) {
  const counts = new AsyncLocalStorage<{ statements: number }>();
  const counter: KyselyPlugin = {
    transformQuery: ({ node }) => {
      const count = counts.getStore();
      if (count !== undefined) count.statements += 1;
      return node;
    },
    transformResult: ({ result }) => Promise.resolve(result),
  };
  const { store, options } = world;
  const app = await createManagementApi({
    ...options,
    store: { ...store, db: store.db.withPlugin(counter) },
  });
  return {
    async ask(method: string, path: string, id: string, authorization: string): Promise<Asked> {
      const count = { statements: 0 };
      const url = path.replace('{frontdoorId}', id).replaceAll(/\{\w+\}/g, randomUUID());
      const answer = await counts.run(count, async () =>
        app.inject({ method: method as 'GET', url, headers: { authorization } }),
      );
      const { date: _date, ...headers } = answer.headers;
      const bytes = JSON.stringify([headers, answer.body]).replaceAll(id, 'ID');
      return { status: answer.statusCode, bytes, statements: count.statements };
    },
    close: () => app.close(),
  };
}

describeEachStore('a frontdoor that the caller may not see', (open) => {
  it('looks the same, there or not, in bytes and in statements', async (t) => {
    const world = await openApiWorld({ open });
    t.after(() => world.close());
    const { isShared } = world.store;
    const { first, other } = world;
    const body = { name: 'gone', organizationId: first.organizationId };
    const gone = ((await world.call('POST', '/frontdoor', { body })).body as { id: string }).id;
    await world.call('DELETE', `/frontdoor/${gone}`);
    const { authorization } = await world.addAccount(
      first.organizationId,
      'frontdoor.read frontdoor.write frontdoor.admin',
    );
    const api = await openCounting(world);
    t.after(() => api.close());
    await api.ask('GET', '/frontdoor/{frontdoorId}', first.frontdoorId, authorization);
    let compared = 0;
    for (const { id, method, path } of operations.filter((each) => each.path.includes('{frontdoorId}'))) {
      const asked = [];
      for (const frontdoorId of [other.frontdoorId, gone, randomUUID()])
        asked.push(await api.ask(method, path, frontdoorId, authorization));
      const [foreign, deleted, random] = asked as [Asked, Asked, Asked];
      assert.equal(foreign.status, 403, id);
      assert.ok(foreign.statements > 0 || compared > 0, id);
      assert.match(
        foreign.bytes,
        /\{\\"error\\":\\"not_found\\",\\"message\\":\\"Frontdoor ID not found\\"\}/,
      );
      assert.deepEqual(deleted, foreign, id);
      assert.deepEqual(random, { ...foreign, statements: random.statements }, id);
      // Earlier look-ups are cached where only we write, for missing and foreign ids alike; a new id is never cached.
      if (isShared || compared === 0) assert.equal(random.statements, foreign.statements, id);
      compared += 1;
    }
    assert.ok(compared > 20);
  });
});
