// OpenZiti's Go SDK as users run it: the tunneler of `ziti`, enrolled, dialing and hosting at our product. ZITI_BIN
// names the binary (1.7.2 is what this was made with); without it the tests are skipped. `ziti tunnel proxy` takes
// connections on all interfaces while a test runs: behind it is a page that says `private`, and nothing else.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { freePort } from '../../support/free-port.ts';
import { until } from '../../support/deadline.ts';
import { digestOf, startPrivateService, type PrivateService } from '../../support/private-service.ts';
import { httpGet, openWorld, type HttpAnswer, type World } from '../../support/world.ts';
import { runZiti, zitiBinary } from '../../support/ziti-command.ts';
import { enrollArgs, enrollGo, startTunneler, type GoIdentity, type Tunneler } from './tunneler.ts';

const BINARY = zitiBinary() ?? '';
const skip = BINARY === '' ? 'ZITI_BIN is not set' : false;
const BODY_BYTES = 1_000_000;
const READY_MS = 30_000;
const HALF_CLOSES = 20;

let world: World;
let service: PrivateService;
let folder: string;
/** Dials and hosts in turns: an environment may do both. */
let first: GoIdentity;
let second: GoIdentity;
const tunnelers = new Set<Tunneler>();

before(async () => {
  if (skip !== false) return;
  world = await openWorld();
  service = await startPrivateService();
  folder = join(world.dataDir, 'go');
  mkdirSync(folder);
});
afterEach(async (context) => {
  const failed = 'passed' in context && context.passed === false;
  for (const tunneler of tunnelers) {
    await tunneler.stop();
    if (failed) console.error(tunneler.output().slice(-8_000));
  }
  tunnelers.clear();
});
after(async () => {
  await world?.close();
  await service?.close();
});

function tunnel(identity: GoIdentity, ...mode: string[]): Tunneler {
  const tunneler = startTunneler(BINARY, folder, identity.file, ...mode);
  tunnelers.add(tunneler);
  return tunneler;
}

/** Gives back what it reads, and ends when the other side has ended. */
async function startEcho(): Promise<{ readonly port: number; readonly server: Server }> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => socket.destroy());
    socket.pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { port: (server.address() as AddressInfo).port, server };
}

/** Sends all and ends; resolves to all that came back until the other side ended, rejects when it broke. */
function exchange(port: number, chunks: readonly Buffer[]): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const received: Buffer[] = [];
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    socket.setTimeout(READY_MS, () => socket.destroy(new Error('nothing more came')));
    socket.on('data', (chunk: Buffer) => received.push(chunk));
    socket.on('end', () => resolve(Buffer.concat(received)));
    socket.on('error', reject);
    for (const chunk of chunks) socket.write(chunk);
    socket.end();
  });
}

async function untilAnswered(what: string, get: () => Promise<HttpAnswer>): Promise<void> {
  const { value } = await until(what, get, ({ status }) => status === 200, READY_MS);
  assert.equal(String(value.body), 'private');
}

function checkBody({ status, body }: HttpAnswer): void {
  assert.equal(status, 200);
  assert.equal(body.length, BODY_BYTES);
  assert.equal(digestOf([body]), digestOf(service.bytes(BODY_BYTES)));
}

/** A share record for what a foreign client hosts: nobody but the Management API makes one for it. */
async function record(owner: GoIdentity, name: string, more: Record<string, unknown>): Promise<void> {
  const answer = await world.call('POST', '/shares', {
    environmentId: owner.environmentId,
    backendMode: 'proxy',
    target: `http://127.0.0.1:${service.port}`,
    name,
    ...more,
  });
  assert.equal(answer.status, 201, JSON.stringify(answer.json));
}

async function shareStatus(name: string): Promise<string> {
  return ((await world.call('GET', `/shares/${name}`)).json as { status: string }).status;
}

test('the Go client enrolls with the token of our bootstrap operation, once', { skip }, async () => {
  first = await enrollGo(world, { binary: BINARY, folder, name: 'first' });
  const again = await runZiti(BINARY, folder, enrollArgs(first.jwt, join(folder, 'again.json')));
  assert.notEqual(again.status, 0);
  // Its other kind of key.
  second = await enrollGo(world, { binary: BINARY, folder, name: 'second' }, '--keyAlg', 'EC');
});

