import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { makeTestAuthority } from '../../../test/support/certificates.ts';
import { saveIdentityFile } from '#net/files';
import { runChecks, type Finding } from './finding.ts';
import { stateChecks } from './state-checks.ts';

const folder = mkdtempSync(join(tmpdir(), 'doctor-state-'));
after(() => rmSync(folder, { recursive: true, force: true }));

async function findingOf(dataDir: string, check: string): Promise<Finding> {
  const findings = await runChecks(stateChecks(dataDir, [dataDir]));
  return findings.find((finding) => finding.check === check) ?? assert.fail(`no finding on ${check}`);
}

test('a key file that is missing beside the database, or empty, is found', async () => {
  const dataDir = join(folder, 'control');
  mkdirSync(dataDir);
  assert.equal((await findingOf(dataDir, 'secrets.key')).state, 'skipped');
  writeFileSync(join(dataDir, 'control.db'), 'rows');
  const missing = await findingOf(dataDir, 'secrets.key');
  assert.equal(missing.state, 'failure');
  assert.match(missing.message, /secrets\.key is missing next to control\.db$/);
  assert.match(missing.remedy ?? '', /^restore it/);
  writeFileSync(join(dataDir, 'secrets.key'), '');
  assert.match((await findingOf(dataDir, 'secrets.key')).message, /secrets\.key is empty$/);
  writeFileSync(join(dataDir, 'secrets.key'), 'key');
  assert.equal((await findingOf(dataDir, 'secrets.key')).state, 'ok');
});

test('a damaged identity of an agent, and damaged keys and certificates of routers and gateways, are found', async () => {
  const dataDir = join(folder, 'parts');
  mkdirSync(join(dataDir, 'router'), { recursive: true });
  const authority = await makeTestAuthority();
  const { key, cert } = await authority.issue('localhost');
  const identity = join(dataDir, 'identity.json');
  const whole = { apiUrl: 'https://localhost:1', keyPem: key, certPem: cert, caPem: authority.ca };
  await saveIdentityFile(identity, whole);
  const files = {
    'router/router.key': key,
    'router/router.cert': cert,
    'router/notes.key': 'of another form',
  };
  const write = (name: string, text: string): void =>
    writeFileSync(join(dataDir, name), text, { mode: 0o600 });
  for (const [name, text] of Object.entries(files)) write(name, text);
  const sound = await findingOf(dataDir, 'identities');
  assert.equal(sound.state, 'ok', sound.message);
  for (const [name, text] of [
    ['router/router.key', key],
    ['router/router.cert', cert],
  ] as const)
    for (const part of ['', text.slice(0, text.length / 2)]) {
      write(name, part);
      const found = await findingOf(dataDir, 'identities');
      assert.equal(found.state, 'failure', name);
      assert.ok(found.message.includes(name), found.message);
      write(name, text);
    }
  write('identity.json', '{"ztAPI": "https://lo');
  const found = await findingOf(dataDir, 'identities');
  assert.equal(found.state, 'failure');
  assert.match(found.message, /identity\.json is damaged/);
  assert.match(found.remedy ?? '', /enroll again/);
});
