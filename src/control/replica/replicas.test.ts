import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, afterEach, before, describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { ManualClock, silentLog, type Log } from '#base';
import { until } from '../../../test/support/deadline.ts';
import { postgresSkip, sharedPostgres } from '../../../test/support/postgres.ts';
import {
  OverlayModel,
  type MeasuredKind,
  type MeasuredService,
  type Measurements,
  type StatusBoard,
  type EdgeRouter,
} from '../overlay/model/mod.ts';
import { serviceStatusAt } from '../overlay/mod.ts';
import { openPostgresStore } from '../store/engine/postgres-store.ts';
import type { Store } from '../store/mod.ts';
import { ClusterMemberList } from './cluster-members.ts';
import { DEAD_AFTER_BEATS, ReplicaRoll } from './replica-roll.ts';
import { Replicas } from './replicas.ts';
import { sampleService } from '../overlay/testing/sample-service.ts';

const clock = new ManualClock();

/** What an overlay controller would measure. */
class Played implements Measurements {
  readonly connected = new Set<string>();
  readonly shares = new Map<string, MeasuredService>();
  readonly #listeners: ((kind: MeasuredKind, id: string) => void)[] = [];

  service(id: string) {
    return serviceStatusAt(this.shares.get(id), clock.nowMs());
  }

  measured(id: string): MeasuredService | undefined {
    return this.shares.get(id);
  }

  isConnected(id: string): boolean {
    return this.connected.has(id);
  }

  channels(id: string): string {
    return this.connected.has(id) ? 'here' : '';
  }

  onMeasured(listener: (kind: MeasuredKind, id: string) => void): void {
    this.#listeners.push(listener);
  }

