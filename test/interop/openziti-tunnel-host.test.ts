// Our router hosts services at OpenZiti's controller, and `ziti tunnel proxy` dials them. ZITI_BIN names `ziti` (1.7.2);
// without it: skipped.
import assert from 'node:assert/strict';
import type { Socket as DatagramSocket } from 'node:dgram';
import { connect, type AddressInfo, type Server } from 'node:net';
import { after, afterEach, before, test } from 'node:test';
import { until, within } from '../support/deadline.ts';
import { exchange, startEcho } from '../support/echo-service.ts';
import { freePort } from '../support/free-port.ts';
import type { PartProcess } from '../support/part-process.ts';
import { pingPort, startUdpEcho, udpClient } from '../support/port-client.ts';
import { zitiBinary } from '../support/ziti-command.ts';
import { OpenZitiMesh, type MeshTerminator } from './openziti-mesh.ts';

const BINARY = zitiBinary();
const skip = BINARY === undefined ? 'ZITI_BIN is not set' : false;
const BODY_BYTES = 50 * 1024 * 1024;
const SHORT_CONNECTIONS = 500;
const AT_ONCE = 25;
const UDP_SOURCES = 50;
const WAIT_MS = 60_000;
/** Time within which a change of policies at the controller ends what it forbids. */
const CUT_MS = 5_000;

let mesh: OpenZitiMesh;
let router: PartProcess<unknown>;
let echo: Server;
let udpEcho: DatagramSocket;
const ports = { sealed: 0, plain: 0, 'sealed-udp': 0, 'plain-udp': 0, checked: 0, several: 0 };
type ServiceName = keyof typeof ports;
const NAMES = Object.keys(ports) as ServiceName[];

before(async () => {
  if (BINARY === undefined) return;
  echo = await startEcho();
  udpEcho = await startUdpEcho();
  mesh = await OpenZitiMesh.start(BINARY);
  const { network } = mesh;
  for (const name of NAMES) ports[name] = await freePort();
  const edgePort = await freePort();
  const edge = {
    binding: 'edge',
    address: `tls:127.0.0.1:${edgePort}`,
    options: { advertise: `localhost:${edgePort}` },
  };
  const listeners = [edge, { binding: 'tunnel', options: { mode: 'host' } }];
  router = await mesh.ourRouter('ours', { edgePort, isTunneler: true, sections: { listeners } });
  await network.allowAllRouters();
  const { port } = echo.address() as AddressInfo;
  const tcp = { protocol: 'tcp', address: '127.0.0.1', port };
  const actions = [
    { trigger: 'fail', action: 'mark unhealthy' },
    { trigger: 'pass', action: 'mark healthy' },
  ];
  const portChecks = [{ address: `127.0.0.1:${port}`, interval: '1s', timeout: '1s', actions }];
  const listenOptions = { cost: 7, precedence: 'required', identity: '$tunneler_id.name' };
  const configs: Readonly<Record<string, readonly [type: string, config: object]>> = {
    tcp: ['host.v1', tcp],
    udp: ['host.v1', { ...tcp, protocol: 'udp', port: udpEcho.address().port }],
    checked: ['host.v1', { ...tcp, portChecks }],
    several: ['host.v2', { terminators: [tcp, { ...tcp, listenOptions }] }],
  };
  for (const [name, [type, config]] of Object.entries(configs))
    await network.run(`edge create config ${name}-config ${type}`, JSON.stringify(config));
  for (const name of NAMES) {
    const config = name.endsWith('-udp') ? 'udp' : name in configs ? name : 'tcp';
    const encryption = name.startsWith('plain') ? 'OFF' : 'ON';
    await network.run(
      `edge create service ${name} --configs ${config}-config --role-attributes test --encryption ${encryption}`,
    );
  }
  await network.enrollHostAndDialer('#test');
  await allowBind();
  const doors = NAMES.map((name) => `${name}:${ports[name]}${name.endsWith('-udp') ? ':udp' : ''}`);
  await network.start('dialer', `tunnel proxy -i dialer.json --cli-agent=false ${doors.join(' ')}`);
});
afterEach((context) => {
  if (!('passed' in context) || context.passed !== false) return;
  for (const text of [mesh?.ourOutput, mesh?.network.tail('dialer')]) console.error(text?.slice(-6_000));
});
after(async () => {
  await mesh?.stop();
  echo?.close();
  udpEcho?.close();
});

async function allowBind(): Promise<void> {
  await mesh.network.run(
    'edge create service-policy router-bind Bind --service-roles #test --identity-roles @ours',
  );
}

async function terminatorsOf(service: ServiceName): Promise<MeshTerminator[]> {
  return (await mesh.terminators()).filter((one) => one.service === service);
}

