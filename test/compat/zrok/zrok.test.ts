// zrok 2.0.4, unmodified, at our edge management API and router: bootstrap, an environment, a private share and its
// access, a public share at its own frontend, and the bytes of both in its metrics. ZROK_BIN names `zrok2`; without it: skipped.
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after, before, test } from 'node:test';
import { silentLog } from '#base';
import type { Up } from '../../../bin/up.ts';
import { startProcess, type Running } from '../../support/child-process.ts';
import { callCommand } from '../../support/command-line.ts';
import { until } from '../../support/deadline.ts';
import { freePort } from '../../support/free-port.ts';
import { digestOf, startPrivateService, type PrivateService } from '../../support/private-service.ts';
import { startLocalUp } from '../../support/local-up.ts';
import { httpGet, type HttpAnswer } from '../../support/world.ts';

const BINARY = process.env['ZROK_BIN'] ?? '';
const skip = BINARY === '' ? 'ZROK_BIN is not set' : false;
const BODY_BYTES = 20_000_000;
const READY_MS = 60_000;
/** The router of `up` reports usage each minute, one interval after its end. */
const REPORTED_MS = 200_000;
const ADMIN_TOKEN = 'a token of the test';

let folder: string;
let service: PrivateService;
let up: Up;
let controllerPort: number;
let account: string;
/** The identity that the bootstrap made for the public frontend. */
let frontendIdentity: string;
/** Stands for InfluxDB: the lines that zrok writes. */
let influx: Server;
const lines: string[] = [];
const running: Running[] = [];

before(async () => {
  if (skip !== false) return;
  folder = mkdtempSync(join(tmpdir(), 'frontdoor-zrok-'));
  mkdirSync(join(folder, 'home'));
  const dataDir = join(folder, 'data');
  service = await startPrivateService();
  const start = (): Promise<Up> =>
    startLocalUp({ dataDir, access: { edgeManagement: true }, log: silentLog });
  await (await start()).close(0);
  const secrets = join(folder, 'admin.json');
  await callCommand(['admins', 'create', '--data-dir', dataDir, '--out', secrets]);
  up = await start();
  controllerPort = await freePort();
  const { username, password } = JSON.parse(readFileSync(secrets, 'utf8')) as Record<string, string>;
  const { edgeApiUrl } = up.control;
  const api = `${edgeApiUrl}/edge/management/v1`;
  const influxPort = await freePort();
  influx = createServer((request, response) => {
    request.setEncoding('utf8').on('data', (text: string) => lines.push(...text.split('\n')));
    request.on('end', () => response.writeHead(204).end());
  }).listen(influxPort, '127.0.0.1');
  const source = {
    type: 'websocketSource',
    api_endpoint: edgeApiUrl,
    username,
    password,
    websocket_endpoint: `${edgeApiUrl.replace('https', 'wss')}/fabric/v1/ws-api`,
  };
  const file = {
    v: 4,
    admin: { secrets: [ADMIN_TOKEN] },
    endpoint: { host: '127.0.0.1', port: controllerPort },
    store: { path: join(folder, 'zrok.db'), type: 'sqlite3' },
    ziti: { api_endpoint: api, username, password },
    metrics: {
      agent: { source },
      influx: { url: `http://127.0.0.1:${influxPort}`, bucket: 'zrok', org: 'zrok', token: 'x' },
    },
  };
  // JSON is YAML.
  writeFileSync(join(folder, 'ctrl.yml'), JSON.stringify(file));
  const printed = await zrok('admin', 'bootstrap', 'ctrl.yml');
  frontendIdentity = /create frontend ([0-9a-f-]{36})/.exec(printed)?.[1] ?? '';
  launch('controller', 'ctrl.yml');
  await until(
    'the controller of zrok',
    () =>
      httpGet(controllerPort, 'localhost', '/api/v2/version').then(
        ({ status }) => status,
        () => 0,
      ),
    (status) => status !== 0,
    READY_MS,
  );
  account = (await zrok('admin', 'create', 'account', 'ops@example.com', 'a password'))
    .trim()
    .split('\n')
    .at(-1)!;
});
after(async () => {
  for (const one of running.reverse()) await one.stop('SIGINT');
  influx?.close();
  await up?.close(0);
  await service?.close();
  if (folder !== undefined) rmSync(folder, { recursive: true });
});

