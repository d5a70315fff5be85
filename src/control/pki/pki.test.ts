import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { verify, X509Certificate } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { ManualClock, silentLog, type Clock, type Log } from '#base';
import { makeKeyRequest, type RequestDetails } from '#sdk';
import { ephemeralSecrets } from '../secrets/key-file.ts';
import type { Store } from '../store/mod.ts';
import { openPki, type Pki } from './pki.ts';
import { openEmbedded } from '../store/engine/migrated-copy-fixture.ts';
import './edge-api-key-fixture.ts';

const DAY_MS = 86_400_000;
const secrets = ephemeralSecrets();
let folder: string;
let clock: ManualClock;
let store: Store;
let pki: Pki;

function open(
  dataDir = folder,
  hosts = ['edge.example', '192.0.2.7'],
  at: Clock = clock,
  of: Store = store,
  log: Log = silentLog,
): Promise<Pki> {
  return openPki({
    dataDir,
    db: of.db,
    secrets,
    trustDomain: 'test.frontdoor',
    hosts,
    controllerId: 'ctrl-1',
    clock: at,
    log,
  });
}

/** OpenSSL makes the request, as another implementation would. */
function csr(subject: string, ...more: string[]): string {
  const key = join(folder, 'csr.key');
  const options = more.includes('-newkey')
    ? more
    : ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', ...more];
  return execFileSync('openssl', ['req', '-new', '-nodes', '-keyout', key, '-subj', subject, ...options], {
    stdio: ['ignore', 'pipe', 'ignore'],
  }).toString();
}

async function issue(id: string, pem = csr(`/CN=${id}`)): Promise<string> {
  const answer = await pki.issueClient(pem, { id, lifetimeDays: 30 });
  assert.ok('issued' in answer, JSON.stringify(answer));
  return answer.issued.chainPem;
}

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'frontdoor-pki-'));
  clock = new ManualClock(Date.now());
  store = await openEmbedded();
  pki = await open();
});
after(async () => {
  pki.close();
  await store.close();
  rmSync(folder, { recursive: true });
});

/** Another installation, for one test: its own database and data directory. */
async function elsewhere(run: (dataDir: string, of: Store) => Promise<void>): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'frontdoor-pki-'));
  const of = await openEmbedded();
  try {
    await run(dataDir, of);
  } finally {
    await of.close();
    rmSync(dataDir, { recursive: true });
  }
}

test('OpenSSL verifies every chain strictly, for its purpose and its names', async () => {
  const root = join(folder, 'root.pem');
  const intermediate = join(folder, 'intermediate.pem');
  const [second, first] = pki.caBundlePem.split(/(?<=-----END CERTIFICATE-----\n)/);
  writeFileSync(root, first!);
  writeFileSync(intermediate, second!);
  const leaf = join(folder, 'leaf.pem');
  const strict = ['verify', '-x509_strict', '-CAfile', root, '-untrusted', intermediate];
  const check = (pem: string, ...purpose: string[]): string => {
    writeFileSync(leaf, pem);
    return execFileSync('openssl', [...strict, ...purpose, leaf], { stdio: 'pipe' }).toString();
  };
  assert.match(check(await issue('env-1'), '-purpose', 'sslclient'), /: OK/);
  for (const host of ['edge.example', 'localhost']) {
    assert.match(check(pki.edgeServer.certPem, '-purpose', 'sslserver', '-verify_hostname', host), /: OK/);
  }
  for (const ip of ['192.0.2.7', '127.0.0.1']) {
    assert.match(check(pki.edgeServer.certPem, '-purpose', 'sslserver', '-verify_ip', ip), /: OK/);
  }
  assert.match(check(pki.controlServer.certPem, '-purpose', 'sslserver'), /: OK/);
  assert.match(check(pki.controlServer.certPem, '-purpose', 'sslclient'), /: OK/);
  assert.throws(() => check(pki.edgeServer.certPem, '-purpose', 'sslclient'));
});

test('the edge leaf is RSA-2048, the control leaf P-256 with the controller id as common name', () => {
  const edge = new X509Certificate(pki.edgeServer.certPem);
  assert.deepEqual(
    [edge.publicKey.asymmetricKeyType, edge.publicKey.asymmetricKeyDetails?.modulusLength],
    ['rsa', 2048],
  );
  const control = new X509Certificate(pki.controlServer.certPem);
  assert.equal(control.publicKey.asymmetricKeyDetails?.namedCurve, 'prime256v1');
  assert.equal(control.subject, 'CN=ctrl-1');
});

