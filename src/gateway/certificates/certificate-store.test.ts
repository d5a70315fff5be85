import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, beforeEach, describe, it } from 'node:test';
import { FrontdoorError } from '#base';
import {
  makeTestAuthority,
  type IssueOptions,
  type TestIdentity,
} from '../../../test/support/certificates.ts';
import { logInto, type LogEntry } from '../testing/gateway-world.ts';
import { CertificateStore, type CertificateSources, type KeptCertificate } from './certificate-store.ts';

const authority = await makeTestAuthority();
const root = mkdtempSync(join(tmpdir(), 'gateway-certificates-'));
let folder: string;
let records: LogEntry[];

after(() => rmSync(root, { recursive: true }));
beforeEach(() => {
  folder = mkdtempSync(join(root, 'tls-'));
  records = [];
});

function issue(dns: readonly string[], options: IssueOptions = {}): Promise<TestIdentity> {
  return authority.issue(dns[0] ?? 'nobody', { dns, ...options });
}

function put(name: string, { cert, key }: Pick<TestIdentity, 'cert' | 'key'>, ending = 'crt'): void {
  writeFileSync(join(folder, `${name}.${ending}`), cert);
  writeFileSync(join(folder, `${name}.key`), key, { mode: 0o600 });
}

function open(sources: CertificateSources = { folder }): Promise<CertificateStore> {
  return CertificateStore.open({ ...sources, log: logInto(records) });
}

async function refusalOf(sources: CertificateSources = { folder }): Promise<string> {
  let said = '';
  await assert.rejects(open(sources), (error) => {
    assert.ok(error instanceof FrontdoorError && error.kind === 'invalid');
    said = error.message;
    return true;
  });
  return said;
}

/** The common name of what would be shown. */
function shownFor(store: CertificateStore, name: string): string | undefined {
  const context = store.certificateFor(name);
  if (context === undefined) return undefined;
  const inner = context.context as { getCertificate(): Buffer };
  return /^CN=(.+)$/m.exec(new X509Certificate(inner.getCertificate()).subject)?.[1];
}