test('it dials a private share that is granted to it: many circuits, a body intact', { skip }, async () => {
  const agent = await world.startAgent('host');
  const target = `http://127.0.0.1:${service.port}`;
  const { environmentId } = first;
  await agent.share(target, { name: 'granted', mode: 'private', grants: [environmentId] });
  const port = await freePort();
  tunnel(first, 'proxy', `granted:${port}`);
  const get = (path: string): Promise<HttpAnswer> => httpGet(port, 'granted', path);
  await untilAnswered('an answer through ziti tunnel proxy', () => get('/'));
  checkBody(await get(`/bytes/${BODY_BYTES}`));
  const answers = await Promise.all(Array.from({ length: 8 }, () => get(`/bytes/${BODY_BYTES}`)));
  for (const answer of answers) checkBody(answer);
});

test('its bytes arrive both ways, and an end in one direction leaves the other open', { skip }, async (t) => {
  const echo = await startEcho();
  t.after(() => echo.server.close());
  const agent = await world.startAgent('echo-host');
  const grants = [first.environmentId];
  await agent.share(`http://127.0.0.1:${echo.port}`, { name: 'echo', mode: 'private', grants });
  const port = await freePort();
  tunnel(first, 'proxy', `echo:${port}`);
  await until(
    'ziti tunnel proxy',
    () => exchange(port, [Buffer.from('x')]),
    (back) => String(back) === 'x',
  );
  const sent = [...service.bytes(BODY_BYTES)];
  // A Go client that is notified of the end before it has read everything loses the rest; whether it does is a race.
  for (let round = 0; round < HALF_CLOSES; round += 1) {
    const back = await exchange(port, sent);
    assert.equal(back.length, BODY_BYTES);
    assert.equal(digestOf([back]), digestOf(sent));
  }
});

test('a revoked grant ends its dials, also with a session that it holds already', { skip }, async () => {
  const port = await freePort();
  const tunneler = tunnel(first, 'proxy', `granted:${port}`);
  const get = (): Promise<HttpAnswer> => httpGet(port, 'granted', '/');
  await untilAnswered('an answer before', get);
  const { status } = await world.call('PATCH', '/shares/granted', { grants: [] });
  assert.equal(status, 200);
  const before = service.requestCount;
  // Its session is refused. It asks for another, gets the answer that there is no such service, and stops listening
  // for it.
  await assert.rejects(get(), /ECONNRESET|socket hang up/);
  const failure = (): Promise<string> => get().then(String, String);
  await until('an end of its listener', failure, (text) => text.includes('ECONNREFUSED'), READY_MS);
  assert.equal(service.requestCount, before);
  assert.equal(tunneler.isRunning, true);
});

test('it hosts a public share of its environment, and the gateway serves it', { skip }, async () => {
  await record(second, 'hosted', { shareMode: 'public' });
  const host = tunnel(second, 'host');
  const get = (path: string): Promise<HttpAnswer> => world.get('hosted.share.localhost', path);
  await untilAnswered('an answer of what ziti tunnel host hosts', () => get('/'));
  checkBody(await get(`/bytes/${BODY_BYTES}`));
  const answers = await Promise.all(Array.from({ length: 8 }, () => get(`/bytes/${BODY_BYTES}`)));
  for (const answer of answers) checkBody(answer);
  await record(second, 'later', { shareMode: 'public' });
  await untilAnswered('a share that was made in the meantime', () => world.get('later.share.localhost', '/'));
  await until(
    'the status DEPLOYED',
    () => shareStatus('hosted'),
    (status) => status === 'DEPLOYED',
    READY_MS,
  );
  await host.stop();
  await until(
    'a share without its host',
    () => get('/'),
    ({ status }) => status >= 500,
    READY_MS,
  );
});

test('one dials what the other hosts', { skip }, async () => {
  await record(second, 'between', { shareMode: 'private', grants: [first.environmentId] });
  const port = await freePort();
  tunnel(second, 'host');
  tunnel(first, 'proxy', `between:${port}`);
  const get = (path: string): Promise<HttpAnswer> => httpGet(port, 'between', path);
  await untilAnswered('an answer from one Go client to the other', () => get('/'));
  checkBody(await get(`/bytes/${BODY_BYTES}`));
});