test('the bundle is PKCS#7 that OpenSSL reads, in lines of 64', () => {
  const text = pki.cacertsPkcs7Base64;
  const lines = text.trimEnd().split('\n');
  assert.ok(lines.slice(0, -1).every((line) => line.length === 64));
  const pem = `-----BEGIN PKCS7-----\n${text}-----END PKCS7-----\n`;
  const printed = execFileSync('openssl', ['pkcs7', '-print_certs'], { input: pem }).toString();
  const found = printed.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  assert.deepEqual(
    found.map((one) => new X509Certificate(one).fingerprint256),
    pki.caBundlePem
      .match(/-----BEGIN[^-]+-----[^-]+-----END[^-]+-----/g)
      ?.map((one) => new X509Certificate(one).fingerprint256),
  );
});

test('a client certificate has our subject and role, for any request', async () => {
  const asked = csr(
    '/C=US/O=OpenZiti/DC=x/CN=somebody',
    '-addext',
    'subjectAltName=URI:spiffe://test.frontdoor/router/r1,DNS:edge.example',
  );
  const leaf = new X509Certificate(await issue('env-1', asked));
  assert.equal(leaf.subject, 'CN=env-1');
  assert.equal(leaf.subjectAltName, 'URI:spiffe://test.frontdoor/identity/env-1');
  assert.deepEqual(leaf.keyUsage, ['1.3.6.1.5.5.7.3.2']);
  assert.equal(Date.parse(leaf.validFrom), Math.floor((clock.nowMs() - DAY_MS) / 1000) * 1000);
});

