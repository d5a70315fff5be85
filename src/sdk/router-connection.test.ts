// A channel that is lost without either end noticing it, over real connections.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog } from '#base';
import { directDialer } from '#net';
import { ChannelListener, type Channel } from '#net/channel';
import { HeaderWriter, headerId, versionHeader } from '#wire';
import { makeTestAuthority } from '../../test/support/certificates.ts';
import { until } from '../../test/support/deadline.ts';
import type { EdgeApiClient } from './edge-api-client.ts';
import { RouterConnection } from './router-connection.ts';

/** Less than the time after which a silent channel is closed in any case. */
const SOONER_MS = 6_000;

test('a silent channel is replaced while its router accepts others, and the router learns which one was lost', async (t) => {
  const authority = await makeTestAuthority();
  const { cert, key, ca } = await authority.issue('both');
  const accepted: Channel[] = [];
  const version = new HeaderWriter().text(
    headerId.channel.helloVersion,
    versionHeader(process.platform, process.arch),
  );
  const listener = await ChannelListener.open({
    host: '127.0.0.1',
    port: 0,
    tls: { cert, key, ca },
    alpn: ['ziti-edge'],
    ownId: 'router',
    allowGroups: false,
    log: silentLog,
    authorize: () => ({ accept: true, extra: version.build() }),
    onChannel: (channel) => {
      accepted.push(channel);
      channel.handle({ onFrame: () => {} });
      // Nothing reaches the far end of the first channel now.
      if (accepted.length === 1) channel.pauseReading();
    },
  });
  t.after(() => listener.close());
  const session = { id: 'api', token: 'token', identityId: 'me', expiresAt: '' };
  const identity = { certPem: cert, keyPem: key, caPem: ca };
  const api = { identity, connection: { outward: directDialer }, session: async () => session };
  const startedMs = performance.now();
  const connection = new RouterConnection({
    name: 'r',
    host: '127.0.0.1',
    port: listener.port,
    cost: 0,
    log: silentLog,
    api: api as unknown as EdgeApiClient,
    hasOtherWay: () => false,
    onUp: () => {},
    onDown: () => {},
  });
  t.after(() => connection.close('test is over'));
  await until(
    'another channel',
    () => accepted.length,
    (count) => count === 2,
  );
  assert.ok(performance.now() - startedMs < SOONER_MS);
  const [first, second] = accepted;
  assert.equal(second!.peer.hello.text(headerId.edge.formerChannel), first!.id);
  assert.equal(second!.peer.hello.bool(headerId.edge.formerChannelIsOpen), true);
  assert.equal(first!.peer.hello.has(headerId.edge.formerChannel), false);
  second!.close('lost');
  await until(
    'a third channel',
    () => accepted.length,
    (count) => count === 3,
  );
  const { hello } = accepted[2]!.peer;
  assert.equal(hello.text(headerId.edge.formerChannel), second!.id);
  assert.equal(hello.has(headerId.edge.formerChannelIsOpen), false);
});
