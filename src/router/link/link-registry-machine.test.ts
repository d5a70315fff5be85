// Which links are dialed and kept, without sockets: the test feeds events to the machine and advances its clock.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ManualClock } from '#base';
import {
  HEALTHY_BACKOFF_DEFAULTS,
  UNHEALTHY_BACKOFF_DEFAULTS,
} from '../config/testing/router-config-defaults.ts';
import type { DialerRule, PeerListener } from './link-dial-policy.ts';
import type { DialOrder, LinkEffect, LinkEvent, LiveLink } from './link-event.ts';
import { LinkRegistryMachine } from './link-registry-machine.ts';

const DIALER: DialerRule = {
  groups: ['default'],
  binding: '',
  healthyBackoff: HEALTHY_BACKOFF_DEFAULTS,
  unhealthyBackoff: UNHEALTHY_BACKOFF_DEFAULTS,
};

const LISTENER: PeerListener = {
  address: 'tls:peer:6000',
  protocol: 'tls',
  groups: ['default'],
  localBinding: '',
};

class World {
  readonly clock = new ManualClock();
  readonly machine: LinkRegistryMachine;
  #ids = 0;

  constructor(dialers: readonly DialerRule[] = [DIALER], random = (): number => 0.5) {
    this.machine = new LinkRegistryMachine({
      routerId: 'us',
      dialers,
      newLinkId: () => `id${(this.#ids += 1)}`,
      random,
    });
  }

  step(event: LinkEvent): LinkEffect[] {
    return this.machine.step(event, this.clock.nowMs());
  }

  healthy(peerId = 'peer', listeners: readonly PeerListener[] = [LISTENER], version = 'v1.7.2'): DialOrder[] {
    return ordersOf(this.step({ kind: 'peerHealthy', peerId, version, listeners }));
  }

  /** Advances the clock to the next due time, like the driver. */
  tick(): DialOrder[] {
    this.clock.advance(Math.max(0, this.machine.nextDueMs - this.clock.nowMs()));
    return ordersOf(this.step({ kind: 'tick' }));
  }

  /** Ticks until a link is dialed. */
  nextDial(): DialOrder {
    for (let ticks = 0; ticks < 10_000; ticks += 1) {
      const [order] = this.tick();
      if (order !== undefined) return order;
    }
    throw new Error('nothing is dialed');
  }

  fail(order: DialOrder, fault: 'failed' | 'queueFull' | 'duplicate' = 'failed'): DialOrder[] {
    return ordersOf(this.step({ kind: 'dialFailed', order, fault }));
  }

  up(link: LiveLink): LinkEffect[] {
    return this.step({ kind: 'linkUp', link });
  }

  closed(link: LiveLink): LinkEffect[] {
    return this.step({ kind: 'linkClosed', link });
  }

  get retryDelayMs(): number | undefined {
    return this.machine.peer('peer')?.links.get(DEFAULT_KEY)?.retryDelayMs;
  }

  statusOf(key = DEFAULT_KEY): string | undefined {
    return this.machine.peer('peer')?.links.get(key)?.status;
  }
}

const DEFAULT_KEY = 'default->tls:peer->default';

function ordersOf(effects: readonly LinkEffect[]): DialOrder[] {
  return effects.filter((effect) => effect.kind === 'dial').map(({ order }) => order);
}

function linkOf({ linkId, key, iteration, peerId }: DialOrder): LiveLink {
  return { id: linkId, key, iteration, peerId, isDialed: true };
}

function acceptedLink(id: string, key = DEFAULT_KEY, iteration = 1): LiveLink {
  return { id, key, iteration, peerId: 'peer', isDialed: false };
}

function closesOf(effects: readonly LinkEffect[]): { readonly link: LiveLink; readonly afterMs: number }[] {
  return effects.filter((effect) => effect.kind === 'close').map(({ link, afterMs }) => ({ link, afterMs }));
}