async function untilServed(name: ServiceName): Promise<void> {
  const isServed = (): Promise<boolean> =>
    pingPort(ports[name], name)
      .then(() => true)
      .catch(() => false);
  await until(`an answer of ${name}`, isServed, Boolean, WAIT_MS);
}

for (const name of ['sealed', 'plain'] as const) {
  test(`a ${name} service: ${BODY_BYTES >> 20} MB there and back are intact`, { skip }, async () => {
    await untilServed(name);
    const { sent, received } = await exchange(ports[name], BODY_BYTES);
    assert.equal(received, sent);
  });

  test(
    `a ${name} service: ${SHORT_CONNECTIONS} short connections, ${AT_ONCE} at once, lose none`,
    { skip },
    async () => {
      await untilServed(name);
      let next = 0;
      const some = async (): Promise<void> => {
        while (next < SHORT_CONNECTIONS) await pingPort(ports[name], `connection ${(next += 1)}`);
      };
      await Promise.all(Array.from({ length: AT_ONCE }, some));
    },
  );

  test(`a ${name} service over UDP: datagrams of many sources stay whole and apart`, { skip }, async () => {
    const port = ports[`${name}-udp`];
    const clients = await Promise.all(Array.from({ length: UDP_SOURCES }, () => udpClient()));
    try {
      await Promise.all(
        clients.map(async (client, index) => {
          for (const length of [1, 1_200, 8_000]) {
            const text = `${index}:`.padEnd(length, String(index % 10));
            const echoed = (): Promise<string | undefined> => client.exchange(port, text);
            await until(`the echo of source ${index}`, echoed, (it) => it === text, WAIT_MS);
          }
        }),
      );
    } finally {
      for (const client of clients) client.close();
    }
  });
}

test('the controller has each entry of a config as a terminator of the router', { skip }, async () => {
  const isComplete = (them: MeshTerminator[]): boolean => them.length === 2;
  const { value } = await until('two terminators', () => terminatorsOf('several'), isComplete, WAIT_MS);
  const shown = value.map(({ router: name, binding, precedence, cost }) => [name, binding, precedence, cost]);
  assert.deepEqual(
    shown.sort((a, b) => Number(a[3]) - Number(b[3])),
    [
      ['ours', 'tunnel', 'default', 0],
      ['ours', 'tunnel', 'required', 7],
    ],
  );
  await untilServed('several');
  const found = await mesh.network.run('fabric validate router-ert-terminators', 'name="ours"');
  assert.match(found, /\b0 errors found/);
});

test(
  'a terminator whose check fails is marked at the controller, and restored with its service',
  { skip },
  async () => {
    await untilServed('checked');
    const { port } = echo.address() as AddressInfo;
    const untilMarked = async (precedence: string): Promise<void> => {
      const marks = async (): Promise<string[]> =>
        (await terminatorsOf('checked')).map((one) => one.precedence);
      await until(`it is ${precedence}`, marks, ([mark]) => mark === precedence, WAIT_MS);
    };
    await untilMarked('default');
    const closed = new Promise((resolve) => echo.close(resolve));
    await untilMarked('failed');
    void closed;
    await new Promise<void>((resolve) => echo.listen(port, '127.0.0.1', resolve));
    await untilMarked('default');
    await untilServed('checked');
  },
);

test(
  'a router that is killed and starts again serves the same services, and leaves no stale terminator',
  { skip },
  async () => {
    await untilServed('sealed');
    const count = (await mesh.terminators()).length;
    await router.kill();
    await router.start();
    await mesh.untilOnline('ours');
    for (const name of ['sealed', 'plain', 'several'] as const) await untilServed(name);
    const all = async (): Promise<number> => (await mesh.terminators()).length;
    await until('as many terminators as before', all, (it) => it === count, WAIT_MS);
    await untilServed('sealed');
  },
);

test(
  'a policy that ends at the controller ends circuits within 5 s and removes the terminators',
  { skip },
  async () => {
    await untilServed('sealed');
    const socket = connect({ host: '127.0.0.1', port: ports.sealed });
    const ended = new Promise<void>((resolve) => {
      socket.on('close', () => resolve());
      socket.on('error', () => resolve());
    });
    await new Promise((resolve) => {
      socket.once('data', resolve);
      socket.write('stays open');
    });
    await mesh.network.run('edge delete service-policy router-bind');
    const sinceMs = performance.now();
    await within('the end of the circuit', ended, WAIT_MS);
    assert.ok(performance.now() - sinceMs < CUT_MS, `ended after ${performance.now() - sinceMs} ms`);
    await until(
      'no terminator',
      () => terminatorsOf('sealed'),
      ({ length }) => length === 0,
      WAIT_MS,
    );
    await allowBind();
    await untilServed('sealed');
  },
);
