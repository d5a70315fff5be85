// Our router in mode `proxy` is killed (SIGKILL) under 1,000 TCP connections and 1,000 UDP sources, at OpenZiti's
// controller, and started again. Another router of Frontdoor, in mode `host`, has the services. ZITI_BIN names `ziti` (1.7.2);
// without it: skipped.
import assert from 'node:assert/strict';
import type { Socket as DatagramSocket } from 'node:dgram';
import type { AddressInfo, Server } from 'node:net';
import { after, afterEach, before, test } from 'node:test';
import { until } from '../support/deadline.ts';
import { startEcho } from '../support/echo-service.ts';
import { freePort } from '../support/free-port.ts';
import type { PartProcess } from '../support/part-process.ts';
import { startUdpEcho } from '../support/port-client.ts';
import { zitiBinary } from '../support/ziti-command.ts';
import { OpenZitiMesh } from './openziti-mesh.ts';
import { TcpClients, UdpClients } from './tunnel-clients.ts';

const BINARY = zitiBinary();
const skip = BINARY === undefined ? 'ZITI_BIN is not set' : false;
const FLOWS = 1_000;
/** Time within which connections of a killed router have ended. */
const CUT_MS = 5_000;
/** One more listener of a router that has an edge listener at a port. */
type Options = Readonly<Record<string, unknown>>;

let mesh: OpenZitiMesh;
let router: PartProcess<unknown>;
let echo: Server;
let udpEcho: DatagramSocket;
let tcp: TcpClients;
let udp: UdpClients;

function listenersOf(edgePort: number, tunnel: Options): object {
  const options = { advertise: `localhost:${edgePort}` };
  const edge = { binding: 'edge', address: `tls:127.0.0.1:${edgePort}`, options };
  return { listeners: [edge, { binding: 'tunnel', options: tunnel }] };
}

before(async () => {
  if (BINARY === undefined) return;
  echo = await startEcho();
  udpEcho = await startUdpEcho();
  mesh = await OpenZitiMesh.start(BINARY);
  const { network } = mesh;
  const [linkPort, tcpPort, udpPort] = [await freePort(), await freePort(), await freePort()];
  const [nearEdge, farEdge] = [await freePort(), await freePort()];
  const far = {
    edgePort: farEdge,
    linkListener: { port: linkPort, groups: ['default'] },
    isTunneler: true,
    sections: listenersOf(farEdge, { mode: 'host' }) as Options,
  };
  await mesh.ourRouter('far', far, 'info');
  for (const [protocol, port] of [
    ['tcp', (echo.address() as AddressInfo).port],
    ['udp', udpEcho.address().port],
  ] as const) {
    const config = JSON.stringify({ protocol, address: '127.0.0.1', port });
    await network.run(`edge create config ${protocol} host.v1`, config);
    await network.run(`edge create service ${protocol} --configs ${protocol} --encryption ON -a test`);
  }
  await network.allowAllRouters();
  await network.run('edge create service-policy host Bind --service-roles #test --identity-roles @far');
  const services = [`tcp:${tcpPort}`, `udp:${udpPort}:udp`];
  const near = {
    edgePort: nearEdge,
    dialGroups: ['default'],
    isTunneler: true,
    sections: listenersOf(nearEdge, { mode: 'proxy', services }) as Options,
  };
  router = await mesh.ourRouter('near', near, 'info');
  await network.run('edge create service-policy dial Dial --service-roles #test --identity-roles @near');
  tcp = new TcpClients(tcpPort, FLOWS);
  udp = new UdpClients(udpPort, FLOWS);
});
afterEach((context) => {
  if ('passed' in context && context.passed === false) console.error(mesh?.ourOutput.slice(-6_000));
});
after(async () => {
  tcp?.close();
  udp?.close();
  await mesh?.stop();
  echo?.close();
  udpEcho?.close();
});

async function allWork(when: string): Promise<void> {
  await tcp.open();
  await Promise.all([
    tcp.untilEachAnswered(`an answer to each connection ${when}`),
    udp.untilEachAnswered(`an answer to each source ${when}`),
  ]);
  assert.equal(tcp.openCount, FLOWS);
}

test(
  'after SIGKILL, the router carries 1,000 TCP and 1,000 UDP flows again, and none gets data of another',
  { skip },
  async () => {
    await allWork('at first');
    await router.kill();
    const killedAtMs = performance.now();
    await until(
      'the end of all connections',
      () => tcp.openCount,
      (count) => count === 0,
      CUT_MS,
    );
    await router.start();
    await allWork('after the kill');
    console.error(`all flows worked ${Math.round(performance.now() - killedAtMs)} ms after the kill`);
    assert.deepEqual([...tcp.strays, ...udp.strays], []);
  },
);
