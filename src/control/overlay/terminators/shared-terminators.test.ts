import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { until } from '../../../../test/support/deadline.ts';
import { postgresSkip, sharedPostgres } from '../../../../test/support/postgres.ts';
import { openPostgresStore } from '../../store/engine/postgres-store.ts';
import type { Store } from '../../store/mod.ts';
import { OverlayModel } from '../model/overlay-model.ts';
import { isHosted, TerminatorRegistry, type TerminatorOfHost } from './terminator-registry.ts';
import type { StoredTerminator } from '../records/terminator-store.ts';

function terminator(id: string, more: Partial<StoredTerminator> = {}): StoredTerminator {
  return {
    id,
    serviceId: 'share',
    routerId: 'router',
    identityId: 'env',
    binding: 'edge',
    address: id,
    instanceId: '',
    peerData: new Map([[1003, Uint8Array.of(9)]]),
    createdAtMs: 1,
    cost: 0,
    precedence: 0,
    ...more,
  };
}

describe('terminators of control planes over one database', { skip: postgresSkip }, () => {
  const stores: Store[] = [];
  const changes: string[] = [];
  let a: TerminatorRegistry;
  let b: TerminatorRegistry;

  async function open(url: string): Promise<TerminatorRegistry> {
    const store = await openPostgresStore({ url, poolSize: 3 });
    stores.push(store);
    const registry = new TerminatorRegistry(store, new OverlayModel());
    await registry.load();
    return registry;
  }

  before(async () => {
    const url = await (await sharedPostgres()).createDatabase();
    a = await open(url);
    b = await open(url);
    b.onChange(({ id }, change) => changes.push(`${change} ${id}`));
    const { db } = stores[0]!;
    const created_at = 1;
    await db.insertInto('organization').values({ id: 'o', name: 'o', created_at }).execute();
    await db
      .insertInto('frontdoor')
      .values({ id: 'f', organization_id: 'o', name: 'f', created_at })
      .execute();
    for (const [id, kind] of [
      ['env', 'environment'],
      ['router', 'router'],
    ] as const) {
      const row = { id, kind, frontdoor_id: kind === 'router' ? null : 'f', name: id, agent_version: null };
      await db
        .insertInto('identity')
        .values({ ...row, created_at })
        .execute();
    }
    const share = { id: 'share', frontdoor_id: 'f', environment_id: 'env', token: 't', name: null };
    await db
      .insertInto('share')
      .values({
        ...share,
        share_mode: 'public',
        backend_mode: 'proxy',
        target: 'http://127.0.0.1:1',
        reserved: 0,
        target_by_agent: 1,
        epoch: 1,
        created_at,
        updated_at: 1,
      })
      .execute();
  });
  after(() => Promise.all(stores.map((store) => store.close())));

  const rows = async (): Promise<string[]> =>
    (await stores[0]!.db.selectFrom('terminator').select('id').orderBy('id').execute()).map(({ id }) => id);
  const untilChanged = (what: string): Promise<unknown> => until(what, () => changes.includes(what), Boolean);

  test('changes that one stores reach the other', async () => {
    await a.add(terminator('t1'));
    await untilChanged('added t1');
    assert.deepEqual(b.get('t1')?.peerData, new Map([[1003, Uint8Array.of(9)]]));
    assert.equal(b.ofRouter('router').size, 1);
    await a.update(a.get('t1')!, { cost: 7 });
    await untilChanged('changed t1');
    assert.equal(b.get('t1')?.cost, 7);
    // A later process of the same host has a key of its own.
    const peerData = new Map([[1003, Uint8Array.of(8)]]);
    const written = a.update(a.get('t1')!, { peerData });
    assert.equal(
      a.get('t1')?.peerData.get(1003)?.[0],
      9,
      'dialers have the former key until the router may know',
    );
    await written;
    await until(
      'the key',
      () => b.get('t1')?.peerData.get(1003)?.[0],
      (byte) => byte === 8,
    );
    assert.deepEqual(a.get('t1')?.peerData, peerData);
    await a.remove([a.get('t1')!]);
    await untilChanged('removed t1');
    assert.equal(b.size, 0);
  });

  test('a router announces a terminator to both, which share one row; one of another host is refused', async () => {
    await Promise.all([a.add(terminator('t2')), b.add(terminator('t2'))]);
    assert.deepEqual(await rows(), ['t2']);
    assert.ok(a.get('t2') !== undefined && b.get('t2') !== undefined);
    const late = terminator('t3', { identityId: 'router' });
    await a.add(terminator('t3'));
    await untilChanged('added t3');
    await b.remove([b.get('t3')!]);
    await until('t3 gone', () => a.get('t3') === undefined, Boolean);
    await stores[0]!.db.insertInto('terminator').values(rowIn('t3')).execute();
    await assert.rejects(b.add(late), { code: 'terminator-taken' });
    assert.equal(b.get('t3'), undefined);
    await stores[0]!.db.deleteFrom('terminator').where('id', '=', 't3').execute();
  });

  test('a control plane with older data removes nothing of another', async () => {
    const before = await rows();
    assert.deepEqual(before, ['t2']);
    // B has not been notified of the share yet, and must not keep the terminator; its row stays for others.
    await b.removeDisallowed([hosted(b, 't2')]);
    assert.equal(b.get('t2'), undefined);
    assert.ok(a.get('t2') !== undefined);
    assert.deepEqual(await rows(), before);
  });

  test('a row of a terminator that all removed from memory alone is deleted when its router removes it', async () => {
    await a.add(terminator('t4'));
    await untilChanged('added t4');
    for (const each of [a, b]) await each.removeDisallowed([hosted(each, 't4')]);
    await b.removeOf('another router', ['t4']);
    assert.deepEqual(await rows(), ['t2', 't4']);
    await b.removeOf('router', ['t4']);
    assert.deepEqual(await rows(), ['t2']);
  });

  function hosted(of: TerminatorRegistry, id: string): TerminatorOfHost {
    const terminator = of.get(id);
    assert.ok(terminator !== undefined && isHosted(terminator));
    return terminator;
  }

  function rowIn(id: string) {
    const kind = 'share' as const;
    const names = { id, kind, share_id: 'share', router_id: 'router', identity_id: 'env', binding: 'edge' };
    return { ...names, address: id, instance_id: '', cost: 0, precedence: 0, peer_data: '{}', created_at: 1 };
  }
});
