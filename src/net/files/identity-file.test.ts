import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { inspect } from 'node:util';
import { makeTestAuthority } from '../../../test/support/certificates.ts';
import { isOpenToOthers } from './private-file.ts';
import { loadIdentityFile, saveIdentityFile, type IdentityFile } from './identity-file.ts';

const issued = await (await makeTestAuthority()).issue('client');
const identity: IdentityFile = {
  apiUrl: 'https://localhost:1280',
  keyPem: issued.key,
  certPem: issued.cert,
  caPem: issued.ca,
};
let folder: string;
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'frontdoor-identity-'));
});
after(() => rmSync(folder, { recursive: true }));

function put(name: string, file: unknown, mode = 0o600): string {
  const path = join(folder, name);
  writeFileSync(path, typeof file === 'string' ? file : JSON.stringify(file), { mode });
  chmodSync(path, mode);
  return path;
}

test('a saved identity is loaded again, in the format of OpenZiti, and is readable by its owner only', async () => {
  const path = join(folder, 'saved.json');
  await saveIdentityFile(path, identity);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  const { ztAPI, id } = JSON.parse(readFileSync(path, 'utf8')) as {
    ztAPI: string;
    id: Record<string, string>;
  };
  assert.equal(ztAPI, 'https://localhost:1280');
  assert.equal(id['key'], `pem:${identity.keyPem}`);
  assert.deepEqual(await loadIdentityFile(path), identity);
});

test('keys and certificates in files of their own are found beside the identity file', async () => {
  put('the.key', identity.keyPem);
  put('the.crt', identity.certPem, 0o644);
  put('the.ca', identity.caPem, 0o644);
  const ca = `file://${join(folder, 'the.ca')}`;
  const path = put('files.json', {
    ztAPI: `${identity.apiUrl}/edge/client/v1`,
    id: { key: 'the.key', cert: 'file:the.crt', ca },
  });
  assert.deepEqual(await loadIdentityFile(path), identity);
  chmodSync(join(folder, 'the.key'), 0o640);
  await assert.rejects(loadIdentityFile(path), {
    code: 'identity-file-refused',
    message: /the\.key: .*chmod 600/,
  });
});

test('bare PEM is read, as the C SDK writes it', async () => {
  const path = put('bare.json', {
    ztAPI: identity.apiUrl,
    id: { key: identity.keyPem, cert: `\n${identity.certPem}`, ca: identity.caPem },
  });
  assert.deepEqual(await loadIdentityFile(path), { ...identity, certPem: `\n${identity.certPem}` });
});

test('a key in a form that cannot be read is repeated by no message and no cause', async () => {
  const body = 'MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg';
  const forms = [
    body,
    `file:${body}`,
    `pem:${body}`,
    `PEM:${identity.keyPem}${body}`,
    body.repeat(200),
    `\0${body}`,
  ];
  for (const name of ['key', 'cert', 'ca'])
    for (const form of forms) {
      const id = { key: identity.keyPem, cert: identity.certPem, ca: identity.caPem, [name]: form };
      const path = put('wrong-key.json', { ztAPI: identity.apiUrl, id });
      await assert.rejects(loadIdentityFile(path), (error: Error) => {
        assert.doesNotMatch(inspect(error, { depth: 9 }), /MIGHAgEA/);
        assert.match(error.message, new RegExp(`id\\.${name}`));
        return true;
      });
    }
  await assert.rejects(loadIdentityFile(put('half.json', `{"id":{"key":"${body}`)), (error: Error) => {
    assert.doesNotMatch(inspect(error, { depth: 9 }), /MIGHAgEA/);
    return true;
  });
});

test('a file that others may read or write is refused with the remedy', async () => {
  const file = { ztAPI: identity.apiUrl, id: { key: 'pem:x', cert: 'pem:x', ca: 'pem:x' } };
  for (const mode of [0o640, 0o604, 0o660, 0o602, 0o610]) {
    await assert.rejects(loadIdentityFile(put('open.json', file, mode)), {
      message: /other users can access it; run: chmod 600/,
    });
  }
});

test('a file that nobody can write may be read by a group of this process, as orchestrators mount secrets', async () => {
  const path = join(folder, 'mounted.json');
  await saveIdentityFile(path, identity);
  chmodSync(path, 0o440);
  assert.deepEqual(await loadIdentityFile(path), identity);
  const { gid } = statSync(path);
  assert.equal(isOpenToOthers({ mode: 0o440, gid, uid: 1 }), false);
  assert.equal(isOpenToOthers({ mode: 0o440, gid: 3_999_999, uid: 1 }), true, 'a group that is not ours');
  for (const mode of [0o640, 0o444, 0o460]) assert.equal(isOpenToOthers({ mode, gid, uid: 1 }), true);
  const service = { uid: 997, groups: [997] };
  const isOpen = (mode: number, file: object, reader = service): boolean =>
    isOpenToOthers({ mode, gid: 997, uid: 0, ...file }, reader);
  assert.equal(isOpen(0o640, {}), false, 'root wrote it for the group of the service');
  assert.equal(isOpen(0o640, { uid: 997 }), true);
  assert.equal(isOpen(0o640, { gid: 0 }), true);
  for (const mode of [0o644, 0o660]) assert.equal(isOpen(mode, {}), true);
  assert.equal(isOpen(0o640, { gid: 0 }, { uid: 0, groups: [0] }), true);
});

test('a file that is no identity is refused with the reason, and a missing file with another', async () => {
  const wrong: [unknown, RegExp][] = [
    ['{', /not JSON/],
    ['null', /ztAPI/],
    [{ ztAPI: 'http://localhost:1' }, /https/],
    [{ ztAPI: 'https://localhost:1', id: { cert: 'pem:x', ca: 'pem:x' } }, /id\.key is missing/],
    [{ ztAPI: 'https://localhost:1', id: { key: 'pem:x', cert: 'pem:x', ca: 'pem:x' } }, /PEM private key/],
  ];
  for (const [file, message] of wrong) {
    await assert.rejects(loadIdentityFile(put('wrong.json', file)), {
      code: /^identity-file-(?:refused|damaged)$/,
      message,
    });
  }
  await assert.rejects(loadIdentityFile(join(folder, 'absent.json')), { code: 'identity-file-missing' });
});
