import assert from 'node:assert/strict';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { connect } from 'node:tls';
import { isDeepStrictEqual } from 'node:util';
import { ManualClock, silentLog } from '#base';
import { JsonClient } from '#net/http';
import { EdgeApiClient, enrollIdentity } from '#sdk';
import { makeTestAuthority, type TestIdentity } from '../../../test/support/certificates.ts';
import { until } from '../../../test/support/deadline.ts';
import { postgresSkip, sharedPostgres } from '../../../test/support/postgres.ts';
import { startControlPlane } from './control-plane.ts';
import type { ControlPlane, ControlPlaneOptions } from './control-plane-options.ts';
import { parsePublicApiUrl } from './public-api-url.ts';
import '../pki/edge-api-key-fixture.ts';

let folder: string;
let api: TestIdentity;
let control: ControlPlane | undefined;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'frontdoor-control-'));
  api = await (await makeTestAuthority()).issue('localhost');
});
afterEach(async () => {
  await control?.close();
  control = undefined;
  rmSync(folder, { recursive: true });
});

async function start(more: Partial<ControlPlaneOptions>): Promise<ControlPlane> {
  return (control = await startControlPlane({
    dataDir: folder,
    listenHost: '127.0.0.1',
    advertiseHost: 'localhost',
    apiPort: 0,
    edgeApiPort: 0,
    ctrlPort: 0,
    zone: 'share.localhost',
    frontendUrls: () => [],
    log: silentLog,
    ...more,
  }));
}

test('a start without the database of its keys is refused, and makes no new one', async () => {
  await start({});
  await control?.close();
  control = undefined;
  for (const name of readdirSync(folder).filter((file) => file.startsWith('control.db')))
    rmSync(join(folder, name));
  await assert.rejects(start({}), {
    code: 'no-database',
    message: /restore it from a backup.*move secrets\.key away/,
  });
  assert.ok(!readdirSync(folder).includes('control.db'));
  rmSync(join(folder, 'secrets.key'));
  await start({});
});

test('a first start with a clock that cannot be right is refused, and makes no keys', async () => {
  const clock = new ManualClock(0);
  await assert.rejects(start({ clock }), {
    code: 'clock-wrong',
    message: /says 1970-01-01T00:00:00.000Z, and this program was made after 2026/,
  });
  assert.ok(!readdirSync(folder).includes('secrets.key'));
});

test('clients reach the edge API under each advertised name, and get all of them', async () => {
  const { edgeApiUrl, createFabricNode } = await start({
    moreAdvertiseHosts: ['other.localhost', '127.0.0.1'],
  });
  const { port, hostname } = new URL(edgeApiUrl);
  assert.equal(hostname, 'localhost');
  const { identity } = await enrollIdentity({ jwt: (await createFabricNode('gateway', 'g')).token });
  const socket = connect({
    port: Number(port),
    host: '127.0.0.1',
    ca: identity.caPem,
    servername: 'other.localhost',
  });
  await once(socket, 'secureConnect', { signal: AbortSignal.timeout(30_000) });
  socket.destroy();
  const client = new EdgeApiClient({ identity, log: silentLog });
  await client.session();
  const urls = ['localhost', 'other.localhost', '127.0.0.1'].map((host) => `https://${host}:${port}`);
  await until(
    'the list of addresses',
    () => client.connection.controlPlanes,
    (listed) => isDeepStrictEqual(listed, urls),
  );
  await client.close();
});

test('the link of the first start is for the person whose address is configured', async () => {
  const { consoleUrl, consoleLink } = await start({ firstOperatorEmail: 'ann@example.com' });
  const { origin, hash } = new URL(consoleLink!);
  const page = await fetch(`${consoleUrl}/welcome`, {
    method: 'POST',
    headers: { origin, 'sec-fetch-site': 'same-origin' },
    body: new URLSearchParams({ code: hash.slice(1) }),
  });
  assert.match(await page.text(), /name="email"[^>]* value="ann@example\.com"/);
});