  notify(kind: MeasuredKind, id: string): void {
    for (const listener of this.#listeners) listener(kind, id);
  }

  connect(id: string, isConnected = true): void {
    if (isConnected) this.connected.add(id);
    else this.connected.delete(id);
    this.notify('identity', id);
  }

  measure(id: string, measured: Partial<MeasuredService>): void {
    this.shares.set(id, { state: 'DEPLOYED', count: 0, lastError: '', nextProbeMs: null, ...measured });
    this.notify('service', id);
  }
}

/** What one reports for SDKs. */
function edgeOf(id: string) {
  return {
    controllerId: id,
    edgeApiUrls: [`https://${id}:1280`, 'https://10.0.0.2:1280'],
    edgeCertificatePem: () => `certificate of ${id}`,
  };
}

interface Party {
  readonly apiUrl: string;
  readonly ctrlAddress: string;
  readonly store: Store;
  readonly model: OverlayModel;
  readonly measurements: Played;
  readonly replicas: Replicas;
  readonly board: StatusBoard;
  readonly routers: EdgeRouter[];
  /** What it said of others as they came and went, oldest first: `id came`, `id left`. */
  readonly seen: string[];
  close(): Promise<void>;
}

describe('control planes over one database', { skip: postgresSkip }, () => {
  let url: string;
  const parties: Party[] = [];
  before(async () => {
    url = await (await sharedPostgres()).createDatabase();
  });
  afterEach(async () => {
    for (const party of parties.splice(0)) await party.close();
  });
  const probes: Store[] = [];
  after(() => Promise.all(probes.map((store) => store.close())));

  async function open(): Promise<Party> {
    const store = await openPostgresStore({ url, poolSize: 3 });
    const model = new OverlayModel();
    for (const id of ['env', 'other']) {
      model.setIdentity({ id, kind: 'environment', name: id, ownerId: 'f', fingerprints: [] });
      model.setHostedService(sampleService(`share-${id}`, { hostId: id }));
    }
    model.setIdentity({
      id: 'router',
      kind: 'router',
      name: 'a router',
      ownerId: null,
      fingerprints: [],
    });
    const measurements = new Played();
    const seen: string[] = [];
    const log: Log = {
      ...silentLog,
      info: ({ replica }, message) =>
        void seen.push(`${String(replica)} ${message.endsWith('left') ? 'left' : 'came'}`),
    };
    const replicas = new Replicas({ store, model, clock, log });
    const routers: EdgeRouter[] = [];
    const id = randomUUID();
    const apiUrl = `http://${id}`;
    const ctrlAddress = `tls:${randomUUID()}:6262`;
    await replicas.start({ apiUrl, ctrlAddress, ...edgeOf(id), measurements, routers: () => routers });
    const close = async (): Promise<void> => {
      await replicas.close();
      await store.close();
    };
    const board = replicas.board(measurements);
    const party = { apiUrl, ctrlAddress, store, model, measurements, replicas, board, routers, seen, close };
    parties.push(party);
    return party;
  }

  /** Within less than a heartbeat by default. */
  const eventually = (what: string, ask: () => unknown, withinMs = 30_000): Promise<unknown> =>
    until(what, ask, Boolean, withinMs);

  test('give the same answers: the one to which the environment is connected decides', async () => {
    const a = await open();
    const b = await open();
    b.measurements.connect('env');
    b.measurements.measure('share-env', { state: 'DEPLOYED' });
    // Its router is not there: what it sees is no news to anybody.
    a.measurements.measure('share-env', { state: 'FAILED', count: 3, lastError: 'not from here' });
    await eventually('DEPLOYED at A', () => a.board.service('share-env').state === 'DEPLOYED');
    assert.ok(a.board.isConnected('env') && a.replicas.isConnectedElsewhere('env'));
    assert.ok(!b.replicas.isConnectedElsewhere('env') && !a.board.isConnected('other'));

    const failed = {
      state: 'FAILED',
      count: 2,
      lastError: 'refused',
      nextProbeMs: clock.nowMs() + 4_000,
    } as const;
    b.measurements.measure('share-env', failed);
    await eventually('FAILED at A', () => a.board.service('share-env').state === 'FAILED');
    assert.deepEqual(a.board.service('share-env'), b.board.service('share-env'));
    assert.deepEqual(a.board.service('share-env').failure, {
      count: 2,
      lastError: 'refused',
      nextRetry: new Date(clock.nowMs() + 4_000).toISOString(),
    });

    // It comes to A as well, and reaches its backend from there.
    a.measurements.measure('share-env', { state: 'DEPLOYED' });
    a.measurements.connect('env');
    for (const { board } of [a, b])
      await eventually('DEPLOYED at both', () => board.service('share-env').state === 'DEPLOYED');
    a.measurements.connect('env', false);
    b.measurements.connect('env', false);
    for (const { board } of [a, b]) await eventually('gone', () => !board.isConnected('env'));
    assert.equal(b.board.service('share-env').state, 'FAILED', 'nobody has it: the own view');
  });

  test('every one lists all of them for SDKs, with their addresses and certificates', async () => {
    const a = await open();
    const b = await open();
    const ids = (party: Party): unknown => party.replicas.controllers.map(({ id }) => id);
    const both = [a, b].map(({ apiUrl }) => new URL(apiUrl).hostname).sort();
    await eventually('both at A', () => isDeepStrictEqual(ids(a), both));
    assert.deepEqual(a.replicas.controllers, b.replicas.controllers);
    const [first] = a.replicas.controllers;
    assert.deepEqual(first, {
      id: both[0],
      apiUrls: edgeOf(both[0]!).edgeApiUrls,
      certificatePem: `certificate of ${both[0]}`,
      startedAtMs: clock.nowMs(),
      isOnline: true,
    });
    await b.close();
    parties.pop();
    await eventually('B left A', () => isDeepStrictEqual(ids(a), [new URL(a.apiUrl).hostname]));
  });

  test('one that joins is known to those that run', async () => {
    const a = await open();
    const b = await open();
    await eventually('B at A', () => a.replicas.apiUrls.includes(b.apiUrl));
    assert.ok(b.replicas.apiUrls.includes(a.apiUrl));
  });

  test('a replica that starts later has all data at once; deleted ones are not announced', async () => {
    const a = await open();
    a.measurements.connect('env');
    a.measurements.measure('share-env', {});
    a.routers.push({ id: 'router', name: 'a router', hostname: 'r.test', port: 3022, isOnline: true });
    a.measurements.notify('router', 'router');
    const rows = (): Promise<unknown[]> =>
      a.store.db.selectFrom('replica_status').select(['kind', 'id']).execute();
    await until('three rows', rows, ({ length }) => length === 3);
    const b = await open();
    assert.equal(b.board.service('share-env').state, 'DEPLOYED');
    assert.deepEqual(b.replicas.routers([]), a.routers);
    a.routers.pop();
    a.measurements.notify('router', 'router');
    await eventually('no router', () => b.replicas.routers([]).length === 0);
    for (const { model } of [a, b]) {
      model.removeHostedService('share-env');
      model.removeIdentity('env');
      model.removeIdentity('router');
    }
    assert.ok(!b.board.isConnected('env'));
    await until('no row', rows, ({ length }) => length === 0);
  });

  test('the measurements of one that left, or that died, no longer count; one taken for dead comes back', async () => {
    const a = await open();
    const b = await open();
    b.measurements.connect('env');
    await eventually('connected', () => a.board.isConnected('env'));
    await b.close();
    parties.splice(parties.indexOf(b), 1);
    await eventually('left', () => !a.board.isConnected('env'));

    const c = await open();
    c.measurements.connect('env');
    await eventually('connected', () => a.board.isConnected('env'));
    // As another would that has waited for too long.
    const id = await a.store.transaction(async (trx, touch) => {
      const { replica_id } = await trx
        .selectFrom('replica_status')
        .select('replica_id')
        .where('id', '=', 'env')
        .executeTakeFirstOrThrow();
      await trx.deleteFrom('replica').where('id', '=', replica_id).execute();
      touch('replica', replica_id);
      return replica_id;
    });
    // It may be back before anybody looks.
    const comings = () => a.seen.filter((line) => line.startsWith(id)).join();
    await eventually('forgotten and back', () => comings() === `${id} came,${id} left,${id} came`);
    await eventually('connected again', () => a.board.isConnected('env'));
  });

  test('a row that does not change for four of our heartbeats is removed, at any time of its clock', async () => {
    const probe = await openPostgresStore({ url, poolSize: 2 });
    probes.push(probe);
    const roll = new ReplicaRoll({ store: probe, clock, log: silentLog });
    const dead = {
      id: 'dead',
      api_url: 'http://dead',
      ctrl_address: null,
      controller_id: 'dead',
      edge_api_urls: 'https://dead:1280 https://10.0.0.1:1280',
      edge_certificate: 'certificate of dead',
      started_at: 1,
      seen_at: 9e15,
    };
    await probe.db.insertInto('replica').values(dead).execute();
    await roll.join({ apiUrl: 'http://probe', ctrlAddress: 'tls:probe:6262', ...edgeOf('probe') });
    for (let beat = 1; beat < DEAD_AFTER_BEATS; beat += 1) {
      await roll.beat();
      assert.ok(roll.isLive('dead'), `after ${beat}`);
    }
    await roll.beat();
    assert.ok(!roll.isLive('dead'));
    assert.deepEqual(
      await probe.db.selectFrom('replica').select('id').where('id', '=', 'dead').execute(),
      [],
    );
    // Its tokens outlive it.
    assert.ok(roll.apiUrls.includes('http://dead'));
    const silent = roll.controlPlanes.filter(({ silentSinceMs }) => silentSinceMs !== undefined);
    const silentSinceMs = clock.nowMs() - 20_000;
    assert.deepEqual(silent, [{ apiUrl: 'http://dead', silentSinceMs }]);
    const listed = () => roll.controllers.map(({ id, apiUrls, isOnline }) => ({ id, apiUrls, isOnline }));
    const gone = { id: 'dead', apiUrls: dead.edge_api_urls.split(' '), isOnline: false };
    const own = { id: 'probe', apiUrls: edgeOf('probe').edgeApiUrls, isOnline: true };
    assert.deepEqual(listed(), [gone, own]);
    // It is back, as another process of the same data directory.
    await probe.db
      .insertInto('replica')
      .values({ ...dead, id: 'dead again' })
      .execute();
    await roll.look();
    assert.deepEqual(listed(), [{ ...gone, isOnline: true }, own]);
    await probe.db.deleteFrom('replica').where('id', '=', 'dead again').execute();
    await roll.look();
    assert.deepEqual(listed(), [own]);
    await roll.leave();
  });

  test('the leader announces all running control planes to routers under a rising index, and dead ones for a while', async () => {
    const a = await open();
    const indexes: bigint[] = [];
    a.replicas.cluster.onMembersChange(() => indexes.push(a.replicas.cluster.members()!.index));
    const addresses = (party: Party) => party.replicas.cluster.members()?.addresses;
    assert.deepEqual(addresses(a), [a.ctrlAddress]);
    assert.equal(a.replicas.cluster.members()?.isLeader, true);
    clock.advance(10);
    const b = await open();
    const both = [a.ctrlAddress, b.ctrlAddress].sort();
    assert.deepEqual(addresses(b), both);
    await eventually('B at A', () => addresses(a)?.length === 2);
    assert.deepEqual(addresses(a), both);
    assert.equal(b.replicas.cluster.members()?.isLeader, false);
    const before = b.replicas.cluster.members()!.index;

    // A leaves: the other leads, and has a higher index than any before.
    parties.splice(parties.indexOf(a), 1);
    await a.close();
    await eventually('B leads', () => b.replicas.cluster.members()?.isLeader === true);
    assert.deepEqual(addresses(b), [b.ctrlAddress]);
    assert.ok(b.replicas.cluster.members()!.index > before);
    assert.ok(indexes.length >= 1 && indexes.every((index) => index < b.replicas.cluster.members()!.index));
  });

  test('a dead one stays a member for a while, and one of an older version prevents announcements to routers', async () => {
    const store = await openPostgresStore({ url, poolSize: 2 });
    probes.push(store);
    const warnings: unknown[] = [];
    const log: Log = { ...silentLog, warn: (fields: unknown) => void warnings.push(fields) };
    const members = new ClusterMemberList(store, clock, log);
    const roll = new ReplicaRoll({ store, clock, log: silentLog, members });
    const dead = {
      id: 'dead',
      api_url: 'http://dead',
      ctrl_address: 'tls:dead:6262',
      started_at: 1,
      seen_at: 9e15,
    };
    await store.db.insertInto('replica').values(dead).execute();
    await roll.join({ apiUrl: 'http://probe', ctrlAddress: 'tls:probe:6262', ...edgeOf('probe') });
    const both = ['tls:dead:6262', 'tls:probe:6262'];
    assert.deepEqual([members.members()?.addresses, members.members()?.isLeader], [both, false]);
    for (let beat = 0; beat < DEAD_AFTER_BEATS; beat += 1) await roll.beat();
    assert.ok(!roll.isLive('dead'));
    assert.deepEqual([members.members()?.addresses, members.members()?.isLeader], [both, true]);
    clock.advance(86_400_001);
    await roll.beat();
    assert.deepEqual(members.members()?.addresses, ['tls:probe:6262']);
    await store.db
      .insertInto('replica')
      .values({ ...dead, id: 'old', ctrl_address: null })
      .execute();
    await roll.beat();
    assert.equal(members.members(), undefined);
    await store.db.deleteFrom('replica').where('id', '=', 'old').execute();
    assert.deepEqual(warnings, []);
    await store.db
      .insertInto('replica')
      .values({ ...dead, id: 'twin', ctrl_address: 'tls:probe:6262' })
      .execute();
    await roll.beat();
    assert.match(JSON.stringify(warnings), /"address":"tls:probe:6262".*--ctrl-host/);
    await store.db.deleteFrom('replica').where('id', '=', 'twin').execute();
    await roll.leave();
  });
});
