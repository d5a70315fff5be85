// Shares of datagrams between our agents and OpenZiti's Go SDK as users run it: the tunneler of `ziti`, at our product. ZITI_BIN names the
// binary (1.7.2 is what this was made with); without it the tests are skipped. `ziti tunnel proxy` listens on all interfaces
// while a test runs.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test, type TestContext } from 'node:test';
import { readHostPort } from '#base';
import { callAgent } from '#cli';
import { until } from '../../support/deadline.ts';
import { freePort } from '../../support/free-port.ts';
import { startUdpEcho, udpClient } from '../../support/port-client.ts';
import { openWorld, type World } from '../../support/world.ts';
import { zitiBinary } from '../../support/ziti-command.ts';
import { enrollGo, startTunneler, type GoIdentity } from './tunneler.ts';

const BINARY = zitiBinary() ?? '';
const skip = BINARY === '' ? 'ZITI_BIN is not set' : false;
const HOST = '127.0.0.1';
/** Above one payload of a circuit, below what a datagram holds. */
const LONG_BYTES = 5_000;

let world: World;
let folder: string;
let tunneled: GoIdentity;

before(async () => {
  if (skip !== false) return;
  world = await openWorld();
  folder = join(world.dataDir, 'go');
  mkdirSync(folder);
  tunneled = await enrollGo(world, { binary: BINARY, folder, name: 'tunneled' });
});
after(() => world?.close());

async function openEcho(t: TestContext): Promise<number> {
  const echo = await startUdpEcho();
  t.after(() => void echo.close());
  return echo.address().port;
}

/** Sends a datagram from an address of its own, and returns what comes back in time. */
async function ask(port: number, text: string): Promise<string | undefined> {
  const client = await udpClient();
  return client.exchange(port, text).finally(() => client.close());
}

async function answerTo(port: number, text: string): Promise<string | undefined> {
  const { value } = await until(
    'an answer',
    () => ask(port, text),
    (answer) => answer !== undefined,
  );
  return value;
}

async function checkEcho(port: number): Promise<void> {
  assert.equal(await answerTo(port, 'question'), 'question');
  const long = 'datagram'.repeat(LONG_BYTES / 8);
  const answers = await Promise.all(Array.from({ length: 8 }, () => answerTo(port, long)));
  for (const answer of answers) assert.equal(answer, long);
}

function tunnel(t: TestContext, ...mode: string[]): void {
  const tunneler = startTunneler(BINARY, folder, tunneled.file, ...mode);
  t.after(() => tunneler.stop());
}

test('it dials a share of datagrams that our agent hosts, each sender apart', { skip }, async (t) => {
  const agent = await world.startAgent('host');
  const grants = [tunneled.environmentId];
  await agent.share(`udp://${HOST}:${await openEcho(t)}`, { name: 'hosted', mode: 'private', grants });
  const port = await freePort();
  tunnel(t, 'proxy', `hosted:${port}:udp`);
  await checkEcho(port);
});

test('it hosts a share of datagrams by host.v1, and our agent dials it', { skip }, async (t) => {
  const visitor = await world.startAgent('visitor');
  const { status } = await world.call('POST', '/shares', {
    environmentId: tunneled.environmentId,
    shareMode: 'private',
    name: 'of-ziti',
    backendMode: 'udpTunnel',
    target: `udp://${HOST}:${await openEcho(t)}`,
    grants: [visitor.environmentId],
  });
  assert.equal(status, 201);
  tunnel(t, 'host');
  const request = { op: 'access', share: 'of-ziti', host: HOST, port: 0, protocol: 'udp' } as const;
  const { listen } = await callAgent(visitor.agent.socketPath, request);
  await checkEcho(readHostPort(listen)!.port);
});
