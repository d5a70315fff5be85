import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, test } from 'node:test';
import { FrontdoorError, Secret } from '#base';
import {
  encodeAgentAnswer,
  type AgentAnswer,
  type AgentRequest,
  type AgentShareView,
} from '#domain/agent-shapes';
import type { AgentStartOptions } from './agent-command.ts';
import { callAgent } from './agent-socket-client.ts';
import { fakeApi, runCli, type FakeApi } from './cli-fixture.ts';

const cleanups: (() => unknown)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0).toReversed()) cleanup();
});

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'cli-'));
  cleanups.push(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** An agent that answers each request with what the function gives; its socket's path. */
async function fakeAgent(answer: (request: AgentRequest) => unknown): Promise<string> {
  const path = join(folder(), 'a.sock');
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (chunk: Buffer) => {
      const { id, ...request } = JSON.parse(chunk.toString()) as AgentRequest & { id: number };
      let line: AgentAnswer;
      try {
        line = { ok: true, result: answer(request) };
      } catch (error) {
        const { kind, code, message } = error as FrontdoorError;
        line = { ok: false, error: { kind, code, message } };
      }
      socket.write(encodeAgentAnswer(id, line));
    });
  });
  server.listen(path);
  await once(server, 'listening');
  cleanups.push(() => server.close());
  return path;
}

const share: AgentShareView = {
  token: 'app',
  name: 'app',
  mode: 'public',
  target: 'http://127.0.0.1:3000',
  reserved: true,
  endpoints: ['http://app.share.localhost:8080'],
  status: 'DEPLOYED',
  hosting: 'bound',
  healthy: true,
  problem: null,
  circuits: 2,
  isUnverified: false,
  domains: [{ hostname: 'app.example.com', isServed: false, problem: null, record: 'TXT a b' }],
};

test('share asks the agent and prints where the service is now', async () => {
  const asked: AgentRequest[] = [];
  const socket = await fakeAgent((request) => {
    asked.push(request);
    return { share, readiness: { ready: true } };
  });
  const ran = await runCli([
    'agent',
    'share',
    'public',
    'http://127.0.0.1:3000',
    '--name',
    'app',
    '--domain',
    'app.example.com',
    '--socket',
    socket,
  ]);
  assert.deepEqual(ran, {
    out: 'http://app.share.localhost:8080\n  -> http://127.0.0.1:3000\napp.example.com is not served yet: create the DNS record TXT a b\n',
    err: '',
    code: 0,
  });
  assert.deepEqual(asked, [
    {
      v: 1,
      op: 'share',
      mode: 'public',
      target: 'http://127.0.0.1:3000',
      grants: [],
      name: 'app',
      domains: ['app.example.com'],
    },
  ]);
  const args = [
    'agent',
    'share',
    'private',
    'http://a:1',
    '--grant',
    'e1',
    '--grant',
    'e2',
    '--json',
    '--socket',
    socket,
  ];
  assert.equal((JSON.parse((await runCli(args)).out) as { ready: boolean }).ready, true);
  assert.deepEqual((asked[1] as { grants?: unknown }).grants, ['e1', 'e2']);
});

test('a share that cannot be dialed prints the reason and fails', async () => {
  const socket = await fakeAgent(() => ({
    share,
    readiness: { ready: false, reason: 'connection refused' },
  }));
  const ran = await runCli(['agent', 'share', 'public', 'http://127.0.0.1:3000', '--socket', socket]);
  assert.equal(ran.code, 8);
  assert.match(ran.err, /cannot be dialed: connection refused/);
});

test('the refusals of the agent become a message and the exit status of their kind', async () => {
  const socket = await fakeAgent(() => {
    throw new FrontdoorError('conflict', 'conflict', 'Share app is taken');
  });
  assert.deepEqual(await runCli(['agent', 'release', 'app', '--socket', socket]), {
    out: '',
    err: 'frontdoor: Share app is taken\n',
    code: 6,
  });
  const json = await runCli(['agent', 'release', 'app', '--json', '--socket', socket]);
  assert.deepEqual(JSON.parse(json.err), { error: 'conflict', message: 'Share app is taken' });
  assert.equal(json.out, '');
});

test('status shows shares, problems and failed entries', async () => {
  const socket = await fakeAgent(() => ({
    version: '1.2.3',
    pid: 7,
    environmentId: 'env',
    name: 'host',
    apiUrl: 'https://c',
    controlPlane: 'away',
    problem: 'cannot be reached',
    startedAt: '',
    shares: [share, { ...share, token: 'other', status: 'FAILED', problem: 'connection refused' }],
    failedEntries: [{ name: 'third', reason: 'taken' }],
  }));
  const { out } = await runCli(['agent', 'status', '--socket', socket]);
  assert.match(out, /control plane https:\/\/c: away \(cannot be reached\)/);
  assert.match(out, /app    DEPLOYED  public   http:\/\/127\.0\.0\.1:3000  2 circuits  http:\/\/app\.share/);
  assert.match(
    out,
    /other  FAILED.*\n +app\.example\.com is not served yet: .*TXT a b\n +connection refused\n/,
  );
  assert.match(out, /third: not yet as the configuration file has it: taken/);
});

test('without an agent the message names the remedy; the data directory leads to the socket', async () => {
  const dataDir = folder();
  const ran = await runCli(['agent', 'status', '--data-dir', dataDir]);
  assert.equal(ran.code, 8);
  assert.ok(ran.err.includes(`${dataDir}/agent.sock: start the demo with "npm start"`), ran.err);
  assert.match(
    (await runCli(['agent', 'stop'], { FRONTDOOR_AGENT_DIR: '/nowhere' })).err,
    /\/nowhere\/agent\.sock/,
  );
});