function launch(...args: string[]): Running {
  const env = {
    HOME: join(folder, 'home'),
    ZROK2_API_ENDPOINT: `http://127.0.0.1:${controllerPort}`,
    ZROK2_ADMIN_TOKEN: ADMIN_TOKEN,
  };
  const started = startProcess(BINARY, args, env, folder);
  running.push(started);
  return started;
}

/** Runs a command to its end and returns what it printed. */
async function zrok(...args: string[]): Promise<string> {
  const started = launch(...args);
  const { child } = started;
  await until(
    'the end of a command',
    () => Promise.resolve(child.exitCode),
    (code) => code !== null,
    READY_MS,
  );
  assert.equal(child.exitCode, 0, `zrok ${args.join(' ')}: ${started.tail()}`);
  return started.tail();
}

async function untilPrinted(started: Running, pattern: RegExp): Promise<string> {
  const { value } = await until(
    `${pattern}`,
    () => Promise.resolve(pattern.exec(started.tail())?.[1]),
    (found) => found !== undefined,
    READY_MS,
  );
  return value!;
}

async function untilServed(get: (path: string) => Promise<HttpAnswer>): Promise<void> {
  const answered = () =>
    get('/').then(
      ({ status }) => status,
      () => 0,
    );
  await until('an answer through zrok', answered, (status) => status === 200, READY_MS);
  const { body } = await get(`/bytes/${BODY_BYTES}`);
  assert.equal(digestOf([body]), digestOf(service.bytes(BODY_BYTES)));
}

/** Bytes that zrok has counted for a share at one of its sides. */
function countedBytes(share: string, namespace: 'frontend' | 'backend', direction: 'rx' | 'tx'): number {
  return lines
    .filter((line) => line.startsWith('xfer,') && line.includes(`namespace=${namespace},share=${share}`))
    .reduce((sum, line) => sum + Number(new RegExp(`${direction}=(\\d+)i`).exec(line)?.[1] ?? 0), 0);
}

async function untilCounted(share: string): Promise<void> {
  const least = () => Math.min(countedBytes(share, 'frontend', 'tx'), countedBytes(share, 'backend', 'tx'));
  await until(`the bytes of ${share}`, least, (bytes) => bytes >= BODY_BYTES, REPORTED_MS);
}

test(
  'zrok shares and accesses privately, and publicly at its frontend, through our router',
  { skip },
  async () => {
    const target = `http://127.0.0.1:${service.port}`;
    await zrok('enable', account, '--headless');
    const share = launch('share', 'private', target, '--headless');
    const token = await untilPrinted(share, /access private ([a-z0-9]+)/);
    const port = await freePort();
    const access = launch('access', 'private', token, '--headless', '--bind', `127.0.0.1:${port}`);
    await untilServed((path) => httpGet(port, 'zrok', path));
    await access.stop('SIGINT');
    await share.stop('SIGINT');

    const made = await zrok('admin', 'create', 'frontend', frontendIdentity, 'public');
    const frontend = /created global public frontend '(\w+)'/.exec(made)?.[1] ?? '';
    await zrok('admin', 'create', 'namespace', '-o', '-t', 'public', 'zrok.localhost');
    await zrok('admin', 'create', 'namespace-frontend', 'public', frontend);
    const publicPort = await freePort();
    const file = { v: 4, address: `127.0.0.1:${publicPort}`, host_match: 'zrok.localhost' };
    writeFileSync(join(folder, 'frontend.yml'), JSON.stringify(file));
    launch('access', 'public', 'frontend.yml');
    const open = launch('share', 'public', target, '--headless');
    const host = await untilPrinted(open, /([a-z0-9]+\.zrok\.localhost)/);
    await untilServed((path) => httpGet(publicPort, host, path));
    for (const one of [token, host.split('.')[0]!]) await untilCounted(one);
    await open.stop('SIGINT');
    await zrok('disable');
  },
);
