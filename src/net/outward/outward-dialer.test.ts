import assert from 'node:assert/strict';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import * as net from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import { ManualClock } from '#base';
import { orderOf } from './address-race.ts';
import type { HostLookup } from '../names/host-lookup.ts';
import { OutwardDialer } from './outward-dialer.ts';

const never = new AbortController().signal;

async function listen(
  t: TestContext,
  host: string,
  port = 0,
): Promise<{ port: number; count: () => number }> {
  let count = 0;
  const server = net.createServer((socket) => {
    count += 1;
    socket.on('error', () => {});
  });
  server.listen(port, host);
  await once(server, 'listening');
  t.after(() => server.close());
  return { port: (server.address() as net.AddressInfo).port, count: () => count };
}

const resolvedTo =
  (...addresses: string[]): HostLookup =>
  (_host, _options, done) =>
    process.nextTick(
      done,
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );

describe('a connection to a server', () => {
  test('uses the second address when the first one refuses, and begins there the next time', async (t) => {
    const { port, count } = await listen(t, '127.0.0.2');
    const clock = new ManualClock();
    const dialer = new OutwardDialer({ lookup: resolvedTo('127.0.0.1', '127.0.0.2'), clock });
    const first = await dialer.connect({ host: 'a.example', port }, { signal: never });
    assert.equal(first.remoteAddress, '127.0.0.2');
    first.destroy();
    const late = await listen(t, '127.0.0.1', port);
    const second = await dialer.connect({ host: 'a.example', port }, { signal: never });
    assert.equal(second.remoteAddress, '127.0.0.2');
    second.destroy();
    assert.equal(late.count(), 0);
    clock.advance(300_000);
    const third = await dialer.connect({ host: 'a.example', port }, { signal: never });
    assert.equal(third.remoteAddress, '127.0.0.1');
    third.destroy();
    assert.ok(count() >= 1);
  });

  test('names what every address answered when none accepts', async () => {
    const dialer = new OutwardDialer({ lookup: resolvedTo('127.0.0.1', '127.0.0.2') });
    await assert.rejects(dialer.connect({ host: 'a.example', port: 1 }, { signal: never }), {
      code: 'ECONNREFUSED',
      message: 'connect ECONNREFUSED 127.0.0.1:1, connect ECONNREFUSED 127.0.0.2:1',
    });
  });

  test('reaches its own server without a look-up, and another port of the same name by the name', async (t) => {
    const { port } = await listen(t, '127.0.0.1');
    const asked: string[] = [];
    const dialer = new OutwardDialer({
      own: { hosts: new Set(['a.example']), port, address: '127.0.0.1' },
      lookup: (host, _options, done) => {
        asked.push(host);
        done(null, [{ address: '127.0.0.2', family: 4 }]);
      },
    });
    (await dialer.connect({ host: 'A.example', port }, { signal: never })).destroy();
    assert.deepEqual(asked, []);
    await assert.rejects(dialer.connect({ host: 'a.example', port: 1 }, { signal: never }), /127\.0\.0\.2:1/);
    assert.deepEqual(asked, ['a.example']);
  });

  test('waits for one look-up of a name together with others, and asks again afterwards', async (t) => {
    const { port } = await listen(t, '127.0.0.1');
    const answers: Parameters<HostLookup>[2][] = [];
    const dialer = new OutwardDialer({ lookup: (_host, _options, done) => void answers.push(done) });
    const dial = () => dialer.connect({ host: 'a.example', port }, { signal: never });
    const both = Promise.all([dial(), dial()]);
    assert.equal(answers.length, 1);
    answers[0]!(null, [{ address: '127.0.0.1', family: 4 }]);
    for (const socket of await both) socket.destroy();
    const again = dial();
    assert.equal(answers.length, 2);
    answers[1]!(null, [{ address: '127.0.0.1', family: 4 }]);
    (await again).destroy();
  });

  test('ends with the reason of its signal, while it resolves and while it connects', async () => {
    const reason = new Error('given up');
    const stop = new AbortController();
    const silent = new OutwardDialer({ lookup: () => {} });
    const dialing = silent.connect({ host: 'a.example', port: 1 }, { signal: stop.signal });
    stop.abort(reason);
    await assert.rejects(dialing, reason);
    await assert.rejects(
      new OutwardDialer().connect({ host: '127.0.0.1', port: 1 }, { signal: stop.signal }),
      reason,
    );
  });

  test('fails as the resolver of the system does', async () => {
    const real: NodeJS.ErrnoException = await lookup('name.invalid', { all: true }).then(
      () => assert.fail('it has an address'),
      (error: unknown) => error as NodeJS.ErrnoException,
    );
    await assert.rejects(new OutwardDialer().connect({ host: 'name.invalid', port: 1 }, { signal: never }), {
      code: real.code,
      message: real.message,
    });
  });

  test('uses an address of the family of its local address', async (t) => {
    const { port } = await listen(t, '127.0.0.1');
    const options = { signal: never, localAddress: '127.0.0.3' };
    const socket = await new OutwardDialer({ lookup: resolvedTo('::1', '127.0.0.1') }).connect(
      { host: 'a.example', port },
      options,
    );
    assert.equal(socket.localAddress, '127.0.0.3');
    socket.destroy();
  });
});

test('addresses are tried in the order of the resolver, the families in turns, dead ones last', () => {
  const of = (...texts: string[]) =>
    texts.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  const ordered = (dead: readonly string[], ...texts: string[]): string[] =>
    orderOf(of(...texts), (address) => dead.includes(address)).map(({ address }) => address);
  assert.deepEqual(ordered([], '::1', '::2', '1', '2', '3'), ['::1', '1', '::2', '2', '3']);
  assert.deepEqual(ordered(['::1', '2'], '::1', '::2', '1', '2'), ['1', '::2', '::1', '2']);
  assert.deepEqual(ordered(['1'], '1'), ['1']);
});