function kindsOf(effects: readonly LinkEffect[]): string[] {
  return effects.map(({ kind }) => kind);
}

describe('which links are dialed', () => {
  test('every listener that shares a group with a dialer is dialed, under a key of both bindings', () => {
    const world = new World([
      { ...DIALER, binding: 'eth0', groups: ['blue', 'red'] },
      { ...DIALER, binding: 'eth1', groups: ['red'] },
    ]);
    const orders = world.healthy('peer', [
      { ...LISTENER, groups: ['blue'], localBinding: 'ens1' },
      { ...LISTENER, groups: ['red'], localBinding: 'ens2' },
      { ...LISTENER, groups: ['green'], localBinding: 'ens3' },
    ]);
    assert.deepEqual(
      orders.map(({ key }) => key),
      ['eth0->tls:peer->ens1', 'eth0->tls:peer->ens2', 'eth1->tls:peer->ens2'],
    );
    assert.equal(new Set(orders.map(({ linkId }) => linkId)).size, 3, 'each key has an id of its own');
  });

  test('only TLS is dialed, and never the router itself', () => {
    const world = new World();
    assert.deepEqual(world.healthy('peer', [{ ...LISTENER, protocol: 'dtls' }]), []);
    assert.deepEqual(world.healthy('us'), []);
  });

  test('a link keeps its id over its dials, whose count is its iteration', () => {
    const world = new World();
    const [first] = world.healthy();
    world.fail(first!);
    const second = world.nextDial();
    const link = linkOf(second);
    world.up(link);
    world.clock.advance(10_000);
    const [third] = ordersOf(world.closed(link));
    assert.deepEqual(
      [first, second, third].map((order) => order?.iteration),
      [1, 2, 3],
    );
    assert.deepEqual(new Set([first, second, third].map((order) => order?.linkId)), new Set(['id1']));
  });

  test('a moved listener is dialed again, and a link without a shared group is closed', () => {
    const world = new World();
    const [order] = world.healthy();
    const link = linkOf(order!);
    world.up(link);
    world.clock.advance(10_000);
    const moved = world.step({
      kind: 'peerHealthy',
      peerId: 'peer',
      version: 'v1.7.2',
      listeners: [{ ...LISTENER, address: 'tls:elsewhere:6000' }],
    });
    assert.deepEqual(closesOf(moved), [{ link, afterMs: 0 }]);
    const [redial] = ordersOf(world.closed(link));
    assert.equal(redial?.address, 'tls:elsewhere:6000');
    const second = linkOf(redial);
    world.up(second);
    const gone = world.step({
      kind: 'peerHealthy',
      peerId: 'peer',
      version: 'v1.7.2',
      listeners: [{ ...LISTENER, groups: ['green'] }],
    });
    assert.deepEqual(closesOf(gone), [{ link: second, afterMs: 0 }]);
    assert.deepEqual(ordersOf(world.closed(second)), []);
  });

  test('a removed peer loses its links and is not dialed again', () => {
    const world = new World();
    const [order] = world.healthy();
    const link = linkOf(order!);
    world.up(link);
    assert.deepEqual(closesOf(world.step({ kind: 'peerRemoved', peerId: 'peer' })), [{ link, afterMs: 0 }]);
    assert.deepEqual(kindsOf(world.closed(link)), ['lost']);
    world.clock.advance(3_600_000);
    assert.deepEqual(ordersOf(world.step({ kind: 'tick' })), []);
  });

  test('a dial that ends after its peer was removed is closed', () => {
    const world = new World();
    const [order] = world.healthy();
    world.step({ kind: 'peerRemoved', peerId: 'peer' });
    assert.equal(world.machine.isWanted(order!), false);
    assert.deepEqual(kindsOf(world.up(linkOf(order!))), ['close']);
  });

  test('an unhealthy peer without a link is forgotten after 48 hours, not before', () => {
    const world = new World();
    const [order] = world.healthy();
    world.fail(order!);
    world.step({ kind: 'peerUnhealthy', peerId: 'peer' });
    const sinceMs = world.clock.nowMs();
    while (world.machine.peer('peer') !== undefined) {
      for (const next of world.tick()) world.fail(next);
      assert.ok(world.clock.nowMs() - sinceMs < 49 * 3_600_000, 'never forgotten');
    }
    assert.ok(world.clock.nowMs() - sinceMs > 48 * 3_600_000);
  });
});

