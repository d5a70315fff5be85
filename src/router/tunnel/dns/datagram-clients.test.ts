// The UDP side of the name server.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import process from 'node:process';
import { describe, it } from 'node:test';
import { until, within } from '../../../../test/support/deadline.ts';
import { addressOf, askTcp, askUdp, queryOf, readAnswer, TYPES } from './testing/dns-messages.ts';
import { openNameServer } from './testing/dns-world.ts';

const skip = process.platform !== 'linux' && 'sockets are counted in /proc';
const hasIPv6 = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === '::1'),
);

const ask = async (port: number, name: string): Promise<ReturnType<typeof readAnswer>> =>
  readAnswer(await askUdp(port, queryOf(name)));

describe('queries over UDP', { skip }, () => {
  for (const host of ['127.0.0.1', '::1', '::'])
    it(
      `are answered at ${host}, with TCP at the same port`,
      {
        skip: host.includes(':') && !hasIPv6 && 'this machine has no IPv6',
      },
      async (t) => {
        const { server } = await openNameServer(t, { resolvers: [{ kind: 'udp', host, port: 0 }] });
        // A port that the system picks for UDP may be taken for TCP. Then another one is tried.
        const { value: port = 0 } = await until(
          'the port',
          () => server.ports[0],
          (open) => open !== undefined,
        );
        server.names.add('web.test', 's1');
        server.names.add('*.apps.test', 's1');
        const targets = host === '::' ? ['127.0.0.1', '::1'] : [host];
        for (const target of targets)
          for (let round = 0; round < 3; round += 1) {
            const askAt = async (...query: Parameters<typeof queryOf>): Promise<unknown> => {
              const answer = readAnswer(await askUdp(port, queryOf(...query), target));
              return [answer.rcode, answer.records.map(({ type }) => type), addressOf(answer)?.slice(0, 9)];
            };
            assert.deepEqual(await askAt('WEB.test', { ednsBytes: 1232 }), [0, [1, 41], '100.64.0.']);
            assert.deepEqual(await askAt('web.test', { type: TYPES.AAAA }), [0, [6], '192.12.19']);
            assert.deepEqual(await askAt('a.apps.test'), [0, [1], '100.64.0.']);
            assert.deepEqual(await askAt('else.test'), [5, [], undefined]);
            assert.deepEqual(await askAt('web.test', { class: 3 }), [5, [], undefined]);
            assert.deepEqual(await askAt('web.test', { type: TYPES.AXFR }), [5, [], undefined]);
          }
        if (host !== '::1') assert.equal((await askTcp(port, [queryOf('web.test')])).length, 1);
      },
    );

  it('are answered by the names of now: each change counts before the next answer', async (t) => {
    const { server, port } = await openNameServer(t);
    for (let round = 0; round < 200; round += 1) {
      const address = server.names.add('web.test', 's1');
      assert.equal(addressOf(await ask(port, 'web.test')), address, `round ${round}`);
      server.names.remove('web.test', 's1');
      assert.equal((await ask(port, 'web.test')).rcode, 5, `round ${round}`);
    }
  });

  it('end with the name server, whose socket is closed then', async (t) => {
    const { server, port } = await openNameServer(t);
    server.names.add('web.test', 's1');
    await ask(port, 'web.test');
    assert.equal(countSockets(port), 1);
    await within('the end', Promise.all([server.close(), server.close()]));
    assert.equal(countSockets(port), 0);
    const again = await openNameServer(t, { resolvers: [{ kind: 'udp', host: '127.0.0.1', port }] });
    assert.equal((await ask(again.port, 'else.test')).rcode, 5);
  });
});

/** Returns the number of sockets of this machine that are bound to a port of 127.0.0.1. */
function countSockets(port: number): number {
  const name = ` 0100007F:${port.toString(16).toUpperCase().padStart(4, '0')} 00000000:`;
  return readFileSync('/proc/net/udp', 'utf8').split(name).length - 1;
}