test('all key kinds of OpenZiti clients are certified, others are refused', async () => {
  for (const curve of ['P-256', 'P-384', 'P-521']) {
    await issue('env-1', csr('/CN=x', '-newkey', 'ec', '-pkeyopt', `ec_paramgen_curve:${curve}`));
  }
  await issue('env-1', csr('/CN=x', '-newkey', 'rsa:2048'));
  const refused = [
    csr('/CN=x', '-newkey', 'rsa:1024'),
    csr('/CN=x', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:secp256k1'),
    csr('/CN=x', '-newkey', 'ed25519'),
    csr('/CN=x', '-sha1'),
    'no PEM at all',
    '-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n',
    csr('/CN=x') + csr('/CN=y'),
    'x'.repeat(100_000),
  ];
  for (const pem of refused) {
    assert.ok(
      'problem' in (await pki.issueClient(pem, { id: 'env-1', lifetimeDays: 30 })),
      pem.slice(0, 200),
    );
  }
});

test('a request whose signature is not of its key is refused', async () => {
  const der = Buffer.from(csr('/CN=x').replaceAll(/-----[^-]+-----|\s/g, ''), 'base64');
  const subject = der.indexOf(Buffer.from([0x55, 0x04, 0x03])) + 5;
  der[subject] = der[subject]! ^ 1;
  const pem = `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64').replaceAll(/.{64}/g, '$&\n')}\n-----END CERTIFICATE REQUEST-----\n`;
  assert.deepEqual(await pki.issueClient(pem, { id: 'env-1', lifetimeDays: 30 }), {
    problem: 'the signature of the certificate request is wrong',
  });
});

const NAMES = 'DNS:router.example,IP:192.0.2.9,URI:https://router.example/a,email:ops@router.example';
const KEPT =
  'URI:spiffe://test.frontdoor/router/r1, DNS:router.example, IP Address:192.0.2.9, URI:https://router.example/a, email:ops@router.example';

function routerCsr(subject: string, names = NAMES): string {
  return csr(subject, '-utf8', '-addext', `subjectAltName=${names}`);
}

function issueRouter(pem: string, id = 'r1', isRenewal = false): ReturnType<Pki['issueRouter']> {
  return pki.issueRouter({ certCsr: pem, serverCertCsr: pem }, { id, lifetimeDays: 30, isRenewal });
}

test('a router gets a client and a server certificate with its names, under its own id alone', async () => {
  const pem = routerCsr('/C=DE/ST=Berlin/L=Berlin/O=Büro/OU=a/OU=#0c0141/DC=x/CN=r1');
  const answer = await issueRouter(pem);
  assert.ok('issued' in answer, JSON.stringify(answer));
  const client = new X509Certificate(answer.issued.chainPem);
  const server = new X509Certificate(answer.issued.serverChainPem);
  assert.deepEqual([client.keyUsage, server.keyUsage], [['1.3.6.1.5.5.7.3.2'], ['1.3.6.1.5.5.7.3.1']]);
  for (const leaf of [client, server]) {
    assert.equal(leaf.subjectAltName, KEPT);
    assert.equal(leaf.subject, 'C=DE\nST=Berlin\nL=Berlin\nO=Büro\nOU=a\nOU=\\#0c0141\nCN=r1');
  }
  const proof = pki.proveLeaf(client);
  assert.ok('leaf' in proof);
  assert.deepEqual([proof.leaf.role, proof.leaf.id], ['router', 'r1']);
  assert.ok('problem' in pki.proveLeaf(server));
  assert.deepEqual(await issueRouter(pem, 'r2'), { problem: 'the common name is not the router id' });
});

test('a router may request its own SPIFFE id, and gets it once', async () => {
  const answer = await issueRouter(routerCsr('/CN=r1', `URI:spiffe://test.frontdoor/router/r1,${NAMES}`));
  assert.ok('issued' in answer, JSON.stringify(answer));
  assert.equal(new X509Certificate(answer.issued.chainPem).subjectAltName, KEPT);
});

/** By our own generator, because OpenSSL refuses to request such subjects. */
async function requestWith(subject: RequestDetails['subject']): Promise<string> {
  const details = {
    hosts: ['router.example', '192.0.2.9'],
    uris: ['https://router.example/a'],
    emails: ['ops@router.example'],
  };
  const { csrPem } = await makeKeyRequest('r1', {
    ...details,
    subject: { organization: 'Example', ...subject },
  });
  return csrPem;
}

const requestFor = (name: string): string => routerCsr('/O=Example/CN=r1', `${name},${NAMES}`);

const NOT_ALLOWED: readonly (readonly [what: string, request: () => string | Promise<string>, RegExp])[] = [
  ['another router', () => requestFor('URI:spiffe://test.frontdoor/router/r2'), /r2 is a SPIFFE id/],
  ['an agent', () => requestFor('URI:spiffe://test.frontdoor/identity/env-1'), /is a SPIFFE id/],
  ['itself in capitals', () => requestFor('URI:SPIFFE://test.frontdoor/router/r1'), /is a SPIFFE id/],
  ['another trust domain', () => requestFor('URI:spiffe://example/router'), /is a SPIFFE id/],
  ['a country that is no code', () => requestWith({ country: 'Germany' }), /country must be two letters/],
  [
    'a long unit',
    () => requestWith({ organizationalUnit: 'é'.repeat(65) }),
    /organizationalUnit has more than 64/,
  ],
  ['a line of its own', () => requestWith({ locality: 'x\nCN=r2' }), /locality has characters that cannot/],
  ['another kind of name', () => requestFor('RID:1.2.3.4'), /1\.2\.3\.4 is no DNS name/],
  ['a host with a space', () => requestFor('DNS:a b'), /a b is no DNS name/],
];

test('a request for a name that a router cannot have is refused; a renewal leaves it out', async () => {
  for (const [what, request, problem] of NOT_ALLOWED) {
    const pem = await request();
    const refused = await issueRouter(pem);
    assert.match('problem' in refused ? refused.problem : 'issued', problem, what);
    const renewed = await issueRouter(pem, 'r1', true);
    assert.ok('issued' in renewed, what);
    const leaf = new X509Certificate(renewed.issued.chainPem);
    assert.equal(leaf.subjectAltName, KEPT, what);
    assert.equal(leaf.subject, 'O=Example\nCN=r1', what);
    assert.ok('leaf' in pki.proveLeaf(leaf), what);
  }
});

test('only leaves of our authority, within their dates and for clients, are proven', async () => {
  const leaf = new X509Certificate(await issue('env-1'));
  const proof = pki.proveLeaf(leaf);
  assert.ok('leaf' in proof);
  assert.deepEqual([proof.leaf.role, proof.leaf.id], ['identity', 'env-1']);
  await elsewhere(async (dataDir, of) => {
    const rogue = await open(dataDir, undefined, clock, of);
    assert.ok('problem' in rogue.proveLeaf(leaf));
    rogue.close();
  });
  for (const pem of [pki.edgeServer.certPem, pki.caBundlePem]) {
    assert.ok('problem' in pki.proveLeaf(new X509Certificate(pem)));
  }
  const late = new ManualClock(clock.nowMs() + 31 * DAY_MS);
  const later = await open(folder, undefined, late);
  assert.partialDeepStrictEqual(later.proveLeaf(leaf), {
    outOfDate: { role: 'identity' },
  });
  const refused = later.proveLeaf(leaf);
  assert.match(
    'problem' in refused ? refused.problem : '',
    /^certificate has expired \(it was valid until .*, and the clock of this machine says /,
  );
  later.close();
});

test('the enrollment token verifies with the key of the served leaf', () => {
  const jwt = pki.mintEnrollmentJwt({
    issuer: 'https://edge.example:1280',
    subject: 'env-1',
    jti: 'one-time',
    method: 'ott',
    expiresAtMs: 1_800_000_000_999,
    controlAddresses: ['tls:edge.example:6262'],
  });
  const [header, body, signature] = jwt.split('.');
  const leaf = new X509Certificate(pki.edgeServer.certPem);
  assert.ok(
    verify('sha256', Buffer.from(`${header}.${body}`), leaf.publicKey, Buffer.from(signature!, 'base64url')),
  );
  const decode = (part: string): unknown => JSON.parse(Buffer.from(part, 'base64url').toString());
  const kid = leaf.fingerprint.replaceAll(':', '').toLowerCase();
  assert.deepEqual(decode(header!), { alg: 'RS256', kid, typ: 'JWT' });
  assert.deepEqual(decode(body!), {
    iss: 'https://edge.example:1280',
    sub: 'env-1',
    aud: [''],
    exp: 1_800_000_000,
    jti: 'one-time',
    em: 'ott',
    ctrls: ['tls:edge.example:6262'],
  });
});

test('keys on disk are readable by their owner alone, and a second start finds the same authority', async () => {
  assert.equal(statSync(join(folder, 'pki', 'control.key')).mode & 0o777, 0o600);
  const again = await open();
  assert.equal(again.caBundlePem, pki.caBundlePem);
  assert.equal(again.edgeServer.certPem, pki.edgeServer.certPem);
  again.close();
});

test('the keys of the authorities and of the edge API stand in the database alone, sealed', async () => {
  assert.deepEqual(
    readdirSync(join(folder, 'pki')).filter((name) => /-ca|edge-api\.key/.test(name)),
    [],
  );
  const authorities = await store.db.selectFrom('authority').selectAll().orderBy('name').execute();
  const rows = [...authorities, ...(await store.db.selectFrom('shared_key').selectAll().execute())];
  assert.deepEqual(
    rows.map(({ name }) => name),
    ['intermediate-ca', 'root-ca', 'edge-api'],
  );
  for (const row of rows) {
    assert.doesNotMatch(row.key_sealed, /PRIVATE KEY/);
    assert.match(secrets.unseal(row.key_sealed), /BEGIN PRIVATE KEY/);
    assert.throws(() => ephemeralSecrets().unseal(row.key_sealed), /key file does not hold/);
  }
});

test('control planes that start together over an empty database have one authority and one certificate of the edge API', async () => {
  await elsewhere(async (dataDir, of) => {
    const folders = [1, 2, 3, 4].map((n) => join(dataDir, String(n)));
    const all = await Promise.all(folders.map((each) => open(each, undefined, clock, of)));
    assert.equal(new Set(all.map((each) => each.caBundlePem)).size, 1);
    assert.equal(new Set(all.map((each) => each.edgeServer.certPem)).size, 1);
    const secondName = await open(join(dataDir, '6'), ['edge.example', 'six.example'], clock, of);
    for (const host of ['edge.example', 'six.example'])
      assert.ok(new X509Certificate(secondName.edgeServer.leafPem).checkHost(host), host);
    await all[0]!.renewServers();
    assert.equal(all[0]!.edgeServer.certPem, secondName.edgeServer.certPem, 'the others take the longer one');
    assert.ok(new X509Certificate(secondName.edgeServer.leafPem).checkIP('192.0.2.7'));
    secondName.close();
    const elsewhereListed = await open(join(dataDir, '5'), ['other.example'], clock, of);
    assert.equal(elsewhereListed.edgeServer.keyPem, all[0]!.edgeServer.keyPem);
    assert.notEqual(elsewhereListed.edgeServer.certPem, all[0]!.edgeServer.certPem);
    elsewhereListed.close();
    assert.equal(new Set(all.map((each) => each.controlServer.keyPem)).size, 4);
    const leaf = new X509Certificate(await issue('env-1'));
    for (const each of all) {
      const answer = await each.issueClient(csr('/CN=x'), { id: 'env-2', lifetimeDays: 30 });
      assert.ok('issued' in answer);
      for (const other of all) {
        assert.ok('leaf' in other.proveLeaf(new X509Certificate(answer.issued.chainPem)));
        assert.ok('problem' in other.proveLeaf(leaf));
      }
      each.close();
    }
  });
});

test('server certificates are renewed at two thirds of their life and keep their keys; new names are taken up', async () => {
  const old = pki.edgeServer;
  let renewals = 0;
  const clockBefore = clock.nowMs();
  pki.onServerRenewed(() => (renewals += 1));
  await pki.renewServers();
  assert.equal(renewals, 0);
  clock.advance(250 * DAY_MS);
  await pki.renewServers();
  assert.equal(renewals, 1);
  assert.notEqual(pki.edgeServer.certPem, old.certPem);
  assert.equal(pki.edgeServer.keyPem, old.keyPem);
  clock.advance(clockBefore - clock.nowMs());
  const more = await open(folder, ['edge.example', '192.0.2.7', 'new.example']);
  assert.ok(new X509Certificate(more.edgeServer.certPem).checkHost('new.example'));
  assert.equal(more.edgeServer.keyPem, old.keyPem);
  more.close();
});
