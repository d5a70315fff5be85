import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { SeededRandom } from '../../../../test/support/seeded-random.ts';
import { TEST_SEED } from '../../../../test/support/test-seed.ts';
import {
  OverlayModel,
  type MeasuredListener,
  type ServiceState,
  type StatusBoard,
} from '../../overlay/model/mod.ts';
import { ShareCatalog } from './share-catalog.ts';
import { StateCounts } from './state-counts.ts';
import { sampleShare } from '../../../../test/support/sample-share.ts';

const MANY = 20_000;

/** Measurements that the test makes, and how often they were looked at. */
class CountingBoard implements StatusBoard {
  readonly connected = new Map<string, string>();
  readonly states = new Map<string, ServiceState>();
  looks = 0;
  readonly #listeners: MeasuredListener[] = [];

  service(id: string) {
    this.looks += 1;
    return { state: this.states.get(id) ?? 'PENDING' };
  }

  isConnected(id: string): boolean {
    this.looks += 1;
    return this.connected.has(id);
  }

  channels(id: string): string {
    return this.connected.get(id) ?? '';
  }

  onMeasured(listener: MeasuredListener): void {
    this.#listeners.push(listener);
  }

  measure(id: string, state: ServiceState): void {
    this.states.set(id, state);
    for (const listener of this.#listeners) listener('service', id);
  }

  connect(id: string, channels: string): void {
    if (channels === '') this.connected.delete(id);
    else this.connected.set(id, channels);
    for (const listener of this.#listeners) listener('identity', id);
  }
}

function environment(id: string, ownerId: string) {
  return { id, kind: 'environment', name: id, ownerId, fingerprints: [] } as const;
}

test('the counts are those that looking at each share and environment finds, after any changes', async (t) => {
  t.diagnostic(`FRONTDOOR_TEST_SEED=${TEST_SEED}`);
  const random = new SeededRandom(TEST_SEED);
  const [model, board] = [new OverlayModel(), new CountingBoard()];
  const catalog = new ShareCatalog(model);
  const frontdoors = ['fd1', 'fd2'];
  const environments = ['a', 'b', 'c'];
  const counts = new StateCounts(model, catalog, board);
  for (let n = 0; n < 2_000; n += 1) {
    const share = `share-${random.int(20)}`;
    const environmentId = random.pick(environments);
    const owner = frontdoors[environments.indexOf(environmentId) % 2]!;
    const change = random.int(6);
    if (change === 0) model.setIdentity(environment(environmentId, owner));
    else if (change === 1 && random.int(3) === 0) model.removeIdentity(environmentId);
    else if (change === 2) catalog.remove(share);
    else if (change === 3) board.measure(share, random.pick(['PENDING', 'DEPLOYED', 'FAILED']));
    else if (change === 4) board.connect(environmentId, random.pick(['', 'here', 'here and there']));
    else {
      const shareMode = random.pick(['public', 'private'] as const);
      catalog.set(sampleShare(share, { environmentId, frontdoorId: owner, shareMode }));
    }
    if (n % 20 !== 0) continue;
    await counts.settled();
    for (const id of [undefined, ...frontdoors]) {
      const isOwn = (owner: string | null): boolean => id === undefined || owner === id;
      const found = { total: 0, pending: 0, deployed: 0, failed: 0, public: 0, private: 0 };
      for (const each of catalog.all()) {
        if (!isOwn(each.frontdoorId)) continue;
        const state = board.connected.has(each.environmentId) ? board.service(each.id).state : 'FAILED';
        assert.equal(counts.stateOf(each), state);
        found.total += 1;
        found[each.shareMode] += 1;
        found[({ PENDING: 'pending', DEPLOYED: 'deployed', FAILED: 'failed' } as const)[state]] += 1;
      }
      assert.deepEqual(counts.shares(id), found);
      const machines = [...model.identities()].filter(({ ownerId }) => isOwn(ownerId));
      const online = machines.filter((each) => board.connected.has(each.id)).length;
      assert.deepEqual(counts.machines('environment', id), { total: machines.length, online });
    }
  }
});

test('reading the counts looks at no share, and an environment that connects at a bounded number in one turn', async () => {
  const [model, board] = [new OverlayModel(), new CountingBoard()];
  const catalog = new ShareCatalog(model);
  model.setIdentity(environment('env', 'fd'));
  for (let n = 0; n < MANY; n += 1) {
    catalog.set(sampleShare(`share-${n}`, {}));
    board.states.set(`share-${n}`, 'DEPLOYED');
  }
  const counts = new StateCounts(model, catalog, board);
  await counts.settled();
  board.looks = 0;
  assert.deepEqual([counts.shares('fd').failed, counts.machines('environment').online], [MANY, 0]);
  assert.equal(board.looks, 0);
  let most = 0;
  // The environment's terminators come one after the other, and each says that it is there.
  for (let n = 0; n < MANY; n += 1) board.connect('env', 'here');
  board.looks = 0;
  while (counts.shares().deployed < MANY) {
    await nextTurn();
    most = Math.max(most, board.looks);
    board.looks = 0;
  }
  assert.ok(most <= 8_000, `${most} looks in one turn`);
});