describe('when a failed link is dialed again', () => {
  /** Gaps in ms between dials that all fail, during `forMs`. */
  function gapsOf(world: World, first: DialOrder, forMs: number): number[] {
    const endMs = world.clock.nowMs() + forMs;
    const gaps: number[] = [];
    world.fail(first);
    for (;;) {
      const fromMs = world.clock.nowMs();
      const order = world.nextDial();
      world.fail(order);
      if (world.clock.nowMs() > endMs) return gaps;
      gaps.push(world.clock.nowMs() - fromMs);
    }
  }

  for (const [name, isHealthy, policy] of [
    ['healthy', true, { minMs: 10, maxMs: 60_000, factor: 1.5 }],
    ['healthy, by default', true, HEALTHY_BACKOFF_DEFAULTS],
    ['unhealthy', false, { minMs: 500, maxMs: 20_000, factor: 4 }],
    ['unhealthy, by default', false, UNHEALTHY_BACKOFF_DEFAULTS],
    ['of factor 1', true, { minMs: 1_000, maxMs: 86_400_000, factor: 1 }],
  ] as const) {
    test(`gaps begin at the minimum, grow by the factor ± 0.5 and end at the maximum: ${name}`, () => {
      for (let round = 0; round < 20; round += 1) {
        const backoff = isHealthy ? { healthyBackoff: policy } : { unhealthyBackoff: policy };
        const world = new World([{ ...DIALER, ...backoff }], Math.random);
        const [order] = world.healthy();
        if (!isHealthy) world.step({ kind: 'peerUnhealthy', peerId: 'peer' });
        const gaps = gapsOf(world, order!, 6 * 3_600_000);
        assert.equal(gaps[0], policy.minMs);
        for (const [index, gap] of gaps.entries()) {
          assert.ok(gap >= policy.minMs && gap <= policy.maxMs, `gap ${gap}`);
          if (index === 0) continue;
          const least = Math.min(policy.maxMs, gaps[index - 1]! * Math.max(1, policy.factor - 0.5));
          const most = Math.min(policy.maxMs, gaps[index - 1]! * (policy.factor + 0.5));
          assert.ok(gap >= least - 1e-6 && gap <= most + 1e-6, `${gaps[index - 1]} then ${gap}`);
        }
        if (policy.factor > 1) assert.equal(gaps.at(-1), policy.maxMs);
      }
    });
  }

  test('the peer’s health when a dial fails picks the policy', () => {
    const world = new World([
      {
        ...DIALER,
        healthyBackoff: { minMs: 1_000, maxMs: 1_000, factor: 1 },
        unhealthyBackoff: { minMs: 60_000, maxMs: 60_000, factor: 1 },
      },
    ]);
    const [order] = world.healthy();
    world.step({ kind: 'peerUnhealthy', peerId: 'peer' });
    world.fail(order!);
    assert.equal(world.retryDelayMs, 60_000);
    const second = world.nextDial();
    world.healthy();
    const fromMs = world.clock.nowMs();
    const [atOnce] = world.fail(second);
    assert.ok(atOnce !== undefined, 'it became healthy while it was dialed');
    world.fail(atOnce);
    world.nextDial();
    assert.equal(world.clock.nowMs() - fromMs, 1_000);
  });

  test('a peer that is down for ten minutes and comes back is dialed at once', () => {
    const world = new World();
    const [order] = world.healthy();
    world.step({ kind: 'peerUnhealthy', peerId: 'peer' });
    const gaps = gapsOf(world, order!, 10 * 60_000);
    assert.ok(gaps.length <= 3, `${gaps.length} dials in ten minutes`);
    const [atOnce] = world.healthy();
    assert.ok(atOnce !== undefined);
    assert.equal(world.retryDelayMs, 0, 'from the beginning again');
  });

  test('a link that stood is dialed again at once, one that broke at once waits', () => {
    const world = new World();
    const [order] = world.healthy();
    let link = linkOf(order!);
    world.up(link);
    world.clock.advance(30_000);
    const [second] = ordersOf(world.closed(link));
    assert.ok(second !== undefined);
    link = linkOf(second);
    const gaps: number[] = [];
    for (let round = 0; round < 4; round += 1) {
      world.up(link);
      assert.deepEqual(ordersOf(world.closed(link)), []);
      const fromMs = world.clock.nowMs();
      link = linkOf(world.nextDial());
      gaps.push(world.clock.nowMs() - fromMs);
    }
    assert.deepEqual(gaps, [5_000, 7_500, 11_250, 16_875]);
  });

  test('a full pool fails the dial like a refusal, with a reason of its own', () => {
    const world = new World();
    const [order] = world.healthy();
    world.fail(order!, 'queueFull');
    assert.equal(world.statusOf(), 'queueFailed');
    const fromMs = world.clock.nowMs();
    world.nextDial();
    assert.equal(world.clock.nowMs() - fromMs, 5_000);
  });

  test('a rejected duplicate waits one to four seconds more', () => {
    const extras = [0, 0.3, 0.6, 0.99].map((random) => {
      const world = new World(
        [{ ...DIALER, healthyBackoff: { minMs: 5_000, maxMs: 5_000, factor: 1 } }],
        () => random,
      );
      const [order] = world.healthy();
      world.fail(order!, 'duplicate');
      const fromMs = world.clock.nowMs();
      world.nextDial();
      return world.clock.nowMs() - fromMs - 5_000;
    });
    assert.deepEqual(extras, [1_000, 2_000, 3_000, 4_000]);
  });

  test('two hundred routers whose peer is gone spread their dials', () => {
    const dials: number[] = [];
    for (let router = 0; router < 200; router += 1) {
      const world = new World([DIALER], Math.random);
      const startMs = world.clock.nowMs();
      const [order] = world.healthy();
      let next = order!;
      while (world.clock.nowMs() - startMs < 600_000) {
        dials.push(world.clock.nowMs() - startMs);
        world.fail(next);
        next = world.nextDial();
      }
    }
    const late = dials.filter((atMs) => atMs > 30_000);
    const perSecond = new Map<number, number>();
    for (const atMs of late) {
      const second = Math.floor(atMs / 1_000);
      perSecond.set(second, (perSecond.get(second) ?? 0) + 1);
    }
    assert.ok(Math.max(...perSecond.values()) < 40, `${Math.max(...perSecond.values())} dials in one second`);
  });
});

