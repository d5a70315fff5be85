// In an installation of `ziti edge quickstart`, our router takes the place of its router, with that router's own file and
// identity, unchanged. ZITI_BIN names `ziti` (1.7.2), and `go` is in PATH for a program on the Go SDK; without them: skipped.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { checkGoExchanges } from '../compat/openziti/go-exchanges.ts';
import { GoPeer, skipGoPeer } from '../compat/openziti/go-peer.ts';
import { until } from '../support/deadline.ts';
import { startEcho } from '../support/echo-service.ts';
import { freePort } from '../support/free-port.ts';
import { OpenZitiNetwork } from '../support/openziti-network.ts';
import { PartProcess } from '../support/part-process.ts';
import { zitiBinary } from '../support/ziti-command.ts';

const skip = skipGoPeer();
const NAME = 'router-quickstart';
const ONLINE_MS = 60_000;

let folder: string;
let network: OpenZitiNetwork | undefined;
let peer: GoPeer;
let router: PartProcess | undefined;
let echo: Server;

before(async () => {
  if (skip !== false) return;
  folder = mkdtempSync(join(tmpdir(), 'frontdoor-quickstart-'));
  peer = await GoPeer.build(folder);
  echo = await startEcho();
});
afterEach((context) => {
  if (!('passed' in context) || context.passed !== false) return;
  for (const text of [router?.output, network?.tail('quickstart')]) console.error(text?.slice(-6_000));
});
after(async () => {
  await router?.stop();
  await network?.stop();
  echo?.close();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});

async function untilOnline(isOnline: boolean): Promise<void> {
  const look = async (): Promise<unknown> => {
    const output = await network!.run('edge list edge-routers -j');
    const { data } = JSON.parse(output.slice(output.indexOf('{'))) as {
      data: { name: string; isOnline: boolean }[];
    };
    return data.find(({ name }) => name === NAME)?.isOnline;
  };
  await until(`${NAME} is ${isOnline ? 'online' : 'offline'}`, look, (it) => it === isOnline, ONLINE_MS);
}

test(
  'the router of a quickstart is replaced by ours, which hosts for SDKs and connects them',
  { skip },
  async () => {
    const binary = zitiBinary()!;
    const password = randomBytes(18).toString('base64url');
    const installation = { port: await freePort(), routerPort: await freePort(), password };
    network = await OpenZitiNetwork.quickstart(binary, folder, { ...installation, hasRouter: true });
    await untilOnline(true);
    await network.stop();
    network = await OpenZitiNetwork.quickstart(binary, folder, { ...installation, hasRouter: false });
    await untilOnline(false);
    const file = join(folder, `${NAME}.yaml`);
    const text = readFileSync(file, 'utf8');
    const readyFile = join(folder, 'ready.json');
    router = new PartProcess({
      name: NAME,
      readyFile,
      args: () => ['router', 'run', file, '--ready-file', readyFile, '--log-level', 'debug'],
    });
    await router.start();
    await untilOnline(true);
    assert.equal(readFileSync(file, 'utf8'), text);

    const { port } = echo.address() as AddressInfo;
    const config = JSON.stringify({ protocol: 'tcp', address: '127.0.0.1', port });
    await network.run('edge create config hosted host.v1', config);
    await network.run('edge create service hosted --configs hosted -a test');
    await network.run(
      `edge create service-policy router Bind --service-roles @hosted --identity-roles @${NAME}`,
    );
    await network.run('edge create service met -a test');
    await network.enrollHostAndDialer('#test');
    const dialer = join(folder, 'dialer.json');
    await checkGoExchanges(peer, dialer, 'hosted');
    const host = await peer.host(join(folder, 'host.json'), 'met');
    try {
      await checkGoExchanges(peer, dialer, 'met');
    } finally {
      await host.kill();
    }
  },
);
