// `frontdoor up --demo` as a user runs it, through its launcher: what it writes, how it ends, what it survives.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { callAgent } from '#cli';
import { JsonClient } from '#net/http';
import { RunningTime, until, within } from '../support/deadline.ts';
import { freePort } from '../support/free-port.ts';
import { isAlive } from '../support/process-state.ts';
import {
  agentPid,
  kill,
  makeDataDir,
  runLauncher,
  startDemoProcess,
  type DemoProcess,
} from '../support/product-process.ts';
import { askRaw, RawHttpClient } from '../support/raw-http-client.ts';

const STOPS_WITHIN_MS = 5_000;
const BACK_WITHIN_MS = 15_000;
const LOOK_MS = 500;

const FIELDS = [
  'shareUrl',
  'gatewayUrl',
  'shareHost',
  'apiUrl',
  'tokenUrl',
  'audience',
  'edgeApiUrl',
  'dataDir',
  'organizationId',
  'frontdoorId',
  'environmentId',
  'accountId',
  'apiToken',
  'clientId',
  'clientSecret',
  'agentSocket',
] as const;

/** But for that of the router's edge listener. */
const PORTS = ['http', 'https', 'api', 'edgeApi', 'ctrl'];

let dataDir: string;
let demo: DemoProcess;

before(async () => {
  dataDir = makeDataDir();
  await rememberSafePorts();
  // As in a new clone. Later starts of this file use the bundle, if the run has made one.
  demo = await startDemoProcess(dataDir, undefined, undefined, { FRONTDOOR_FROM_SOURCES: '1' });
});

after(async () => {
  await demo?.destroy();
  rmSync(dataDir, { recursive: true, force: true });
});

/** Ports as of an earlier start, because another program may take a newly chosen port while nobody listens on it. */
async function rememberSafePorts(): Promise<void> {
  const from = await freePort(PORTS.length);
  const ports = Object.fromEntries(PORTS.map((name, at) => [name, from + at]));
  writeFileSync(join(dataDir, 'ports.json'), JSON.stringify(ports));
}

function page(): Promise<number> {
  return askRaw(demo.port, { path: '/', host: demo.ready.shareHost }).then(({ status }) => status);
}

async function call(
  path: string,
  method: 'GET' | 'POST' | 'DELETE' = 'GET',
  body?: object,
): Promise<{ status: number; json: unknown }> {
  const { apiUrl, accountId, apiToken, frontdoorId } = demo.ready;
  const client = new JsonClient({ origin: apiUrl });
  try {
    return await client.request({
      method,
      path: `/frontdoor/${frontdoorId}${path}`,
      headers: { authorization: `Basic ${accountId}:${apiToken}` },
      body,
    });
  } finally {
    await client.close();
  }
}

/** Launcher, `up`, agent and sample are gone. */
async function assertAllGone(within_: number): Promise<void> {
  const { up, agent, sample } = demo.ready.pids;
  const pids = { up, agent: agentPid(dataDir) ?? agent, sample };
  await until(
    'the end of all processes',
    () =>
      Object.entries(pids)
        .filter(([, pid]) => isAlive(pid))
        .map(([name]) => name),
    (alive) => alive.length === 0,
    within_,
  );
}

describe('a running demo', () => {
  it('has written a ready file for its owner alone, with every field', async () => {
    assert.equal(statSync(demo.readyFile).mode & 0o777, 0o600);
    for (const field of FIELDS) {
      assert.equal(typeof demo.ready[field], 'string', field);
      assert.notEqual(demo.ready[field], '', field);
    }
    for (const part of ['up', 'agent', 'sample'] as const) assert.ok(isAlive(demo.ready.pids[part]), part);
    assert.match(demo.ready.gatewayUrl, /^http:\/\/127\.0\.0\.1:\d+$/);
    assert.match(demo.ready.shareUrl, /^https?:\/\/[a-z0-9-]+\.share\.localhost(?::\d+)?/);
    assert.equal(statSync(join(dataDir, 'demo-credentials.json')).mode & 0o777, 0o600);
    // What it prints comes through a pipe, later than the file.
    const isShown = (text: string): boolean => text.includes(demo.ready.shareUrl) && text.includes('curl ');
    await until('the address and how to ask', () => demo.output(), isShown);
  });

  it('has kept the ports that it had before, and those that it chose', () => {
    const kept = JSON.parse(readFileSync(join(dataDir, 'ports.json'), 'utf8')) as Record<string, number>;
    assert.equal(kept['http'], demo.port);
    assert.equal(kept['api'], Number(new URL(demo.ready.apiUrl).port));
    assert.ok(kept['edge']! > 0);
  });

  it('serves its share, its API and its token endpoint at the addresses of the ready file', async () => {
    assert.equal(await page(), 200);
    assert.equal((await call('/shares')).status, 200);
    const { clientId, clientSecret, tokenUrl, audience } = demo.ready;
    const answer = await fetch(tokenUrl, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: clientId,
        client_secret: clientSecret,
        audience,
      }),
    });
    assert.equal(answer.status, 200);
    const status = await callAgent(demo.ready.agentSocket, { op: 'status' });
    assert.equal(status.environmentId, demo.ready.environmentId);
  });

  it('keeps secrets out of its logs', () => {
    const logs = readdirSync(join(dataDir, 'logs')).map((name) =>
      readFileSync(join(dataDir, 'logs', name), 'utf8'),
    );
    assert.ok(logs.join('').length > 0);
    for (const secret of [demo.ready.apiToken, demo.ready.clientSecret]) {
      assert.ok(!logs.join('').includes(secret));
    }
  });

  it('starts its agent again when that is killed, and answers within 15 s', async () => {
    const { agent } = demo.ready.pids;
    kill(agent, 'SIGKILL');
    await until(
      'another agent',
      () => agentPid(dataDir),
      (pid) => pid !== undefined && pid !== agent && isAlive(pid),
    );
    await until('an answer', page, (status) => status === 200, BACK_WITHIN_MS);
  });

  it('refuses a port that is taken, naming it and the option that chooses another', async () => {
    const blocker = createServer().listen(0, '127.0.0.1');
    await once(blocker, 'listening');
    const { port } = blocker.address() as AddressInfo;
    const others = ['--https-port', '--api-port', '--edge-api-port', '--ctrl-port', '--edge-port'];
    const folder = makeDataDir();
    for (const option of ['--http-port', '--api-port', '--edge-api-port']) {
      const free = [...others, '--http-port']
        .filter((each) => each !== option)
        .flatMap((each) => [each, '0']);
      const run = runLauncher(['up', '--data-dir', folder, option, String(port), ...free]);
      const { status } = await within('its end', run.exit);
      assert.notEqual(status, 0);
      assert.ok(run.output().includes(String(port)), run.output());
      assert.ok(run.output().includes(option), run.output());
      assert.equal(existsSync(join(folder, 'control.db')), false, 'nothing was started');
    }
    rmSync(folder, { recursive: true, force: true });
    blocker.close();
  });
});

