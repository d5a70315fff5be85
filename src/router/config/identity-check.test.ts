// `router check --files`: certificates and keys that the file names.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { makeTestAuthority } from '../../../test/support/certificates.ts';
import { CheckedFolder, summaryOf, WHOLE_FILE } from './testing/router-file-fixture.ts';
import type { ConfigProblem } from './router-config.ts';
import { loadEnrollableRouterConfig, loadRunnableRouterConfig } from './router-file.ts';

const folder = new CheckedFolder();
after(() => folder.close());
const authority = await makeTestAuthority();
const client = await authority.issue('router-1', { days: 365 });
const server = await authority.issue('router-1 server', { days: 365 });
const other = await authority.issue('other');

const FILES = {
  cert: folder.write('cert.pem', client.cert),
  key: folder.write('key.pem', client.key),
  server: folder.write('server.pem', server.cert),
  serverKey: folder.write('server.key', server.key),
  ca: folder.write('ca.pem', authority.ca),
  otherKey: folder.write('other.key', other.key),
  text: folder.write('text.pem', 'nothing of the kind'),
  garbage: folder.write('garbage.pem', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'),
};

const IDENTITY = {
  cert: FILES.cert,
  key: FILES.key,
  server_cert: FILES.server,
  server_key: FILES.serverKey,
  ca: FILES.ca,
};

function check(
  identity: unknown,
  more: Readonly<Record<string, unknown>> = {},
): { status: number; problems: ConfigProblem[] } {
  const text = JSON.stringify(
    { v: 3, ctrl: WHOLE_FILE.ctrl, csr: WHOLE_FILE.edge.csr, identity, ...more },
    undefined,
    1,
  );
  const { status, out } = folder.check(folder.write('router.yml', text), { json: true, files: true });
  return { status, ...(JSON.parse(out) as { problems: ConfigProblem[] }) };
}

test('an identity whose files fit each other has no problem; without --files nobody looks', () => {
  assert.deepEqual([check(IDENTITY).status, check(IDENTITY).problems], [0, []]);
  assert.deepEqual(
    check({ cert: `pem:${client.cert}`, key: client.key, ca: `file://${FILES.ca}` }).problems,
    [],
  );
  const missing = folder.write('missing.yml', JSON.stringify(WHOLE_FILE));
  assert.deepEqual([folder.check(missing).status, folder.check(missing, { files: true }).status], [0, 1]);
});

test('all files that are missing, or without certificates or keys, are reported by their key', () => {
  const { status, problems } = check({
    cert: FILES.text,
    key: FILES.text,
    server_cert: FILES.garbage,
    server_key: `${folder.path}/none.key`,
    ca: FILES.text,
  });
  assert.equal(status, 1);
  assert.deepEqual(summaryOf(problems).sort(), [
    'error certificate identity.ca',
    'error certificate identity.cert',
    'error certificate identity.server_cert',
    'error file identity.server_key',
  ]);
  assert.ok(problems.every(({ line }) => line > 1));
  assert.deepEqual(summaryOf(check({ ...IDENTITY, key: FILES.text, server_key: FILES.serverKey }).problems), [
    'error key identity.key',
  ]);
});

test('a key that does not belong to its certificate is reported', () => {
  assert.deepEqual(summaryOf(check({ ...IDENTITY, key: FILES.otherKey }).problems), [
    'error key identity.key',
  ]);
  assert.deepEqual(summaryOf(check({ ...IDENTITY, server_key: FILES.otherKey }).problems), [
    'error key identity.server_key',
  ]);
  const { server_key: _none, ...withoutServerKey } = IDENTITY;
  assert.deepEqual(summaryOf(check(withoutServerKey).problems), ['error key identity.key']);
  const alternates = [{ server_cert: FILES.server, server_key: FILES.otherKey }];
  assert.deepEqual(summaryOf(check({ ...IDENTITY, alt_server_certs: alternates }).problems), [
    'error key identity.alt_server_certs[0].server_key',
  ]);
});

test('a certificate that has expired is an error, one that ends within 30 days a warning, with file and date', async () => {
  const dayIn = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
  const dated = async (
    name: string,
    days: number,
    startsInDays?: number,
  ): Promise<Record<string, string>> => {
    const { cert, key } = await authority.issue(name, { days, startsInDays });
    return { server_cert: folder.write(`${name}.pem`, cert), server_key: folder.write(`${name}.key`, key) };
  };
  const expired = await dated('expired', -3, -40);
  const near = await dated('near', 29.5, -70);
  // A new certificate of an authority that issues for 30 days.
  const young = await dated('young', 29.5, 0);
  const far = await dated('far', 31);
  const early = await dated('early', 90, 2);
  const about = (pair: Record<string, string>): (string | undefined)[] =>
    check({ ...IDENTITY, ...pair }).problems.map(({ severity, path, rule, message }) =>
      [severity, path, rule, message].join(' '),
    );
  assert.deepEqual(about(expired), [
    `error identity.server_cert expiry ${expired['server_cert']}: the certificate CN=expired expired on ${dayIn(-3)}`,
  ]);
  assert.deepEqual(about(near), [
    `warning identity.server_cert expiry ${near['server_cert']}: the certificate CN=near ends on ${dayIn(29.5)}, in 29 days; a running router renews it`,
  ]);
  assert.deepEqual(about(far), []);
  assert.deepEqual(about(young), []);
  assert.deepEqual(about(early), [
    `error identity.server_cert expiry ${early['server_cert']}: the certificate CN=early is not valid before ${dayIn(2)}`,
  ]);
  assert.deepEqual(
    [check({ ...IDENTITY, ...expired }).status, check({ ...IDENTITY, ...near }).status],
    [1, 0],
  );
  assert.deepEqual(summaryOf(check({ ...IDENTITY, alt_server_certs: [expired] }).problems), [
    'error expiry identity.alt_server_certs[0].server_cert',
  ]);
  // A bundle may hold authorities whose time is over, beside one that counts.
  const { cert } = await authority.issue('former', { days: -1, startsInDays: -9 });
  const bundle = folder.write('bundle.pem', `${authority.ca}\n${cert}`);
  assert.deepEqual(summaryOf(check({ ...IDENTITY, ca: bundle }).problems), ['warning expiry identity.ca']);
  assert.deepEqual(summaryOf(check({ ...IDENTITY, ca: folder.write('former.pem', cert) }).problems), [
    'error expiry identity.ca',
  ]);
  // A router starts nevertheless: the files can be replaced while it runs.
  const text = {
    v: 3,
    ctrl: WHOLE_FILE.ctrl,
    csr: WHOLE_FILE.edge.csr,
  };
  const warned = (identity: Record<string, string>): string => {
    const content = JSON.stringify({ ...text, identity: { ...IDENTITY, ...identity } });
    const { warnings } = loadRunnableRouterConfig(folder.write('run.yml', content), {});
    return warnings.map(({ message }) => message).join();
  };
  assert.match(warned(expired), /CN=expired expired on/);
  assert.match(warned(near), /CN=near ends on/);
});

test('the identity of a web server is looked at too', () => {
  const web = [{ ...WHOLE_FILE.web[0], identity: { ...IDENTITY, key: FILES.otherKey } }];
  assert.deepEqual(summaryOf(check(IDENTITY, { web }).problems), ['error key web[0].identity.key']);
});

test('an advertised host has to be a name of a server certificate, IPv6 as an address', () => {
  const advertising = (host: string): string[] =>
    summaryOf(
      check(IDENTITY, {
        edge: {},
        link: {
          listeners: [{ binding: 'transport', bind: 'tls:127.0.0.1:6000', advertise: `${host}:6000` }],
        },
        listeners: [
          { binding: 'edge', address: 'tls:127.0.0.1:3022', options: { advertise: `${host}:3022` } },
          { binding: 'transport', address: 'tls:127.0.0.1:3023', advertise: 'elsewhere.example:3023' },
        ],
      }).problems,
    );
  assert.deepEqual(advertising('localhost'), []);
  assert.deepEqual(advertising('127.0.0.1'), []);
  for (const host of ['elsewhere.example', '192.0.2.1', '[2001:db8::1]'])
    assert.deepEqual(advertising(host), [
      'error advertise link.listeners[0].advertise',
      'error advertise listeners[0].options.advertise',
    ]);
});

test('enrolling needs a request that names every advertised host, or an alternate certificate that does', () => {
  const path = 'link.listeners[0].advertise';
  const enrollable = (host: string, sans: unknown, more: Readonly<Record<string, unknown>> = {}): void => {
    const link = {
      listeners: [{ binding: 'transport', bind: 'tls:127.0.0.1:6000', advertise: `${host}:6000` }],
    };
    const file = { v: 3, ctrl: {}, identity: { ...IDENTITY, ...more }, csr: { sans }, link };
    loadEnrollableRouterConfig(folder.write('enroll.yml', JSON.stringify(file)), {});
  };
  enrollable('Router.example', { dns: ['router.Example'] });
  enrollable('a.router.example', { dns: ['*.router.example'] });
  enrollable('[2001:db8::1]', { ip: ['2001:DB8:0::1'] });
  const alternates = [{ server_cert: FILES.server, server_key: FILES.serverKey }];
  enrollable('localhost', { dns: ['router.example'] }, { alt_server_certs: alternates });
  for (const [host, sans] of [
    ['localhost', { dns: ['router.example'] }],
    ['router.example', { dns: ['*.router.example'] }],
    ['a.b.router.example', { dns: ['*.router.example'] }],
    ['192.0.2.1', { ip: ['192.0.2.2'] }],
    ['router.example', { uri: ['https://router.example'] }],
  ] as const)
    assert.throws(
      () => enrollable(host, sans),
      (error: Error) => error.message.includes(`error ${path}: ${host} is not`),
    );
});

test('a router does not start with names that its peers would refuse', () => {
  const text = (host: string): string =>
    JSON.stringify({
      v: 3,
      ctrl: WHOLE_FILE.ctrl,
      csr: WHOLE_FILE.edge.csr,
      identity: IDENTITY,
      link: { listeners: [{ binding: 'transport', bind: 'tls:127.0.0.1:6000', advertise: `${host}:6000` }] },
    });
  assert.ok(loadRunnableRouterConfig(folder.write('good.yml', text('localhost')), {}));
  assert.throws(
    () => loadRunnableRouterConfig(folder.write('bad.yml', text('elsewhere.example')), {}),
    /link\.listeners\[0\]\.advertise: elsewhere\.example is no name of the server certificates, which are for: DNS:localhost/,
  );
});
