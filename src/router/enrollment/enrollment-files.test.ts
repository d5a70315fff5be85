// Checks of the files of an enrollment, before the token is sent.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { Secret } from '#base';
import { makeTestAuthority } from '../../../test/support/certificates.ts';
import type { RouterConfig } from '../config/router-config.ts';
import { checkEnrollmentFiles, type EnrollmentKeys } from './enrollment-files.ts';

const authority = await makeTestAuthority();
const own = await authority.issue('router-1');
const other = await authority.issue('router-2');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'frontdoor-enroll-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const at = (name: string): string => join(folder, name);

function check(force = false, identity: Readonly<Record<string, unknown>> = {}): EnrollmentKeys {
  const files = {
    cert: at('cert.pem'),
    key: new Secret(at('key.pem')),
    ca: at('ca.pem'),
    serverCert: at('server.pem'),
  };
  const config = {
    identity: { ...files, ...identity },
    ctrl: { endpoints: [], endpointsFile: at('state/endpoints.yml') },
  } as unknown as RouterConfig;
  return checkEnrollmentFiles(config, 'router-1', force);
}

test('folders are made, and nothing else is written', () => {
  assert.deepEqual(check(), { keyPem: undefined, serverKeyPem: undefined });
  assert.deepEqual(readdirSync(folder, { recursive: true }), ['state']);
});

test('a certificate of this router may be replaced, and its keys are used again', () => {
  writeFileSync(at('cert.pem'), own.cert);
  writeFileSync(at('server.pem'), own.cert);
  writeFileSync(at('key.pem'), own.key);
  writeFileSync(at('server.key'), other.key);
  assert.deepEqual(check(false, { serverKey: new Secret(at('server.key')) }), {
    keyPem: own.key,
    serverKeyPem: other.key,
  });
  assert.deepEqual(check(true), { keyPem: undefined, serverKeyPem: undefined });
});

test('files of another router, and files that hold something else, are kept unless force is given', () => {
  for (const [name, content, problem] of [
    ['cert.pem', other.cert, /identity\.cert: .*cert\.pem is the certificate of router-2/],
    ['server.pem', other.cert, /identity\.server_cert: .*server\.pem is the certificate of router-2/],
    ['cert.pem', 'notes', /identity\.cert: .*holds something else/],
    ['key.pem', 'notes', /identity\.key: .*holds no private key/],
  ] as const) {
    writeFileSync(at(name), content);
    assert.throws(() => check(), { code: 'identity-exists', message: problem });
    assert.deepEqual(check(true), { keyPem: undefined, serverKeyPem: undefined });
    assert.equal(readFileSync(at(name), 'utf8'), content);
    rmSync(at(name));
  }
});

test('every file that cannot be written is named, with force too', () => {
  mkdirSync(at('cert.pem'));
  writeFileSync(at('state'), '');
  for (const force of [false, true])
    assert.throws(() => check(force), {
      code: 'identity-unwritable',
      message: /identity\.cert: it is a folder; ctrl\.endpointsFile: /,
    });
});

test('two files of one path, and PEM in the configuration, are refused', () => {
  assert.throws(() => check(false, { serverCert: at('./cert.pem') }), { code: 'identity-unwritable' });
  assert.throws(() => check(false, { cert: `pem:${own.cert}` }), { code: 'identity-inline' });
});