describe('certificates as files', () => {
  it('are found as NAME.crt, NAME.pem and in folders of certbot, and chosen by the names in them', async () => {
    put('one', await issue(['one.example', 'www.one.example']));
    put('two', await issue(['two.example']), 'pem');
    const third = await issue(['three.example']);
    mkdirSync(join(folder, 'three.example'));
    writeFileSync(join(folder, 'three.example', 'fullchain.pem'), third.cert + third.ca);
    writeFileSync(join(folder, 'three.example', 'privkey.pem'), third.key, { mode: 0o600 });
    writeFileSync(join(folder, 'README'), 'not a certificate');
    const store = await open();
    assert.equal(shownFor(store, 'one.example'), 'one.example');
    assert.equal(shownFor(store, 'WWW.one.EXAMPLE'), 'one.example');
    assert.equal(shownFor(store, 'two.example'), 'two.example');
    assert.equal(shownFor(store, 'three.example'), 'three.example');
    assert.equal(shownFor(store, 'four.example'), undefined);
  });

  it('are chosen exact before wildcard, which stands for one label alone', async () => {
    put('wild', await issue(['*.zone.example']));
    put('exact', await issue(['a.zone.example']));
    const store = await open();
    assert.equal(shownFor(store, 'a.zone.example'), 'a.zone.example');
    assert.equal(shownFor(store, 'b.zone.example'), '*.zone.example');
    for (const name of ['zone.example', 'c.b.zone.example', '.zone.example', '*.zone.example', '']) {
      assert.equal(shownFor(store, name), undefined, name);
    }
    assert.ok(store.covers('b.zone.example') && store.covers('*.zone.example'));
    assert.ok(!store.covers('zone.example') && !store.covers('*.a.zone.example') && !store.covers('*.other'));
  });

  it('have several for one name: the valid one is shown, and of valid ones the last to end', async () => {
    put('a-old', await authority.issue('old', { dns: ['x.example'], days: -1, startsInDays: -3 }));
    put('b-short', await authority.issue('short', { dns: ['x.example'], days: 20 }));
    put('c-long', await authority.issue('long', { dns: ['x.example'], days: 60 }));
    put('d-future', await authority.issue('future', { dns: ['x.example'], startsInDays: 3, days: 90 }));
    assert.equal(shownFor(await open(), 'x.example'), 'long');
  });

  it('of the folder go before the default one, which is for names that the folder has none for', async () => {
    put('ours', await authority.issue('ours', { dns: ['*.zone.example'], days: 20 }));
    put('over', await authority.issue('over', { dns: ['x.example'], days: -1, startsInDays: -3 }));
    const dns = ['*.zone.example', 'x.example', 'y.example'];
    const store = await open({ folder, default: await authority.issue('default', { dns, days: 90 }) });
    assert.equal(shownFor(store, 'a.zone.example'), 'ours');
    assert.equal(shownFor(store, 'x.example'), 'default');
    assert.equal(shownFor(store, 'y.example'), 'default');
  });

  it('that have expired are shown with a warning, cover nothing, and are reported with those that end soon', async () => {
    put('gone', await issue(['gone.example'], { days: -1, startsInDays: -3 }));
    put('soon', await issue(['soon.example'], { days: 5 }));
    put('later', await issue(['later.example'], { days: 25 }));
    const store = await open();
    assert.equal(shownFor(store, 'gone.example'), 'gone.example');
    assert.ok(!store.covers('gone.example') && store.covers('soon.example'));
    assert.deepEqual(
      store.expiring(7).map(({ name }) => name),
      ['gone', 'soon'],
    );
    assert.deepEqual(
      records.map(({ level, message, certificate }) => [level, certificate, message]),
      [
        ['warn', 'gone', 'certificate has expired and is still in use: replace it'],
        ['warn', 'soon', 'certificate expires soon'],
      ],
    );
  });

  it('with problems are all reported at once, each with its file and remedy', async () => {
    const good = await issue(['good.example']);
    put('good', good);
    put('mixed', { cert: good.cert, key: (await issue(['other.example'])).key });
    put('text', { cert: 'no certificate', key: good.key });
    put('keyless', good);
    rmSync(join(folder, 'keyless.key'));
    put('certless', good);
    rmSync(join(folder, 'certless.crt'));
    put('open', good);
    chmodSync(join(folder, 'open.key'), 0o644);
    put('nameless', await authority.issue('nameless', { dns: [], uris: ['urn:x'] }));
    put('locked', {
      cert: good.cert,
      key: '-----BEGIN ENCRYPTED PRIVATE KEY-----\nAA==\n-----END ENCRYPTED PRIVATE KEY-----\n',
    });
    put('broken', { cert: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n', key: good.key });
    put('twice', good);
    writeFileSync(join(folder, 'twice.pem'), good.cert);
    const said = await refusalOf();
    for (const part of [
      /mixed\.key is not the key of .*mixed\.crt/,
      /text\.crt has no certificate in PEM form/,
      /keyless\.crt has no key beside it: add .*keyless\.key/,
      /certless\.key has no certificate beside it/,
      /open\.key is refused: other users can access it; run: chmod 600 .*open\.key/,
      /nameless\.crt names no host/,
      /locked\.key cannot be used: it is encrypted with a passphrase/,
      /broken\.crt cannot be read/,
      /twice\.crt and .*twice\.pem are the same pair: keep one/,
    ])
      assert.match(said, part);
    assert.doesNotMatch(said, /good\.(?:crt|key)/);
    assert.doesNotMatch(said, /PRIVATE KEY-----/);
  });

  it('that cannot be read at all are refused: a missing folder, a file for a folder', async () => {
    assert.match(await refusalOf({ folder: join(folder, 'missing') }), /missing does not exist/);
    writeFileSync(join(folder, 'file'), '');
    assert.match(await refusalOf({ folder: join(folder, 'file') }), /cannot be read/);
    const certFile = join(folder, 'a.crt');
    const said = await refusalOf({ default: { certFile, keyFile: join(folder, 'a.key') } });
    assert.match(said, /a\.crt cannot be read \(ENOENT\)/);
  });

  it('are shown leaf first, whatever the order in the file', async () => {
    const one = await issue(['one.example']);
    put('one', { cert: one.ca + one.cert, key: one.key });
    assert.equal(shownFor(await open(), 'one.example'), 'one.example');
  });
});

describe('obtained certificates', () => {
  const obtained = async (name: string, options: IssueOptions = {}): Promise<KeptCertificate> => ({
    ...(await authority.issue(`obtained ${name}`, { dns: [name], days: 80, ...options })),
    name,
    isAutomatic: true,
  });

  it('go behind files, before the default one, and a valid one goes before an expired one', async () => {
    put('wild', await issue(['*.files.example'], { days: 20 }));
    put('late', await issue(['*.late.example'], { days: -1, startsInDays: -3 }));
    const dns = ['*.own.example', 'app.own.example'];
    const store = await open({ folder, default: await authority.issue('default', { dns, days: 90 }) });
    store.take([
      await obtained('app.files.example'),
      await obtained('app.late.example'),
      await obtained('*.own.example'),
      await obtained('old.own.example', { days: -1, startsInDays: -3 }),
    ]);
    assert.equal(shownFor(store, 'app.files.example'), '*.files.example');
    assert.equal(shownFor(store, 'app.late.example'), 'obtained app.late.example');
    assert.equal(shownFor(store, 'old.own.example'), 'obtained *.own.example');
    assert.equal(shownFor(store, 'app.own.example'), 'obtained *.own.example');
    assert.ok(store.isProvidedByFile('app.files.example') && !store.isProvidedByFile('app.late.example'));
  });

  it('stay when the files are read again, replace each other by name, and are passed on', async () => {
    const store = await open();
    const bad = { name: 'bad.example', cert: 'half', key: 'half', isAutomatic: true };
    assert.equal(store.take([await obtained('app.zone.example'), bad]).length, 1);
    const [{ fingerprint } = { fingerprint: '' }] = store.obtained;
    await store.reload();
    assert.equal(shownFor(store, 'app.zone.example'), 'obtained app.zone.example');
    store.take([await obtained('app.zone.example')]);
    assert.equal(store.obtained.length, 1);
    assert.notEqual(store.obtained[0]!.fingerprint, fingerprint);
    const other = await CertificateStore.open({ folder, lastGood: store.kept, log: logInto(records) });
    assert.deepEqual(
      other.obtained.map(({ name }) => name),
      ['app.zone.example'],
    );
  });

  it('make a zone certified: a wildcard, or one name below it', async () => {
    const store = await open();
    store.take([await obtained('*.wild.example'), await obtained('app.single.example')]);
    store.take([await obtained('app.over.example', { days: -1, startsInDays: -3 })]);
    for (const zone of ['wild.example', 'single.example']) assert.ok(store.isCertified(zone), zone);
    for (const zone of ['over.example', 'example', 'none.example']) assert.ok(!store.isCertified(zone), zone);
  });

  it('are missing where only a stand-in has the name', async () => {
    const standIn = await authority.issue('own', { dns: ['*.zone.example'] });
    const store = await open({ default: standIn, isDefaultStandIn: true });
    assert.ok(store.covers('app.zone.example') && !store.isProvided('app.zone.example'));
    store.take([await obtained('app.zone.example')]);
    assert.ok(store.isProvided('app.zone.example') && !store.isProvided('b.zone.example'));
    assert.equal(shownFor(store, 'b.zone.example'), 'own');
  });
});

describe('a reload', () => {
  it('takes in what is new and changed, and leaves out what is gone', async () => {
    put('stays', await issue(['stays.example']));
    put('goes', await issue(['goes.example']));
    put('changes', await authority.issue('before', { dns: ['changes.example'] }));
    const store = await open();
    let changes = 0;
    store.onChange(() => (changes += 1));
    rmSync(join(folder, 'goes.crt'));
    rmSync(join(folder, 'goes.key'));
    put('changes', await authority.issue('after', { dns: ['changes.example'] }));
    put('comes', await issue(['comes.example']));
    assert.deepEqual(await store.reload(), { certificates: 3, problems: [] });
    assert.equal(shownFor(store, 'goes.example'), undefined);
    assert.equal(shownFor(store, 'changes.example'), 'after');
    assert.equal(shownFor(store, 'comes.example'), 'comes.example');
    assert.equal(changes, 1);
    await store.reload();
    assert.equal(changes, 1, 'nothing changed');
  });

  it('keeps the last good certificate of each place with a bad one, and logs that', async () => {
    for (const name of ['a', 'b', 'c'])
      put(name, await authority.issue(`${name} good`, { dns: [`${name}.example`] }));
    const store = await open();
    writeFileSync(join(folder, 'a.crt'), 'half a certifi');
    rmSync(join(folder, 'b.key'));
    put('c', await authority.issue('c new', { dns: ['c.example'] }));
    put('d', { cert: 'bad from the start', key: 'bad' });
    const { certificates, problems } = await store.reload();
    assert.deepEqual([certificates, problems.length], [3, 3]);
    assert.equal(shownFor(store, 'a.example'), 'a good');
    assert.equal(shownFor(store, 'b.example'), 'b good');
    assert.equal(shownFor(store, 'c.example'), 'c new');
    const errors = records
      .filter(({ level }) => level === 'error')
      .map(({ message, certificate }) => [certificate, message]);
    assert.deepEqual(errors, [
      ['b', 'keeping the last good certificate'],
      ['a', 'keeping the last good certificate'],
      ['d', 'ignoring a certificate'],
    ]);
  });

  it('keeps everything while the folder cannot be read, and the default with it', async () => {
    put('a', await issue(['a.example']));
    const fallback = await issue(['fallback.example']);
    const certFile = join(root, 'fallback.crt');
    const keyFile = join(root, 'fallback.key');
    writeFileSync(certFile, fallback.cert);
    writeFileSync(keyFile, fallback.key, { mode: 0o600 });
    const store = await open({ folder, default: { certFile, keyFile } });
    renameSync(folder, `${folder}-away`);
    writeFileSync(keyFile, 'bad');
    assert.equal((await store.reload()).problems.length, 2);
    assert.equal(shownFor(store, 'a.example'), 'a.example');
    assert.equal(store.defaultCertificate?.key, fallback.key);
  });

  it('is how a store begins that is given the last good ones: nothing that is bad by now keeps it from opening', async () => {
    for (const name of ['a', 'b'])
      put(name, await authority.issue(`${name} good`, { dns: [`${name}.example`] }));
    const { kept } = await open();
    writeFileSync(join(folder, 'a.crt'), 'half a certifi');
    rmSync(join(folder, 'b.crt'));
    rmSync(join(folder, 'b.key'));
    put('c', await authority.issue('c new', { dns: ['c.example'] }));
    const store = await CertificateStore.open({ folder, lastGood: kept, log: logInto(records) });
    assert.equal(shownFor(store, 'a.example'), 'a good');
    assert.equal(shownFor(store, 'b.example'), undefined, 'taken away on purpose');
    assert.equal(shownFor(store, 'c.example'), 'c new');
  });

  it('asked for while one continues is done once more afterwards, by one reader', async () => {
    put('a', await authority.issue('first', { dns: ['a.example'] }));
    const store = await open();
    const first = store.reload();
    put('a', await authority.issue('second', { dns: ['a.example'] }));
    assert.equal(store.reload(), first);
    await first;
    assert.equal(shownFor(store, 'a.example'), 'second');
    assert.equal(records.filter(({ message }) => message === 'certificates reloaded').length, 2);
  });
});
