import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, beforeEach, describe, it } from 'node:test';
import { makeTestAuthority } from '../../../test/support/certificates.ts';
import { CertificateStore } from '../certificates/certificate-store.ts';
import { logInto, type LogEntry } from '../testing/gateway-world.ts';
import { loadAccountKey } from './account-key.ts';
import { loadObtained, writeObtained } from './certificate-files.ts';

const authority = await makeTestAuthority();
const root = mkdtempSync(join(tmpdir(), 'gateway-obtained-'));
let folder: string;
let records: LogEntry[];

after(() => rmSync(root, { recursive: true }));
beforeEach(() => {
  folder = mkdtempSync(join(root, 'acme-'));
  records = [];
});

const issue = (name: string, days = 60) => authority.issue(name, { dns: [name], days, startsInDays: -90 });
const load = () => loadObtained(folder, Date.now(), logInto(records));
const namesOf = async (): Promise<string[]> => (await load()).map(({ name }) => name).sort();

describe('obtained certificates on disk', () => {
  it('are read back by name, wildcards among them, and are in the form of --tls-dir', async () => {
    for (const name of ['app.zone.example', '*.zone.example'])
      await writeObtained(folder, name, await issue(name));
    assert.deepEqual(readdirSync(folder).sort(), ['_.zone.example', 'app.zone.example']);
    assert.deepEqual(await namesOf(), ['*.zone.example', 'app.zone.example']);
    const store = await CertificateStore.open({ folder, log: logInto(records) });
    assert.ok(store.covers('app.zone.example') && store.covers('other.zone.example'));
    assert.equal(statSync(join(folder, 'app.zone.example', 'privkey.pem')).mode & 0o777, 0o600);
    assert.deepEqual(
      records.filter(({ level }) => level === 'error'),
      [],
    );
  });

  it('are the former or the new pair after a crash at any step of a replacement', async () => {
    const name = 'app.zone.example';
    const place = join(folder, name);
    const [former, next] = [join(folder, `.${name}.former`), join(folder, `.${name}.next`)];
    const [old, renewed] = [await issue(name), await issue(name)];
    const shown = async (): Promise<string> => {
      const [only, ...others] = await load();
      assert.deepEqual(others, []);
      assert.deepEqual(readdirSync(folder), [name], 'nothing is left over');
      return only!.cert.trim();
    };
    await writeObtained(folder, name, old);
    // While the new pair is written.
    mkdirSync(next);
    writeFileSync(join(next, 'privkey.pem'), 'half a key');
    assert.equal(await shown(), old.cert.trim());
    // Between the two renames.
    mkdirSync(next);
    writeFileSync(join(next, 'privkey.pem'), renewed.key, { mode: 0o600 });
    writeFileSync(join(next, 'fullchain.pem'), renewed.cert);
    renameSync(place, former);
    assert.equal(await shown(), renewed.cert.trim());
    // Before the former pair is removed.
    mkdirSync(former);
    assert.equal(await shown(), renewed.cert.trim());
    await writeObtained(folder, name, old);
    assert.equal(await shown(), old.cert.trim());
  });

  it('that cannot be used are logged and left out, and those that expired long ago are removed', async () => {
    await writeObtained(folder, 'good.example', await issue('good.example'));
    await writeObtained(folder, 'late.example', await issue('late.example', -3));
    await writeObtained(folder, 'gone.example', await issue('gone.example', -31));
    await writeObtained(folder, 'bad.example', { cert: 'half a certificate', key: 'half a key' });
    assert.deepEqual(await namesOf(), ['good.example', 'late.example']);
    assert.deepEqual(readdirSync(folder).sort(), ['bad.example', 'good.example', 'late.example']);
    assert.deepEqual(
      records.map(({ level, message }) => [level, message]),
      [['error', 'an obtained certificate cannot be used: it is obtained again']],
    );
  });

  it('are complete before they replace others: a folder that cannot be written changes nothing', async () => {
    const name = 'app.zone.example';
    const pair = await issue(name);
    await writeObtained(folder, name, pair);
    writeFileSync(join(root, 'file'), '');
    await assert.rejects(writeObtained(join(root, 'file'), name, pair), { code: 'ENOTDIR' });
    assert.deepEqual(await namesOf(), [name]);
  });
});

describe('the key of the account', () => {
  it('is made once, readable by its owner alone, and has one thumbprint', async () => {
    const file = join(folder, 'account.key');
    const made = await loadAccountKey(file);
    assert.match(made.thumbprint, /^[\w-]{43}$/);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.deepEqual(await loadAccountKey(file), made);
  });

  it('that cannot be used is refused with the remedy, and is not replaced', async () => {
    const file = join(folder, 'account.key');
    writeFileSync(file, 'half a key', { mode: 0o600 });
    const refusal = { code: 'acme-account', message: /account\.key is refused: .*restore it from a backup/ };
    await assert.rejects(loadAccountKey(file), refusal);
    await assert.rejects(loadAccountKey(file), refusal);
    writeFileSync(file, (await issue('x.example')).key, { mode: 0o600 });
    rmSync(file);
    writeFileSync(file, (await issue('x.example')).key, { mode: 0o644 });
    await assert.rejects(loadAccountKey(file), { code: 'acme-account', message: /chmod 600/ });
    await assert.rejects(loadAccountKey(join(folder, 'missing', 'account.key')), { code: 'acme-account' });
  });
});
