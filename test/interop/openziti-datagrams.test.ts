// Circuits of datagrams between our router and OpenZiti's, at its controller: each begins at one and ends at the other.
// ZITI_BIN names OpenZiti's `ziti`; without it the tests are skipped.
import assert from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import { after, afterEach, before, test, type TestContext } from 'node:test';
import { within } from '../support/deadline.ts';
import { freePort } from '../support/free-port.ts';
import { zitiBinary } from '../support/ziti-command.ts';
import { OpenZitiMesh } from './openziti-mesh.ts';

const BINARY = zitiBinary();
const skip = BINARY === undefined ? 'ZITI_BIN is not set' : false;

let mesh: OpenZitiMesh;
let echo: Socket;
const ports = { link: 0, ourProxy: 0, ourNamed: 0, goProxy: 0, goNamed: 0 };

before(async () => {
  if (BINARY === undefined) return;
  for (const name of Object.keys(ports) as (keyof typeof ports)[]) ports[name] = await freePort();
  echo = createSocket('udp4', (data, { port }) => echo.send(data, port, '127.0.0.1'));
  await new Promise<void>((resolve) => echo.bind(0, '127.0.0.1', resolve));
  mesh = await OpenZitiMesh.start(BINARY);
  const sections = (proxy: number, named: number, service: string) => ({
    dialers: [{ binding: 'transport_udp' }],
    listeners: [
      { binding: 'proxy_udp', address: `udp:127.0.0.1:${proxy}`, service },
      { binding: 'transport_udp', address: `udp:127.0.0.1:${named}`, advertise: `localhost:${named}` },
    ],
  });
  await mesh.goRouter('go', {
    linkListener: { port: ports.link, groups: ['default'] },
    sections: sections(ports.goProxy, ports.goNamed, 'behind-ours'),
  });
  await mesh.ourRouter('ours', {
    dialGroups: ['default'],
    sections: sections(ports.ourProxy, ports.ourNamed, 'behind-go'),
  });
  await mesh.service('behind-go', 'go', echo.address().port, 'udp');
  await mesh.service('behind-ours', 'ours', echo.address().port, 'udp');
});
afterEach((context) => {
  if ('passed' in context && context.passed === false) console.error(mesh?.ourOutput.slice(-6_000));
});
after(async () => {
  await mesh?.stop();
  echo?.close();
});

function client(t: TestContext, port: number): (data: Buffer | string) => Promise<Buffer> {
  const socket = createSocket('udp4');
  t.after(() => void socket.close());
  return (data) => {
    const answer = new Promise<Buffer>((resolve) => void socket.once('message', resolve));
    socket.send(data, port, '127.0.0.1');
    return within('the answer', answer);
  };
}

for (const { from, door } of [
  { from: 'ours', door: 'ourProxy' },
  { from: 'a Go router', door: 'goProxy' },
] as const)
  test(
    `datagrams of a proxy_udp listener of ${from} reach a service behind the other router, whole`,
    { skip },
    async (t) => {
      const exchange = client(t, ports[door]);
      for (const size of [1, 1_472, 9_000, 60_000]) {
        const data = Buffer.alloc(size, 'x');
        assert.deepEqual(await exchange(data), data, `${size} bytes`);
      }
    },
  );

for (const { from, door, service } of [
  { from: 'ours', door: 'ourNamed', service: 'behind-go' },
  { from: 'a Go router', door: 'goNamed', service: 'behind-ours' },
] as const)
  test(
    `a client of a transport_udp listener of ${from} names its service and exchanges datagrams`,
    { skip },
    async (t) => {
      const exchange = client(t, ports[door]);
      const answer = await exchange(JSON.stringify({ id: 'client', svcId: service }));
      assert.equal((JSON.parse(answer.toString()) as { scc: boolean }).scc, true, answer.toString());
      assert.equal((await exchange('first')).toString(), 'first');
    },
  );