test('without a console, all below its path is a 404 that names the switch, and nobody is invited', async () => {
  const { apiUrl, consoleUrl, consoleLink, firstStart } = await start({
    hasConsole: false,
    publicApiUrl: parsePublicApiUrl('https://api.example.com/base'),
  });
  assert.deepEqual([consoleUrl, consoleLink], [undefined, undefined]);
  const client = new JsonClient({ origin: new URL(apiUrl).origin });
  const authorization = `Basic ${firstStart!.accountId}:${firstStart!.apiToken}`;
  for (const method of ['GET', 'POST'] as const) {
    for (const path of [
      '',
      '?x',
      '/',
      '/log-in',
      '/welcome',
      '/page.js',
      '/assets/main.js',
      '/shares',
      '/api/caller',
      '/api/search?q=x',
    ]) {
      const headers = { authorization, origin: apiUrl, 'frontdoor-console': '1' };
      const answer = await client.request({ method, path: `/base/console${path}`, headers });
      assert.equal(answer.status, 404, path);
      assert.match(answer.text, /"The console is switched off at this control plane \(--console off\)"/);
      assert.equal(answer.headers['set-cookie'], undefined);
    }
  }
  for (const path of ['/base/consoles', '/console']) {
    const other = await client.request({ method: 'GET', path });
    assert.deepEqual([other.status, /switched off/.test(other.text)], [404, false], path);
  }
  const headers = { authorization };
  assert.equal((await client.request({ method: 'GET', path: '/base/caller', headers })).status, 200);
  const asked = await client.request({ method: 'GET', path: '/base/invitations', headers });
  assert.equal((asked.json as { totalElements: number }).totalElements, 0);
  await client.close();
});

