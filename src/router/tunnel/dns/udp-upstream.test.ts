import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { queryOf, responseTo } from './testing/dns-messages.ts';
import { TestUpstream } from './testing/dns-world.ts';
import { UdpUpstream } from './udp-upstream.ts';

const answering = (query: Buffer): Buffer => responseTo(query);

function openUpstream(t: TestContext, port: number): UdpUpstream {
  const upstream = new UdpUpstream('127.0.0.1', port);
  t.after(() => upstream.close());
  return upstream;
}

async function ask(upstream: UdpUpstream, count: number): Promise<void> {
  const message = queryOf('else.test');
  for (let index = 0; index < count; index += 1) {
    const { promise, resolve } = Promise.withResolvers<Buffer | undefined>();
    upstream.ask({ message, questionEnd: message.length, isStream: false }, resolve);
    assert.notEqual(await promise, undefined);
  }
}

describe('sockets to an upstream', () => {
  for (const [random, counts] of [
    [0, [256, 44]],
    [0.5, [192, 108]],
    [0.999, [129, 129, 42]],
  ] as const)
    it(`are replaced after a random number of queries: ${counts[0]} of 129 to 256`, async (t) => {
      const far = await TestUpstream.open(t, answering);
      // The same value picks the socket, so that all queries leave from one.
      t.mock.method(Math, 'random', () => random);
      await ask(openUpstream(t, far.port), 300);
      const perPort = Map.groupBy(far.queries, ({ port }) => port);
      assert.deepEqual(
        Array.from(perPort.values(), ({ length }) => length),
        counts,
      );
    });

  const skip = process.platform !== 'linux' && 'only Linux lists sockets';
  it('are open before they are necessary, and all are closed in the end', { skip }, async (t) => {
    const far = await TestUpstream.open(t, answering);
    const farPort = far.port.toString(16).toUpperCase().padStart(4, '0');
    const countOpen = (): number =>
      readFileSync('/proc/net/udp', 'utf8').split(` 0100007F:${farPort} 01 `).length - 1;
    t.mock.method(Math, 'random', () => 0);
    const upstream = openUpstream(t, far.port);
    await ask(upstream, 1);
    await nextTurn();
    assert.equal(countOpen(), 2, 'one that is used, and the next one');
    await ask(upstream, 256);
    await nextTurn();
    assert.equal(countOpen(), 2);
    upstream.close();
    assert.equal(countOpen(), 0);
  });
});