describe('after kill -9 of up', () => {
  it('the next start finds what was acknowledged and an agent, and a request answers within 15 s', async () => {
    const agentBefore = agentPid(dataDir)!;
    const made = await call('/shares', 'POST', {
      environmentId: demo.ready.environmentId,
      shareMode: 'public',
      backendMode: 'proxy',
      target: 'http://127.0.0.1:9',
      name: 'acknowledged',
    });
    assert.ok(made.status < 300, JSON.stringify(made));
    const before_ = demo.ready;
    kill(demo.ready.pids.up, 'SIGKILL');
    await within('the end of the launcher', demo.exit);
    using time = new RunningTime();
    demo = await startDemoProcess(dataDir);
    assert.equal(await page(), 200);
    const tookMs = time.ms;
    assert.ok(tookMs < BACK_WITHIN_MS, `${tookMs} ms`);
    for (const field of [
      'organizationId',
      'frontdoorId',
      'environmentId',
      'accountId',
      'apiToken',
      'clientId',
      'clientSecret',
      'gatewayUrl',
      'apiUrl',
    ] as const) {
      assert.equal(demo.ready[field], before_[field], field);
    }
    assert.equal((await call('/shares/acknowledged')).status, 200);
    // One agent: the old one, or one that took its place.
    const agentNow = demo.ready.pids.agent;
    assert.ok(isAlive(agentNow));
    assert.ok(agentNow === agentBefore || !isAlive(agentBefore));
  });
});

describe('on SIGTERM', () => {
  it('a download that runs is finished first, and nothing new is taken', async () => {
    const client = await RawHttpClient.open(demo.port);
    client.request({ path: '/bytes/200000000', host: demo.ready.shareHost });
    await client.until('the first megabytes', () => client.bodyBytes > 5_000_000);
    client.socket.pause();
    demo.child.kill('SIGTERM');
    await until(
      'new connections to be refused',
      () => page().catch(() => 'refused'),
      (status) => status === 'refused',
    );
    client.socket.resume();
    const answer = await client.answer(25_000);
    assert.equal(answer.isComplete, true);
    assert.equal(answer.bodyBytes, 200_000_000);
    const exit = await within('its end', demo.exit);
    assert.deepEqual(exit, { status: 0, signal: null }, demo.output());
    await assertAllGone(1_000);
  });
});

describe('on SIGINT', () => {
  it('all processes end within 5 s with status 0, although a download runs and a client is silent', async () => {
    demo = await startDemoProcess(dataDir);
    const client = await RawHttpClient.open(demo.port);
    client.request({ path: '/bytes/10000000000', host: demo.ready.shareHost });
    await client.until('the first megabytes', () => client.bodyBytes > 5_000_000);
    client.socket.pause();
    const silent = await RawHttpClient.open(demo.port);
    const toApi = await RawHttpClient.open(Number(new URL(demo.ready.edgeApiUrl).port));
    using time = new RunningTime();
    demo.child.kill('SIGINT');
    const exit = await within('its end', demo.exit, STOPS_WITHIN_MS);
    assert.deepEqual(exit, { status: 0, signal: null }, demo.output());
    await assertAllGone(Math.max(LOOK_MS, STOPS_WITHIN_MS - time.ms));
    client.socket.resume();
    assert.equal((await client.answer()).isComplete, false);
    for (const each of [client, silent, toApi]) each.close();
  });

  it('the next start enrolls its agent again when the identity is damaged, and publishes the sample', async () => {
    const file = join(dataDir, 'agent', 'identity.json');
    const identity = readFileSync(file, 'utf8');
    writeFileSync(file, identity.slice(0, identity.length / 2));
    const { environmentId } = demo.ready;
    demo = await startDemoProcess(dataDir);
    assert.equal(await page(), 200);
    assert.notEqual(demo.ready.environmentId, environmentId);
    assert.ok(existsSync(`${file}.unreadable`));
    // A share that someone added to the former environment is not lost.
    assert.equal((await call('/shares/acknowledged')).status, 200);
  });

  it('two signals within a second count as one, because a terminal and a launcher both forward it', async () => {
    assert.equal(await page(), 200);
    using time = new RunningTime();
    demo.child.kill('SIGINT');
    kill(demo.ready.pids.up, 'SIGINT');
    const exit = await within('its end', demo.exit, STOPS_WITHIN_MS);
    assert.deepEqual(exit, { status: 0, signal: null }, demo.output());
    await assertAllGone(Math.max(LOOK_MS, STOPS_WITHIN_MS - time.ms));
  });
});