test('with a certificate the Management API speaks HTTPS under the advertised name, and nothing older than TLS 1.2', async () => {
  const { apiUrl, firstStart } = await start({ apiTls: api });
  const { host, port } = new URL(apiUrl);
  assert.equal(apiUrl, `https://localhost:${port}`);
  const { frontdoorId, accountId, apiToken } = firstStart!;
  const client = new JsonClient({ origin: apiUrl, ca: api.ca });
  const authorization = `Basic ${accountId}:${apiToken}`;
  const path = `/frontdoor/${frontdoorId}`;
  assert.equal((await client.request({ method: 'GET', path, headers: { authorization } })).status, 200);
  assert.equal((await client.request({ method: 'GET', path })).status, 401);
  await client.close();
  const plain = new JsonClient({ origin: `http://${host}` });
  const inClear = await plain.request({ method: 'GET', path }).then(
    ({ status }) => status,
    () => 0,
  );
  assert.ok(inClear === 0 || inClear === 400, `plain HTTP is answered ${inClear}`);
  await plain.close();
  const old = connect({
    port: Number(port),
    host: '127.0.0.1',
    ca: api.ca,
    maxVersion: 'TLSv1.1',
    minVersion: 'TLSv1.1',
    ciphers: 'DEFAULT@SECLEVEL=0',
  });
  const [error] = (await once(old, 'error', { signal: AbortSignal.timeout(30_000) })) as [
    NodeJS.ErrnoException,
  ];
  assert.equal(error.code, 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION');
});

test('the Management API has a certificate of the own authority, by which clients verify it also after a rotation', async () => {
  const file = join(folder, 'api-ca.pem');
  const authorities = (): number => readFileSync(file, 'utf8').split('BEGIN CERTIFICATE').length - 1;
  const { apiUrl, firstStart } = await start({ listenHost: '0.0.0.0', ownApiAuthorityFile: file });
  assert.match(apiUrl, /^https:\/\/localhost:/);
  assert.equal(authorities(), 2);
  const { accountId, apiToken } = firstStart!;
  const headers = { authorization: `Basic ${accountId}:${apiToken}` };
  const ask = async (method: 'GET' | 'POST', path: string): Promise<number> => {
    const client = new JsonClient({ origin: apiUrl, ca: readFileSync(file, 'utf8') });
    const { status } = await client.request({
      method,
      path,
      headers,
      body: method === 'GET' ? undefined : {},
    });
    await client.close();
    return status;
  };
  assert.equal(await ask('POST', '/authorities/rotation'), 200);
  await until('the new authority in the file', authorities, (count) => count === 3);
  assert.equal(await ask('GET', '/authorities'), 200);
});

test('beyond loopback the Management API needs a certificate: its tokens are secrets', async () => {
  await assert.rejects(start({ listenHost: '0.0.0.0' }), { code: 'api-tls-missing' });
  const { apiUrl } = await start({ listenHost: '0.0.0.0', apiTls: api });
  const client = new JsonClient({ origin: apiUrl, ca: api.ca });
  assert.equal((await client.request({ method: 'GET', path: '/frontdoor' })).status, 401);
  await client.close();
});

test('behind a proxy, announced addresses are those that clients use', async () => {
  const publicApiUrl = parsePublicApiUrl('https://api.example.com/v1/');
  const { apiUrl, baseUrl, firstStart } = await start({ publicApiUrl });
  assert.equal(baseUrl, 'https://api.example.com/v1');
  const { origin, pathname } = new URL(apiUrl);
  assert.equal(pathname, '/v1');
  const client = new JsonClient({ origin });
  const { clientId: client_id, clientSecret: client_secret, organizationId, frontdoorId } = firstStart!;
  const token = await client.request({
    method: 'POST',
    path: '/v1/oauth/token',
    body: {
      grant_type: 'client_credentials',
      client_id,
      client_secret,
      audience: 'https://api.example.com/v1/frontdoor',
    },
  });
  const authorization = `Bearer ${(token.json as { access_token: string }).access_token}`;
  const found = await client.request({
    method: 'GET',
    path: `/v1/frontdoor?organizationId=${organizationId}`,
    headers: { authorization },
  });
  assert.equal((found.json as { id: string }).id, frontdoorId);
  const document = await client.request({ method: 'GET', path: '/v1/openapi.json' });
  const { servers } = document.json as { servers: { url: string }[] };
  assert.deepEqual(servers, [{ url: 'https://api.example.com/v1' }]);
  assert.equal((await client.request({ method: 'GET', path: '/openapi.json' })).status, 404);
  await client.close();
});

test('a public address that is none is refused by its option', () => {
  for (const text of ['api.example.com', 'ftp://a', 'https://u:p@a', 'https://a/?q=1', 'https://a/%41', '']) {
    assert.throws(
      () => parsePublicApiUrl(text),
      { code: 'public-api-url', message: /--public-api-url/ },
      text,
    );
  }
});

test('a certificate that does not go with its key is refused by name', async () => {
  const other = await (await makeTestAuthority()).issue('localhost');
  await assert.rejects(start({ apiTls: { cert: api.cert, key: other.key } }), {
    code: 'tls-files',
    message: /certificate and key of the Management API/,
  });
  await assert.rejects(start({ apiTls: { cert: 'nonsense', key: other.key } }), { code: 'tls-files' });
});

test(
  'over the database of an installation it does not start without its key file, and makes no other',
  { skip: postgresSkip },
  async () => {
    const database = await (await sharedPostgres()).createDatabase();
    const { firstStart } = await start({ database });
    assert.ok(firstStart);
    const elsewhere = mkdtempSync(join(tmpdir(), 'frontdoor-control-'));
    const other = {
      code: 'key-file',
      message: /there is no .*secrets\.key.*copy it from another control plane/,
    };
    const first = control;
    await assert.rejects(start({ database, dataDir: elsewhere }), other);
    assert.deepEqual(readdirSync(elsewhere), []);
    copyFileSync(join(folder, 'secrets.key'), join(elsewhere, 'secrets.key'));
    const second = await start({ database, dataDir: elsewhere });
    assert.equal(second.firstStart, undefined);
    await second.close();
    control = first;
    rmSync(elsewhere, { recursive: true });
  },
);