test(
  'an answer of another program is refused, and a silent one ends at the deadline',
  { timeout: 60_000 },
  async () => {
    const path = join(folder(), 'a.sock');
    let reply: string | undefined = 'HTTP/1.1 400\n';
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.on('data', () => void (reply !== undefined && socket.write(reply)));
    });
    server.listen(path);
    await once(server, 'listening');
    cleanups.push(() => server.close());
    await assert.rejects(callAgent(path, { op: 'status' }), /is not an agent of this version/);
    reply = undefined;
    await assert.rejects(callAgent(path, { op: 'status' }, 50), /did not respond within 0.05 s/);
  },
);

test('agent start passes its options on; the code may come from the environment', async () => {
  const started: AgentStartOptions[] = [];
  const start = async (options: AgentStartOptions): Promise<void> => void started.push(options);
  const env = { FRONTDOOR_ENROLLMENT_TOKEN: 'CODE', FRONTDOOR_API_URL: 'https://c' };
  const config = join(folder(), 'c.yml');
  writeFileSync(config, 'shares: []\n');
  const args = [
    '--allow-target',
    '10.0.0.0/8:80',
    '--allow-target',
    '[::1]:1',
    '--config',
    config,
    '--max-circuits',
    '5',
    '--proxy',
    'none',
  ];
  const ran = await runCli(['agent', 'start', '--data-dir', '/d', ...args], env, {}, { agentStart: start });
  assert.equal(ran.code, 0);
  assert.deepEqual(started, [
    {
      dataDir: '/d',
      socket: '/d/agent.sock',
      api: 'https://c',
      enrollmentToken: new Secret('CODE'),
      enrollmentTokenFile: undefined,
      name: undefined,
      metricsListen: undefined,
      proxy: new Secret('none'),
      ca: undefined,
      targetCa: undefined,
      targetClientCertificate: undefined,
      targetClientKey: undefined,
      allowTarget: ['10.0.0.0/8:80', '[::1]:1'],
      config,
      maxCircuits: 5,
      logLevel: 'info',
      logFormat: 'auto',
    },
  ]);
  assert.equal(started[0]?.proxy?.reveal(), 'none');
  const agentStart = (): never => {
    throw new FrontdoorError('notFound', 'enrollment-code-refused', 'used or expired; create a new one');
  };
  const failing = await runCli(['agent', 'start'], {}, {}, { agentStart });
  assert.deepEqual(failing, { out: '', err: 'frontdoor: used or expired; create a new one\n', code: 5 });
  assert.equal(
    (await runCli(['agent', 'start', '--max-circuits', '0'], {}, {}, { agentStart: start })).code,
    2,
  );
});

async function openApi(status: number, json: unknown): Promise<FakeApi> {
  const api = await fakeApi(() => ({ status, json }));
  cleanups.push(() => api.close());
  return api;
}

const credentials = { FRONTDOOR_ACCOUNT_ID: 'acc', FRONTDOOR_API_TOKEN: 'tok' };

test('a created router leaves its token in a file of its owner alone, and never on the screen', async () => {
  const api = await openApi(201, { id: 'r1', name: 'east', token: 'JWT.SECRET.X' });
  const file = join(folder(), 'east.jwt');
  const ran = await runCli(['fabric', 'router', 'create', 'east', '-o', file, '--api', api.url], credentials);
  assert.equal(ran.code, 0, ran.err);
  assert.equal(readFileSync(file, 'utf8'), 'JWT.SECRET.X\n');
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.doesNotMatch(ran.out, /SECRET/);
  const [call] = api.seen;
  assert.equal(`${call?.request.method} ${call?.request.url}`, 'POST /fabric/routers');
  assert.equal(call?.request.headers.authorization, 'Basic acc:tok');
  assert.equal(call?.body, '{"name":"east"}');
});

test('a refused or impossible creation leaves no file, and an existing file is kept', async () => {
  const api = await openApi(403, { error: 'insufficient_scope', message: 'needs frontdoor.admin' });
  const file = join(folder(), 'gw.jwt');
  const ran = await runCli(['fabric', 'gateway', 'create', 'gw', '-o', file, '--api', api.url], credentials);
  assert.deepEqual(ran, { out: '', err: 'frontdoor: needs frontdoor.admin\n', code: 4 });
  assert.equal(existsSync(file), false);
  writeFileSync(file, 'precious');
  assert.match(
    (await runCli(['fabric', 'gateway', 'create', 'gw', '-o', file, '--api', api.url], credentials)).err,
    /cannot write/,
  );
  assert.equal(readFileSync(file, 'utf8'), 'precious');
  assert.equal(api.seen.length, 1);
});

test('credentials are asked for, and never sent in clear to another machine', async () => {
  assert.match((await runCli(['fabric', 'router', 'list'])).err, /FRONTDOOR_API_TOKEN/);
  assert.match(
    (await runCli(['fabric', 'router', 'list', '--api', 'http://192.0.2.1:1'], credentials)).err,
    /must use https/,
  );
});

test('values that were given at the wrong place are not repeated, because they may be secrets', async () => {
  const lines = [
    ['whoami', '--tokne=hunter2'],
    ['whoami', 'hunter2'],
    ['gateway', '--acme-directory', 'ftp://u:hunter2@ca.example'],
  ];
  for (const args of lines) {
    const { err, out, code } = await runCli(args);
    assert.notEqual(code, 0);
    assert.doesNotMatch(`${err}${out}`, /hunter2/, args.join(' '));
  }
});