describe('two links of one key', () => {
  test('the smaller id stays: a larger one is turned away, by its dialer at once', () => {
    const world = new World();
    const [order] = world.healthy();
    world.up(acceptedLink('a'));
    const effects = world.up({ ...linkOf(order!), id: 'b' });
    assert.deepEqual(
      effects.map((effect) => [effect.kind, effect.kind === 'close' ? effect.afterMs : undefined]),
      [['close', 0]],
    );
    assert.equal(world.statusOf(), 'established', 'the accepted link serves');
    assert.deepEqual(
      [...world.machine.links()].map(({ id }) => id),
      ['a'],
    );
  });

  test('the accepting side leaves a turned away link open for 30 s', () => {
    const world = new World();
    world.up(acceptedLink('a'));
    const late = acceptedLink('b');
    assert.deepEqual(closesOf(world.up(late)), [{ link: late, afterMs: 30_000 }]);
    assert.deepEqual(kindsOf(world.closed(late)), [], 'it was never established, so nothing is lost');
  });

  test('a smaller id takes the place, and the old link stays for circuits to move: 60 s dialed, 75 s accepted', () => {
    for (const [isDialed, afterMs] of [
      [true, 60_000],
      [false, 75_000],
    ] as const) {
      const world = new World();
      world.healthy();
      const old = { ...acceptedLink('b'), isDialed };
      world.up(old);
      const effects = world.up(acceptedLink('a'));
      assert.deepEqual(kindsOf(effects), ['replaced', 'close', 'established']);
      assert.deepEqual(closesOf(effects), [{ link: old, afterMs }]);
      assert.deepEqual(kindsOf(world.closed(old)), ['lost']);
      assert.equal(world.statusOf(), 'established');
    }
  });

  test('of equal ids the new one stays, and the end of the old one is not reported', () => {
    const world = new World();
    const old = acceptedLink('a', DEFAULT_KEY, 1);
    const redial = acceptedLink('a', DEFAULT_KEY, 2);
    world.up(old);
    assert.deepEqual(kindsOf(world.up(redial)), ['replaced', 'close', 'established']);
    assert.deepEqual(kindsOf(world.closed(old)), []);
    assert.deepEqual([...world.machine.links()], [redial]);
  });

  test('after five rejections the peer has its way', () => {
    const world = new World();
    world.up(acceptedLink('a'));
    for (let round = 1; round <= 5; round += 1) {
      assert.deepEqual(kindsOf(world.up(acceptedLink(`b${round}`))), ['close'], `rejection ${round}`);
    }
    assert.deepEqual(kindsOf(world.up(acceptedLink('b6'))), ['replaced', 'close', 'established']);
  });

  test('links that replace one another do not pile up', () => {
    const world = new World();
    const closedAtOnce: string[] = [];
    for (let at = 40; at >= 10; at -= 1) {
      for (const { link, afterMs } of closesOf(world.up(acceptedLink(`a${at}`)))) {
        if (afterMs > 0) continue;
        closedAtOnce.push(link.id);
        world.closed(link);
      }
    }
    assert.equal(closedAtOnce.length, 22, '30 were replaced, and eight of them may wait');
  });

  test('a link that the peer dialed ends the wait for our own dial', () => {
    const world = new World();
    const [order] = world.healthy();
    world.fail(order!);
    const accepted = acceptedLink('a');
    world.up(accepted);
    assert.equal(world.statusOf(), 'established');
    world.clock.advance(3_600_000);
    assert.deepEqual(ordersOf(world.step({ kind: 'tick' })), []);
    assert.equal(ordersOf(world.closed(accepted)).length, 1, 'once it is gone we dial');
  });

  test('when two routers dial each other, both keep the same link whichever comes first', () => {
    for (const [first, second] of [
      ['a', 'b'],
      ['b', 'a'],
    ] as const) {
      const world = new World();
      world.healthy();
      world.up(acceptedLink(first));
      world.up({ ...acceptedLink(second), isDialed: true });
      assert.deepEqual(
        [...world.machine.links()].map(({ id }) => id),
        ['a'],
      );
    }
  });
});

describe('faults that controllers report', () => {
  test('close the link, unless an earlier dial of it is meant', () => {
    const world = new World();
    const link = acceptedLink('a', DEFAULT_KEY, 3);
    world.up(link);
    assert.deepEqual(closesOf(world.step({ kind: 'linkFault', linkId: 'a', iteration: 2 })), []);
    assert.deepEqual(closesOf(world.step({ kind: 'linkFault', linkId: 'other', iteration: 0 })), []);
    for (const iteration of [0, 3, 4]) {
      const effects = world.step({ kind: 'linkFault', linkId: 'a', iteration });
      assert.deepEqual(closesOf(effects), [{ link, afterMs: 0 }], `iteration ${iteration}`);
    }
  });
});
