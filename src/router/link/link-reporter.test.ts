// Reports of links to controllers, over memory channels and with a manual clock.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ManualClock, silentLog, WorkerPool } from '#base';
import { FaultSubject } from '#wire/ctrl';
import { until } from '../../../test/support/deadline.ts';
import { LinkReporter, REPORT_INTERVAL_MS, type ReportedLink } from './link-reporter.ts';
import { ControllerList } from '../testing/controller-list.ts';
import { LinkController } from './testing/scripted-controllers.ts';

interface World {
  readonly clock: ManualClock;
  readonly controllers: ControllerList;
  readonly reports: LinkReporter;
}

function makeWorld(pool = poolOf(100)): World {
  const clock = new ManualClock();
  const controllers = new ControllerList();
  return { clock, controllers, reports: new LinkReporter({ controllers, pool, clock, log: silentLog }) };
}

function poolOf(queueLength: number): WorkerPool {
  return new WorkerPool({ name: 'rate_limiter', queueLength, workerCount: 1, log: silentLog });
}

function linkOf(more: Partial<ReportedLink> = {}): ReportedLink {
  return {
    id: 'link1',
    key: 'default->tls:peer->default',
    peerId: 'peer',
    iteration: 1,
    isDialed: true,
    protocol: 'tls',
    dialAddress: 'tls:peer:6000',
    stateIteration: 1,
    connections: () => [
      { type: 'link.default', localAddress: 'tcp:127.0.0.1:1', remoteAddress: 'tcp:127.0.0.1:2' },
    ],
    ...more,
  };
}

const tick = ({ clock, reports }: World): void => {
  clock.advance(REPORT_INTERVAL_MS);
  reports.tick();
};

const arrived = (controller: LinkController, count: number): Promise<unknown> =>
  until(
    `${count} messages`,
    () => controller.frames.length,
    (length) => length >= count,
  );

describe('controllers get reports of links', () => {
  test('all that stand when a controller connects, as the whole list; then each new one by itself', async () => {
    const world = makeWorld();
    const controller = new LinkController();
    world.reports.established(linkOf());
    controller.connect(world.controllers);
    await arrived(controller, 1);
    const [full] = controller.bodies('routerLinks');
    assert.equal(full!.fullRefresh, true);
    assert.deepEqual(
      full!.links.map(({ id, destRouterId, linkProtocol, dialAddress, iteration, connState }) => ({
        id,
        destRouterId,
        linkProtocol,
        dialAddress,
        iteration,
        state: connState?.stateIteration,
        conns: connState?.conns.map(({ type, localAddr, remoteAddr }) => [type, localAddr, remoteAddr]),
      })),
      [
        {
          id: 'link1',
          destRouterId: 'peer',
          linkProtocol: 'tls',
          dialAddress: 'tls:peer:6000',
          iteration: 1,
          state: 1,
          conns: [['link.default', 'tcp:127.0.0.1:1', 'tcp:127.0.0.1:2']],
        },
      ],
    );
    world.reports.established(linkOf({ id: 'link2' }));
    await arrived(controller, 2);
    const [, single] = controller.bodies('routerLinks');
    assert.equal(single!.fullRefresh, false);
    assert.deepEqual(
      single!.links.map(({ id }) => id),
      ['link2'],
    );
    assert.equal(world.reports.isReported('link2'), true);
    controller.close();
  });

  test('not of links that the other router dialed', async () => {
    const world = makeWorld();
    const controller = new LinkController();
    controller.connect(world.controllers);
    world.reports.established(linkOf({ isDialed: false }));
    world.reports.established(linkOf({ id: 'link2' }));
    await arrived(controller, 2);
    assert.deepEqual(
      controller.bodies('routerLinks').map(({ links }) => links.map(({ id }) => id)),
      [[], ['link2']],
    );
    controller.close();
  });

  test('of a change of connections, with a state that rises, and not of the same state twice', async () => {
    const world = makeWorld();
    const controller = new LinkController();
    controller.connect(world.controllers);
    const link = { ...linkOf(), stateIteration: 1 };
    world.reports.established(link);
    await arrived(controller, 2);
    for (const state of [2, 3]) {
      link.stateIteration = state;
      world.reports.changed(link);
      await arrived(controller, 1 + state);
    }
    tick(world);
    world.reports.established(linkOf({ id: 'link2' }));
    await arrived(controller, 5);
    assert.deepEqual(
      controller.bodies('linkState').map((body) => [body.linkId, body.connState?.stateIteration]),
      [
        ['link1', 2],
        ['link1', 3],
      ],
    );
    controller.close();
  });

  test('again every five seconds while the pool has no room', async () => {
    const pool = poolOf(0);
    const world = makeWorld(pool);
    const controller = new LinkController();
    controller.connect(world.controllers);
    const busy = Promise.withResolvers<void>();
    pool.offer(() => busy.promise);
    world.reports.established(linkOf());
    assert.equal(world.reports.isReported('link1'), false);
    tick(world);
    assert.equal(world.reports.isReported('link1'), false);
    busy.resolve();
    await until(
      'the pool to be free',
      () => pool.busyCount,
      (count) => count === 0,
    );
    tick(world);
    await arrived(controller, 2);
    assert.equal(controller.bodies('routerLinks')[1]!.links[0]!.id, 'link1');
    controller.close();
  });
});

