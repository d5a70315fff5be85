import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { FrontdoorError } from '#base';
import { makeTestAuthority } from '../../../test/support/certificates.ts';
import { parseRouterConfig, type RouterConfig } from './router-config.ts';
import { loadRouterIdentity } from './router-identity.ts';

const directory = mkdtempSync(join(tmpdir(), 'router-identity-'));
after(() => rmSync(directory, { recursive: true }));
const authority = await makeTestAuthority();
const client = await authority.issue('router-1');
const server = await authority.issue('router-1 server');

function fileOf(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

const PATHS = {
  cert: fileOf('cert.pem', client.cert),
  key: fileOf('key.pem', client.key),
  ca: fileOf('ca.pem', authority.ca),
  server: fileOf('server.pem', server.cert),
};

function configWith(identity: Readonly<Record<string, string>>): RouterConfig {
  const text = JSON.stringify({ v: 3, ctrl: { endpoint: 'tls:x:1' }, identity });
  const { config, problems } = parseRouterConfig(text, 'router.yml', { environment: {}, interfaces: {} });
  assert.deepEqual(problems, []);
  return config!;
}

test('paths, file URLs and inline PEM load alike; the id is the name of the client certificate', () => {
  const { cert, key, ca } = PATHS;
  const expected = { cert: client.cert, key: client.key, ca: authority.ca };
  for (const identity of [
    { cert, key, ca },
    { cert: `file://${cert}`, key: `file:${key}`, ca: `file://${ca}` },
    { cert: `pem:${client.cert}`, key: client.key, ca: `pem:${authority.ca}` },
  ]) {
    const loaded = loadRouterIdentity(configWith(identity));
    assert.equal(loaded.id, 'router-1');
    assert.deepEqual(loaded.client, expected);
    assert.deepEqual(loaded.server, expected, 'without a server certificate the client certificate serves');
  }
});

test('listeners have the server certificate, with the same key unless another is named', () => {
  const { cert, key, ca } = PATHS;
  const loaded = loadRouterIdentity(configWith({ cert, key, ca, server_cert: PATHS.server }));
  assert.deepEqual(loaded.server, { cert: server.cert, key: client.key, ca: authority.ca });
  const other = loadRouterIdentity(
    configWith({ cert, key, ca, server_cert: PATHS.server, server_key: `pem:${server.key}` }),
  );
  assert.equal(other.server.key, server.key);
  assert.equal(other.client.cert, client.cert);
});

test('a file that is missing or holds no certificate is refused by the key of the section', () => {
  const { cert, key, ca } = PATHS;
  for (const [identity, said] of [
    [{ cert, key: join(directory, 'none.key'), ca }, /^identity\.key: cannot read .*none\.key/],
    [{ cert: 'pem:nothing', key, ca }, /^identity\.cert holds no certificate/],
  ] as const) {
    assert.throws(
      () => loadRouterIdentity(configWith(identity)),
      (error) => error instanceof FrontdoorError && error.kind === 'invalid' && said.test(error.message),
    );
  }
});
