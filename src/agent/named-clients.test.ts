// Services that learn the client of each connection by a PROXY header: nginx and haproxy.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { afterEach, test } from 'node:test';
import { encodeCircuitClient } from '#domain/agent-shapes';
import { freePort } from '../../test/support/free-port.ts';
import { PROXY_NAMES, proxySkip, startReverseProxy } from '../../test/support/reverse-proxy.ts';
import { ask } from './ask-agent.ts';
import { backendFor } from './testing/backend-parts.ts';
import { cleanUp, cleanups, get, serve, world } from './testing/agent-world.ts';

afterEach(cleanUp);

const CLIENTS = ['203.0.113.7', '2001:db8::7'];

for (const name of PROXY_NAMES) {
  test(
    `${name} learns the client of each connection in both versions`,
    { skip: proxySkip(name) },
    async () => {
      const origin = createServer((asked, response) =>
        response.end(`from ${String(asked.headers['x-forwarded-for'])}`),
      );
      cleanups.push(() => origin.closeAllConnections());
      const serverPort = Number(new URL(await serve(origin)).port);
      const port = await freePort();
      const proxy = await startReverseProxy({ name, port, serverPort, hasProxyHeaders: true });
      cleanups.push(() => proxy.close());
      const { agent, network } = await world();
      for (const proxyProtocol of ['v1', 'v2'] as const) {
        for (const mode of ['public', 'private'] as const) {
          const shared = `${mode}-${proxyProtocol}`;
          const share = { name: shared, mode, target: `http://127.0.0.1:${port}`, grants: [] };
          await ask(agent.socketPath, { op: 'share', ...share, upstream: { proxyProtocol } });
          await network.until(() => network.hosted.get(shared)?.state === 'bound');
          for (const address of CLIENTS) {
            network.appData = encodeCircuitClient({ address, isSecure: true });
            const answer = await get(await network.dial(shared));
            // A caller of a private share could name any client.
            assert.match(
              answer,
              mode === 'public' ? new RegExp(`from ${address}`) : /from 127\.0\.0\.1/,
              answer,
            );
          }
          network.appData = undefined;
          assert.match(await get(await network.dial(shared)), /from 127\.0\.0\.1/);
        }
      }
    },
  );
}

test('a target with TLS, a folder or a service of datagrams gets no PROXY header, and is refused with the reason', () => {
  for (const target of ['https://127.0.0.1:8443', 'udp://127.0.0.1:53', 'file:///srv'])
    assert.throws(() => backendFor(target, {}, true, { proxyProtocol: 'v2' }));
});
