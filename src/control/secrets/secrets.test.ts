import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { appendFile, chmod, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { ephemeralSecrets, KEY_FILE_NAME, loadSecrets } from './key-file.ts';
import { base32, randomEnrollmentCode, randomToken } from './random-token.ts';
import { Secrets } from './secrets.ts';

const directories: string[] = [];
async function scratch(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'frontdoor-secrets-'));
  directories.push(directory);
  return directory;
}
after(() => Promise.all(directories.map((directory) => rm(directory, { recursive: true }))));

describe('secrets', () => {
  it('opens what it sealed, and nothing that was changed', () => {
    const secrets = ephemeralSecrets();
    const sealed = secrets.seal('hunter2 ☃');
    assert.equal(secrets.unseal(sealed), 'hunter2 ☃');
    assert.notEqual(secrets.seal('hunter2 ☃'), sealed);
    assert.doesNotMatch(sealed, /hunter2/);
    const last = sealed.at(-2) === 'A' ? 'B' : 'A';
    assert.throws(() => secrets.unseal(sealed.slice(0, -2) + last + sealed.at(-1)), /does not open/);
    assert.throws(() => secrets.unseal('plain'), /known form/);
    assert.throws(() => ephemeralSecrets().unseal(sealed), /key file does not hold/);
  });

  it('keeps opening old seals and matching old HMACs after a key was added', () => {
    const first = { id: 'k1', key: new Uint8Array(32).fill(1) };
    const second = { id: 'k2', key: new Uint8Array(32).fill(2) };
    const before = new Secrets([first]);
    const after = new Secrets([first, second]);
    assert.equal(after.unseal(before.seal('x')), 'x');
    assert.match(after.seal('x'), /^s1\.k2\./);
    assert.ok(after.matches('token', before.hmac('token')));
    assert.throws(() => before.unseal(after.seal('x')));
  });

  it('compares secrets by HMAC and refuses malformed ones', () => {
    const secrets = ephemeralSecrets();
    assert.ok(secrets.matches('abc', secrets.hmac('abc')));
    assert.ok(!secrets.matches('abd', secrets.hmac('abc')));
    assert.ok(!secrets.matches('abc', ''));
    assert.ok(!secrets.matches('abc', 'zz'));
  });

  it('hands out a pepper for the keys of providers that opens nothing else', () => {
    const secrets = ephemeralSecrets();
    const pepper = secrets.apiKeyPepper();
    const hmac = createHmac('sha256', pepper).update('a key').digest('hex');
    assert.equal(secrets.apiKeyHmac('a key'), hmac);
    assert.notEqual(secrets.hmac('a key'), hmac);
    pepper.fill(0);
    assert.equal(secrets.apiKeyHmac('a key'), hmac, 'what was handed out is a copy');
  });

  it('tags values for one purpose only', () => {
    const secrets = ephemeralSecrets();
    const data = Buffer.from('data');
    const tag = secrets.tag('a', data, 16);
    assert.ok(secrets.isTag('a', data, tag));
    assert.ok(!secrets.isTag('b', data, tag));
    assert.ok(!secrets.isTag('a', data, tag.subarray(0, 8)));
  });
});

describe('the key file', () => {
  it('is made once, for its owner alone, and read again', async () => {
    const dataDir = join(await scratch(), 'data');
    const [a, b] = await Promise.all([loadSecrets(dataDir), loadSecrets(dataDir)]);
    assert.equal(a.hmac('x'), b.hmac('x'));
    assert.equal((await loadSecrets(dataDir)).unseal(a.seal('y')), 'y');
    assert.equal((await stat(join(dataDir, KEY_FILE_NAME))).mode & 0o777, 0o600);
    assert.deepEqual(await readdir(dataDir), [KEY_FILE_NAME]);
  });

  it('is refused when others may read it or when it is damaged', async () => {
    const dataDir = await scratch();
    await loadSecrets(dataDir);
    const path = join(dataDir, KEY_FILE_NAME);
    await chmod(path, 0o640);
    await assert.rejects(loadSecrets(dataDir), /chmod 600/);
    await chmod(path, 0o600);
    await appendFile(path, 'nonsense\n');
    await assert.rejects(loadSecrets(dataDir), /has a line/);
    await writeFile(path, '');
    await assert.rejects(loadSecrets(dataDir), /holds no key/);
  });
});

describe('random tokens', () => {
  it('are base32 and base64url of the promised lengths and differ', () => {
    assert.match(randomEnrollmentCode(), /^[A-Z2-7]{32}$/);
    assert.match(randomToken(), /^[A-Za-z0-9_-]{43}$/);
    assert.equal(new Set(Array.from({ length: 1000 }, randomEnrollmentCode)).size, 1000);
    assert.equal(base32(Buffer.from('foobar')), 'MZXW6YTBOI');
  });
});
