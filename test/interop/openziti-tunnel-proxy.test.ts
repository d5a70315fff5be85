// Our router as a tunneler in mode `proxy` at OpenZiti's controller: programs reach through its ports what
// `ziti tunnel host` hosts. ZITI_BIN names `ziti` (1.7.2); without it: skipped.
import assert from 'node:assert/strict';
import type { Socket as DatagramSocket } from 'node:dgram';
import { connect, type AddressInfo, type Server } from 'node:net';
import { after, afterEach, before, test } from 'node:test';
import { until, within } from '../support/deadline.ts';
import { exchange, startEcho } from '../support/echo-service.ts';
import { freePort } from '../support/free-port.ts';
import { askPort, startUdpEcho, udpClient } from '../support/port-client.ts';
import { zitiBinary } from '../support/ziti-command.ts';
import { OpenZitiMesh } from './openziti-mesh.ts';

const BINARY = zitiBinary();
const skip = BINARY === undefined ? 'ZITI_BIN is not set' : false;
const BODY_BYTES = 100 * 1024 * 1024;
const SHORT_CONNECTIONS = 1_000;
const AT_ONCE = 50;
const UDP_SOURCES = 50;
const WAIT_MS = 30_000;
/** Time within which a change of policies at the controller ends what it forbids. */
const CUT_MS = 5_000;

let mesh: OpenZitiMesh;
let echo: Server;
let udpEcho: DatagramSocket;
const doors = { sealed: 0, plain: 0, 'sealed-udp': 0, 'plain-udp': 0, configured: 0 };
type ServiceName = keyof typeof doors;

before(async () => {
  if (BINARY === undefined) return;
  echo = await startEcho();
  udpEcho = await startUdpEcho();
  mesh = await OpenZitiMesh.start(BINARY);
  const { network } = mesh;
  for (const name of Object.keys(doors) as ServiceName[]) doors[name] = await freePort();
  const edgePort = await freePort();
  const services = (['sealed', 'plain', 'sealed-udp', 'plain-udp'] as const).map(
    (name) => `${name}:${doors[name]}${name.endsWith('-udp') ? ':udp' : ''}`,
  );
  await mesh.ourRouter('ours', {
    edgePort,
    isTunneler: true,
    sections: {
      listeners: [
        {
          binding: 'edge',
          address: `tls:127.0.0.1:${edgePort}`,
          options: { advertise: `localhost:${edgePort}` },
        },
        { binding: 'tunnel', options: { mode: 'proxy', services } },
      ],
    },
  });
  await network.allowAllRouters();
  await hostConfig('tcp-host', 'tcp', (echo.address() as AddressInfo).port);
  await hostConfig('udp-host', 'udp', udpEcho.address().port);
  const own = JSON.stringify({ protocols: ['tcp'], port: doors.configured, binding: '127.0.0.1' });
  await network.run('edge create config own-port proxy.v1', own);
  for (const name of Object.keys(doors) as ServiceName[]) {
    const host = name.endsWith('-udp') ? 'udp-host' : 'tcp-host';
    const configs = name === 'configured' ? `${host},own-port` : host;
    const encryption = name.startsWith('plain') ? 'OFF' : 'ON';
    await network.run(
      `edge create service ${name} --configs ${configs} --role-attributes test --encryption ${encryption}`,
    );
  }
  await network.enrollHostAndDialer('#test');
  await allowDial();
  await network.start('host', 'tunnel host -i host.json --cli-agent=false');
});
afterEach((context) => {
  if (!('passed' in context) || context.passed !== false) return;
  for (const text of [mesh?.ourOutput, mesh?.network.tail('host')]) console.error(text?.slice(-6_000));
});
after(async () => {
  await mesh?.stop();
  echo?.close();
  udpEcho?.close();
});

async function hostConfig(name: string, protocol: string, port: number): Promise<void> {
  const config = JSON.stringify({ protocol, address: '127.0.0.1', port });
  await mesh.network.run(`edge create config ${name} host.v1`, config);
}

async function allowDial(): Promise<void> {
  await mesh.network.run(
    'edge create service-policy router-dial Dial --service-roles #test --identity-roles @ours',
  );
}

async function untilServed(name: ServiceName): Promise<void> {
  const answer = (): Promise<string> => askPort(doors[name], name).catch(() => '');
  await until(`an answer of ${name}`, answer, (text) => text === name, WAIT_MS);
}

for (const name of ['sealed', 'plain'] as const) {
  test(`a ${name} service: half-close, and 100 MB there and back are intact`, { skip }, async () => {
    await untilServed(name);
    const { sent, received } = await exchange(doors[name], BODY_BYTES);
    assert.equal(received, sent);
  });

  test(`a ${name} service: 1,000 short connections, ${AT_ONCE} at once, lose none`, { skip }, async () => {
    await untilServed(name);
    let next = 0;
    const one = async (): Promise<void> => {
      while (next < SHORT_CONNECTIONS) {
        const text = `connection ${(next += 1)}`;
        assert.equal(await askPort(doors[name], text), text);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, one));
  });

  test(`a ${name} service over UDP: datagrams of many sources stay whole and apart`, { skip }, async () => {
    const port = doors[`${name}-udp`];
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

test('a port that proxy.v1 of the service names is open', { skip }, async () => {
  await untilServed('configured');
});

test(
  'a policy that ends at the controller ends circuits and closes ports within 5 s, and they return with it',
  { skip },
  async () => {
    await untilServed('sealed');
    const socket = connect({ host: '127.0.0.1', port: doors.sealed });
    const ended = new Promise<void>((resolve) => {
      socket.on('close', () => resolve());
      socket.on('error', () => resolve());
    });
    await new Promise((resolve) => {
      socket.once('data', resolve);
      socket.write('stays open');
    });
    await mesh.network.run('edge delete service-policy router-dial');
    const sinceMs = performance.now();
    await within('the end of the circuit', ended, WAIT_MS);
    assert.ok(performance.now() - sinceMs < CUT_MS, `ended after ${performance.now() - sinceMs} ms`);
    await assert.rejects(askPort(doors.sealed, 'x'), { code: 'ECONNREFUSED' });
    await allowDial();
    await untilServed('sealed');
  },
);
