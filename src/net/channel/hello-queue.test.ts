import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { HelloQueue } from './hello-queue.ts';

function open(t: TestContext, maxQueued: number, maxOutstanding: number, maxPerAddress = 100) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const begun: string[] = [];
  const ended: string[] = [];
  const queue = new HelloQueue({
    maxQueued,
    maxOutstanding,
    maxPerAddress,
    timeoutMs: 5_000,
    begin: (socket) => void begun.push(nameOf(socket)),
    giveUp: (socket, reason) => void ended.push(`${nameOf(socket)}: ${reason}`),
  });
  const sockets = new Map<string, TLSSocket>();
  const named = (name: string): TLSSocket => {
    const known =
      sockets.get(name) ?? ({ name, remoteAddress: name[0], destroy: () => {} } as unknown as TLSSocket);
    sockets.set(name, known);
    return known;
  };
  return { queue, begun, ended, named };
}

function nameOf(socket: TLSSocket): string {
  return (socket as unknown as { name: string }).name;
}

describe('connections that owe their hello', () => {
  test('begin as many at once as may, the others in turn', (t) => {
    const { queue, begun, ended, named } = open(t, 2, 2);
    for (const name of ['a', 'b', 'c', 'd']) queue.add(named(name));
    assert.deepEqual(begun, ['a', 'b']);
    queue.done(named('b'));
    queue.done(named('a'));
    assert.deepEqual(begun, ['a', 'b', 'c', 'd']);
    assert.deepEqual(ended, []);
  });

  test('of one address give way to its own newcomers, and cost no other address its turn', (t) => {
    const { queue, begun, ended, named } = open(t, 0, 10, 2);
    for (const name of ['b1', 'a1', 'a2', 'a3']) queue.add(named(name));
    assert.deepEqual(begun, ['b1', 'a1', 'a2', 'a3']);
    assert.deepEqual(ended, ['a1: too many connections of one address without a hello']);
  });

  test('beyond all that may wait push out the one that has owed its for longest', (t) => {
    const { queue, begun, ended, named } = open(t, 1, 2);
    for (const name of ['a', 'b', 'c', 'd']) queue.add(named(name));
    assert.deepEqual(ended, ['a: too many connections without a hello: the oldest']);
    assert.deepEqual(begun, ['a', 'b', 'c']);
    queue.done(named('b'));
    assert.deepEqual(begun, ['a', 'b', 'c', 'd']);
  });

  test('may not wait where nothing may: the newest takes the place of the oldest', (t) => {
    const { queue, begun, ended, named } = open(t, 0, 1);
    queue.add(named('a'));
    queue.add(named('b'));
    assert.deepEqual(begun, ['a', 'b']);
    assert.equal(ended.length, 1);
  });

  test('have their time from when they begin', (t) => {
    const { queue, ended, named } = open(t, 1, 1);
    queue.add(named('a'));
    t.mock.timers.tick(4_999);
    assert.deepEqual(ended, []);
    t.mock.timers.tick(1);
    assert.deepEqual(ended, ['a: no hello in time']);
    queue.add(named('b'));
    queue.add(named('c'));
    queue.done(named('b'));
    t.mock.timers.tick(4_999);
    assert.equal(ended.length, 1);
    t.mock.timers.tick(1);
    assert.deepEqual(ended.slice(1), ['c: no hello in time']);
  });

  test('wait for a second at most, then the one that has owed its for longest gives way', (t) => {
    const { queue, begun, ended, named } = open(t, 3, 2);
    for (const name of ['a', 'b', 'c', 'd']) queue.add(named(name));
    t.mock.timers.tick(999);
    assert.deepEqual(begun, ['a', 'b']);
    t.mock.timers.tick(1);
    assert.deepEqual(begun, ['a', 'b', 'c', 'd']);
    assert.deepEqual(
      ended,
      ['a', 'b'].map((name) => `${name}: too many connections without a hello: the oldest`),
    );
  });

  test('that went leave their place', (t) => {
    const { queue, begun, named } = open(t, 5, 1);
    for (const name of ['a', 'b', 'c']) queue.add(named(name));
    queue.done(named('b'));
    queue.done(named('a'));
    assert.deepEqual(begun, ['a', 'c']);
  });
});
