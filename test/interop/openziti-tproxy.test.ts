// Our router as a tunneler in mode `tproxy` at OpenZiti's controller, in a network namespace: `curl` and sockets that know
// nothing of the overlay reach what `ziti tunnel host` hosts. ZITI_BIN names `ziti` (1.7.2); without it: skipped.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import type { Socket as DatagramSocket } from 'node:dgram';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after, afterEach, before, test } from 'node:test';
import { promisify } from 'node:util';
import { repositoryRoot } from '../../tools/pinned-process.ts';
import { until } from '../support/deadline.ts';
import { freePort } from '../support/free-port.ts';
import { namespaceSkip } from '../support/network-namespace.ts';
import { startUdpEcho } from '../support/port-client.ts';
import { zitiBinary } from '../support/ziti-command.ts';
import { OpenZitiMesh } from './openziti-mesh.ts';

const run = promisify(execFile);
const BINARY = zitiBinary();
const INSIDE = 'FRONTDOOR_TPROXY_NAMESPACE';
const skip = BINARY === undefined ? 'ZITI_BIN is not set' : namespaceSkip('nft', 'curl');
const WAIT_MS = 30_000;
const CUT_MS = 5_000;
const MAX_OUTPUT_BYTES = 64 << 20;
const UDP_FLOWS = 50;
const BODY = 'x'.repeat(10_000_000);

/** The namespace asks the name server of the router, and has a way to a world that is not there. */
const SETUP = [
  'ip link set lo up',
  'ip addr add 192.0.2.1/32 dev lo',
  'ip route add default dev lo src 192.0.2.1',
  'mount --bind "$1" /etc/resolv.conf',
  'shift',
  'exec "$@"',
].join(' && ');

if (process.env[INSIDE] === '1') testInside();
else
  test(
    'programs in a namespace reach services by name and address, and a policy that ends cuts them',
    { skip },
    async (t) => {
      const folder = mkdtempSync(join(tmpdir(), 'frontdoor-tproxy-'));
      t.after(() => rmSync(folder, { recursive: true }));
      const resolver = join(folder, 'resolv.conf');
      writeFileSync(resolver, 'nameserver 127.0.0.1\n');
      const again = [process.execPath, '--disable-warning=ExperimentalWarning', import.meta.filename];
      const args = ['--net', '--mount', 'sh', '-c', SETUP, 'sh', resolver, ...again];
      // The runner's context is left out: this is a run of its own.
      const env = { ...process.env, [INSIDE]: '1', NODE_TEST_CONTEXT: undefined };
      await run('unshare', args, { env, maxBuffer: MAX_OUTPUT_BYTES });
    },
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

  const curl = async (url: string): Promise<string> =>
    (
      await run('curl', ['--silent', '--show-error', '--max-time', '10', url], {
        maxBuffer: MAX_OUTPUT_BYTES,
      })
    ).stdout;
  const answers = (url: string, expected: string): Promise<unknown> =>
    until(
      url,
      () => curl(url).catch(() => ''),
      (text) => text === expected,
      WAIT_MS,
    );

  test('curl reaches a service by its name, which the router answers, and by an address', async () => {
    await answers('http://web.interop/name', 'at /name');
    await answers('http://10.9.8.7/address', 'at /address');
    assert.equal(await curl('http://web.interop/big'), BODY);
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
        curl('http://10.9.8.7/').then(
          () => false,
          () => true,
        ),
      (isOver) => isOver,
      CUT_MS,
    );
  });
}
