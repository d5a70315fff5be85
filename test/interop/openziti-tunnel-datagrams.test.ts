// Datagrams between `frontdoor tunnel` and `ziti tunnel` at OpenZiti's controller, behind a router of Frontdoor. ZITI_BIN names
// `ziti` (1.7.2); without it: skipped.
import { chmodSync } from 'node:fs';
import type { Socket as DatagramSocket } from 'node:dgram';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { until } from '../support/deadline.ts';
import { freePort } from '../support/free-port.ts';
import { PartProcess } from '../support/part-process.ts';
import { startUdpEcho, udpClient } from '../support/port-client.ts';
import { zitiBinary } from '../support/ziti-command.ts';
import { OpenZitiMesh } from './openziti-mesh.ts';

const BINARY = zitiBinary();
const skip = BINARY === undefined ? 'ZITI_BIN is not set' : false;
const MAKERS = ['frontdoor', 'ziti'] as const;
type Maker = (typeof MAKERS)[number];
const FORMS = ['sealed', 'plain'] as const;
const SOURCES = 50;
const WAIT_MS = 30_000;

let mesh: OpenZitiMesh;
let echo: DatagramSocket;
const tunnels: PartProcess[] = [];
/** Ports of each dialer by the name of the service. */
const doors: Readonly<Record<Maker, Record<string, number>>> = { frontdoor: {}, ziti: {} };
const serviceOf = (host: Maker, form: string): string => `${form}-by-${host}`;
const SERVICES = MAKERS.flatMap((host) => FORMS.map((form) => serviceOf(host, form)));

before(async () => {
  if (BINARY === undefined) return;
  echo = await startUdpEcho();
  mesh = await OpenZitiMesh.start(BINARY);
  const { network, folder } = mesh;
  const edgePort = await freePort();
  const address = `tls:127.0.0.1:${edgePort}`;
  const listeners = [{ binding: 'edge', address, options: { advertise: `localhost:${edgePort}` } }];
  await mesh.ourRouter('ours', { edgePort, sections: { listeners } });
  await network.allowAllRouters();
  const target = JSON.stringify({ protocol: 'udp', address: '127.0.0.1', port: echo.address().port });
  await network.run('edge create config target host.v1', target);
  for (const maker of MAKERS) {
    await network.run(`edge create identity ${maker} -o ${maker}.jwt`);
    await network.run(`edge enroll --jwt ${maker}.jwt --out ${maker}.json`);
    chmodSync(join(folder, `${maker}.json`), 0o600);
    for (const form of FORMS) {
      const name = serviceOf(maker, form);
      const encryption = form === 'sealed' ? 'ON' : 'OFF';
      const line = `edge create service ${name} --configs target --encryption ${encryption} -a of-${maker}`;
      await network.run(line);
    }
    const roles = `--service-roles #of-${maker} --identity-roles @${maker}`;
    await network.run(`edge create service-policy ${maker}-bind Bind ${roles}`);
    for (const service of SERVICES) doors[maker][service] = await freePort();
  }
  await network.run('edge create service-policy dial Dial --service-roles #all --identity-roles #all');
  const common = '-i ziti.json --cli-agent=false';
  await network.start('host', `tunnel host ${common}`);
  await network.start('dialer', `tunnel proxy ${common} ${doorsOf('ziti').join(' ')}`);
  await startTunnel('host', []);
  await startTunnel(
    'proxy',
    doorsOf('frontdoor').flatMap((door) => ['--service', door]),
  );
});
afterEach((context) => {
  if (!('passed' in context) || context.passed !== false) return;
  const texts = [mesh?.ourOutput, mesh?.network.tail('host'), mesh?.network.tail('dialer')];
  for (const text of [...texts, ...tunnels.map(({ output }) => output)]) console.error(text?.slice(-6_000));
});
after(async () => {
  for (const tunnel of tunnels) await tunnel.stop();
  await mesh?.stop();
  echo?.close();
});

function doorsOf(dialer: Maker): string[] {
  return SERVICES.map((service) => `${service}:${doors[dialer][service]}:udp`);
}

async function startTunnel(mode: 'host' | 'proxy', words: readonly string[]): Promise<void> {
  const readyFile = join(mesh.folder, `tunnel-${mode}.ready`);
  const identity = join(mesh.folder, 'frontdoor.json');
  const part = new PartProcess({
    name: `tunnel ${mode}`,
    readyFile,
    args: () => ['tunnel', mode, '--identity', identity, '--ready-file', readyFile, ...words],
  });
  tunnels.push(part);
  await part.start();
}

for (const host of MAKERS)
  for (const dialer of MAKERS)
    for (const form of FORMS) {
      if (host === 'ziti' && dialer === 'ziti') continue;
      const title = `a ${form} service hosted by ${host} and dialed by ${dialer}: datagrams of many sources stay whole and apart`;
      test(title, { skip }, async () => {
        const port = doors[dialer][serviceOf(host, form)]!;
        const clients = await Promise.all(Array.from({ length: SOURCES }, () => udpClient()));
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
