import assert from 'node:assert/strict';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { X509Certificate } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { Secret, silentLog, type Log } from '#base';
import { makeTestAuthority, type TestIdentity } from '../../../test/support/certificates.ts';
import { within } from '../../../test/support/deadline.ts';
import type { IdentityConfig } from '../config/router-config.ts';
import { IdentityWatch } from './identity-watch.ts';
import type { RouterIdentity } from './router-identity.ts';

const WAIT_MS = 30_000;
const authority = await makeTestAuthority();

let folder: string;
let config: IdentityConfig;
let watch: IdentityWatch | undefined;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'identity-watch-'));
  const path = (name: string): string => join(folder, name);
  config = {
    cert: path('cert.pem'),
    key: new Secret(path('key.pem')),
    serverCert: undefined,
    serverKey: undefined,
    ca: path('ca.pem'),
    alternates: [],
  };
  put(await authority.issue('router-1'));
  writeFileSync(config.ca, authority.ca);
});
afterEach(() => {
  watch?.close();
  rmSync(folder, { recursive: true });
});

function put({ cert, key }: TestIdentity): void {
  writeFileSync(config.cert, cert);
  writeFileSync(config.key.reveal(), key);
}

/** Resolves with the next event of the watch: a loaded identity, or the error that it logs. */
function next(): Promise<RouterIdentity | string> {
  return within(
    'a word of the watch',
    new Promise<RouterIdentity | string>((resolve) => {
      const log: Log = { ...silentLog, error: (fields) => resolve(String((fields as { err: unknown }).err)) };
      watch = new IdentityWatch({ identity: config, log, settleMs: 20, onLoaded: resolve });
    }),
    WAIT_MS,
  );
}

test('files that are replaced are loaded once all of them are there', async () => {
  const loaded = next();
  const renewed = await authority.issue('router-1');
  put(renewed);
  const identity = await loaded;
  assert.ok(typeof identity === 'object');
  assert.equal(
    new X509Certificate(identity.client.cert).fingerprint,
    new X509Certificate(renewed.cert).fingerprint,
  );
});

test('a file that another is renamed over is noticed', async () => {
  const loaded = next();
  const renewed = await authority.issue('router-1');
  writeFileSync(join(folder, 'both.tmp'), renewed.cert + renewed.key);
  writeFileSync(config.key.reveal(), renewed.key);
  renameSync(join(folder, 'both.tmp'), config.cert);
  assert.ok(typeof (await loaded) === 'object');
});

test('invalid files are logged, and the old identity stays', async () => {
  const said = next();
  writeFileSync(config.cert, 'nothing');
  const word = await said;
  assert.ok(typeof word === 'string');
  assert.match(word, /identity\.cert holds no certificate/);
});
