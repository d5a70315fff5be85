import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { X509Certificate } from 'node:crypto';
import { FrontdoorError, Secret } from '#base';
import { makeTestAuthority } from '../../../test/support/certificates.ts';
import type { IdentityConfig } from '../config/router-config.ts';
import { loadRouterIdentity } from './router-identity.ts';

const directory = mkdtempSync(join(tmpdir(), 'router-identity-'));
after(() => rmSync(directory, { recursive: true }));
const authority = await makeTestAuthority();
const client = await authority.issue('router-1');
const server = await authority.issue('router-1 server');
const other = await authority.issue('router-1 other', { dns: ['other.example'] });

function fileOf(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

const CLIENT: IdentityConfig = {
  cert: fileOf('cert.pem', client.cert),
  key: new Secret(fileOf('key.pem', client.key)),
  serverCert: undefined,
  serverKey: undefined,
  ca: fileOf('ca.pem', authority.ca),
  alternates: [],
};
const SERVER = {
  serverCert: fileOf('server.pem', server.cert),
  serverKey: new Secret(fileOf('server.key', server.key)),
};

const nameOf = (pem: string): string => new X509Certificate(pem).subject;

test('paths and inline PEM load alike; the id is the name of the client certificate', () => {
  for (const identity of [
    CLIENT,
    { ...CLIENT, cert: `pem:${client.cert}`, key: new Secret(client.key), ca: `pem:${authority.ca}` },
    { ...CLIENT, cert: `pem:text before\n${client.cert}text behind` },
  ]) {
    const loaded = loadRouterIdentity(identity);
    assert.equal(loaded.id, 'router-1');
    assert.equal(nameOf(loaded.client.cert), 'CN=router-1');
    assert.deepEqual(
      loaded.server,
      { default: loaded.client, alternates: [] },
      'without a server certificate the client certificate serves',
    );
  }
});

test('listeners have the server certificate, with the same key unless another is named', () => {
  const loaded = loadRouterIdentity({ ...CLIENT, ...SERVER });
  assert.equal(nameOf(loaded.server.default.cert), 'CN=router-1 server');
  assert.equal(loaded.server.default.key, server.key);
  assert.equal(nameOf(loaded.client.cert), 'CN=router-1');
  const same = loadRouterIdentity({ ...CLIENT, serverCert: CLIENT.cert });
  assert.equal(same.server.default.key, client.key);
});

test('further chains of the server certificate and alternate ones stand behind it, in order', async () => {
  const third = await authority.issue('router-1 third', { dns: ['third.example'] });
  const loaded = loadRouterIdentity({
    ...CLIENT,
    ...SERVER,
    alternates: [
      { serverCert: `pem:${other.cert}${authority.ca}`, serverKey: new Secret(other.key) },
      { serverCert: third.cert, serverKey: new Secret(third.key) },
    ],
  });
  assert.equal(nameOf(loaded.server.default.cert), 'CN=router-1 server');
  assert.deepEqual(
    loaded.server.alternates.map(({ cert }) => nameOf(cert)),
    ['CN=router-1 other', 'CN=router-1 third'],
  );
});

test('a missing file, one without a certificate, or the key of another certificate is refused by the key of the section', () => {
  for (const [identity, said] of [
    [
      { ...CLIENT, key: new Secret(join(directory, 'none.key')) },
      /^identity\.key: the file that it names does not exist$/,
    ],
    [{ ...CLIENT, cert: 'pem:nothing' }, /^identity\.cert holds no certificate/],
    [{ ...CLIENT, key: new Secret(server.key) }, /^identity\.key is not the key of identity\.cert/],
    [{ ...CLIENT, key: new Secret('pem:nothing') }, /^identity\.key holds no private key/],
    [
      { ...CLIENT, serverCert: SERVER.serverCert },
      /^identity\.server_key is not the key of identity\.server_cert/,
    ],
    [
      { ...CLIENT, alternates: [{ serverCert: join(directory, 'no.pem'), serverKey: undefined }] },
      /^identity\.alt_server_certs\[0\]\.server_cert: cannot read/,
    ],
  ] as const) {
    assert.throws(
      () => loadRouterIdentity(identity),
      (error) => error instanceof FrontdoorError && error.kind === 'invalid' && said.test(error.message),
      String(said),
    );
  }
});