describe('controllers get reports of closed links', () => {
  test('each of them, and a controller that was away as well once it is back', async () => {
    const world = makeWorld();
    const [near, away] = [new LinkController('near'), new LinkController('away')];
    near.connect(world.controllers);
    away.disconnect(world.controllers, away.connect(world.controllers));
    world.reports.lost(linkOf({ iteration: 3 }));
    await arrived(near, 2);
    tick(world);
    assert.equal(world.reports.pendingFaultCount, 1, 'one has not received it');
    away.connect(world.controllers);
    await arrived(away, 3);
    for (const { subject, id, iteration } of [near, away].flatMap((it) => it.bodies('fault'))) {
      assert.deepEqual([subject, id, iteration], [FaultSubject.LINK_FAULT, 'link1', 3]);
    }
    tick(world);
    assert.equal(world.reports.pendingFaultCount, 0);
    assert.deepEqual(
      [near, away].map((it) => it.bodies('fault').length),
      [1, 1],
      'once each',
    );
    for (const it of [near, away]) it.close();
  });

  test('again when the connection broke behind the message', async () => {
    const world = makeWorld();
    const controller = new LinkController();
    const first = controller.connect(world.controllers);
    world.reports.lost(linkOf());
    await arrived(controller, 2);
    controller.disconnect(world.controllers, first);
    controller.connect(world.controllers);
    await until(
      'the second',
      () => controller.bodies('fault').length,
      (count) => count === 2,
    );
    tick(world);
    assert.equal(world.reports.pendingFaultCount, 0);
    controller.close();
  });

  test('not one that was away for more than two minutes', () => {
    const world = makeWorld();
    const controller = new LinkController();
    controller.disconnect(world.controllers, controller.connect(world.controllers));
    world.reports.lost(linkOf());
    for (let seconds = 0; seconds < 115; seconds += 5) tick(world);
    assert.equal(world.reports.pendingFaultCount, 1);
    tick(world);
    tick(world);
    assert.equal(world.reports.pendingFaultCount, 0);
    controller.close();
  });

  test('no longer when a link of the same id stands again', async () => {
    const world = makeWorld();
    const controller = new LinkController();
    controller.disconnect(world.controllers, controller.connect(world.controllers));
    world.reports.lost(linkOf());
    world.reports.established(linkOf({ iteration: 2 }));
    assert.equal(world.reports.pendingFaultCount, 0);
    controller.connect(world.controllers);
    await arrived(controller, 2);
    assert.deepEqual(controller.bodies('fault'), []);
    assert.equal(controller.bodies('routerLinks').at(-1)!.links[0]!.iteration, 2);
    controller.close();
  });

  test('of a replaced link as a duplicate, at once', async () => {
    const world = makeWorld();
    const controller = new LinkController();
    controller.connect(world.controllers);
    world.reports.replaced(linkOf({ iteration: 4 }));
    await arrived(controller, 2);
    const [fault] = controller.bodies('fault');
    assert.deepEqual(
      [fault!.subject, fault!.id, fault!.iteration],
      [FaultSubject.LINK_DUPLICATE, 'link1', 4],
    );
    controller.close();
  });
});
