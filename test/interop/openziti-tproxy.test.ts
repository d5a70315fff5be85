// Our router as a tunneler in mode `tproxy` at OpenZiti's controller, in a network namespace: `curl` and sockets that know
// nothing of the overlay reach what `ziti tunnel host` hosts. ZITI_BIN names `ziti` (1.7.2); without it: skipped.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import type { Socket as DatagramSocket } from 'node:dgram';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import process from 'node:process';
import { after, afterEach, before, test } from 'node:test';
import { promisify } from 'node:util';
import { repositoryRoot } from '../../tools/pinned-process.ts';
import { until } from '../support/deadline.ts';
import { freePort } from '../support/free-port.ts';
import { curlOf, isInside, runInside } from '../support/named-namespace.ts';
import { namespaceSkip } from '../support/network-namespace.ts';
import { startUdpEcho } from '../support/port-client.ts';
import { zitiBinary } from '../support/ziti-command.ts';
import { OpenZitiMesh } from './openziti-mesh.ts';

const run = promisify(execFile);
const BINARY = zitiBinary();
const skip = BINARY === undefined ? 'ZITI_BIN is not set' : namespaceSkip('nft', 'curl');
const WAIT_MS = 30_000;
const CUT_MS = 5_000;
const UDP_FLOWS = 50;
const BODY = 'x'.repeat(10_000_000);

if (isInside()) testInside();
else
  test(
    'programs in a namespace reach services by name and address, and a policy that ends cuts them',
    { skip },
    (t) => runInside(t, import.meta.filename),
  );

function testInside(): void {
  let mesh: OpenZitiMesh;
  let web: Server;
  let udpEcho: DatagramSocket;

  before(async () => {
    web = createServer((request, response) =>
      response.end(request.url === '/big' ? BODY : `at ${request.url}`),
    );
    await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
    udpEcho = await startUdpEcho();
    mesh = await OpenZitiMesh.start(BINARY!);
    const { network } = mesh;
    const edgePort = await freePort();
    const address = `tls:127.0.0.1:${edgePort}`;
    await mesh.ourRouter('ours', {
      edgePort,
      isTunneler: true,
      sections: {
        listeners: [
          { binding: 'edge', address, options: { advertise: `localhost:${edgePort}` } },
          { binding: 'tunnel', options: { mode: 'tproxy' } },
        ],
      },
    });
    await network.allowAllRouters();
    const config = (name: string, type: string, data: object) =>
      network.run(`edge create config ${name} ${type}`, JSON.stringify(data));
    const { port } = web.address() as AddressInfo;
    await config('web-host', 'host.v1', { protocol: 'tcp', address: '127.0.0.1', port });
    await config('udp-host', 'host.v1', {
      protocol: 'udp',
      address: '127.0.0.1',
      port: udpEcho.address().port,
    });
    const ports = (at: number) => [{ low: at, high: at }];
    const web80 = { addresses: ['web.interop', '10.9.0.0/16'], portRanges: ports(80) };
    await config('web-intercept', 'intercept.v1', { protocols: ['tcp'], ...web80 });
    const udp7000 = { addresses: ['10.9.0.0/16'], portRanges: ports(7_000) };
    await config('udp-intercept', 'intercept.v1', { protocols: ['udp'], ...udp7000 });
    for (const name of ['web', 'udp'])
      await network.run(
        `edge create service ${name} --configs ${name}-host,${name}-intercept --role-attributes test --encryption ON`,
      );
    await network.enrollHostAndDialer('#test');
    const roles = '--service-roles #test --identity-roles @ours';
    await network.run(`edge create service-policy router-dial Dial ${roles}`);
    await network.start('host', 'tunnel host -i host.json --cli-agent=false');
  });
  afterEach((context) => {
    if ('passed' in context && context.passed === false) console.error(mesh?.ourOutput.slice(-6_000));
  });
  after(async () => {
    await mesh?.stop();
    web?.close();
    udpEcho?.close();
  });

  const answers = (url: string, expected: string): Promise<unknown> =>
    until(
      url,
      () => curlOf(url).catch(() => ''),
      (text) => text === expected,
      WAIT_MS,
    );

  test('curl reaches a service by its name, which the router answers, and by an address', async () => {
    await answers('http://web.interop/name', 'at /name');
    await answers('http://10.9.8.7/address', 'at /address');
    assert.equal(await curlOf('http://web.interop/big'), BODY);
  });

  test('datagrams reach a service and come back from the address that they were sent to', async () => {
    const program = join(repositoryRoot, 'test/support/flow-client.ts');
    const args = [
      '--disable-warning=ExperimentalWarning',
      program,
      'udp',
      '10.9.3.4',
      '7000',
      String(UDP_FLOWS),
    ];
    assert.equal(Number((await run(process.execPath, args)).stdout), UDP_FLOWS);
  });

  test('a policy that ends at the controller ends the interception within 5 s', async () => {
    await mesh.network.run('edge delete service-policy router-dial');
    await until(
      'the end of the interception',
      () =>
        curlOf('http://10.9.8.7/').then(
          () => false,
          () => true,
        ),
      (isOver) => isOver,
      CUT_MS,
    );
  });
}
