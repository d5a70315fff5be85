// Identities of a router and a gateway that "frontdoor up" enrolled itself, damaged between two starts.
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { silentLog, systemClock } from '#base';
import { startControlPlane } from '#control';
import { startLocalUp } from '../support/local-up.ts';
import { httpGet } from '../support/world.ts';
import { recordingLog, type LogRecord } from '../support/recording-log.ts';

const YEAR_MS = 365 * 86_400_000;

test('damaged keys and identities of its own parts are set aside, and the parts enroll again', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'frontdoor-damaged-'));
  t.after(() => rmSync(dataDir, { recursive: true }));
  await (await startLocalUp({ dataDir, log: silentLog })).close(0);
  const key = join(dataDir, 'router/key.pem');
  writeFileSync(key, readFileSync(key, 'utf8').slice(0, 100));
  writeFileSync(join(dataDir, 'gateway/identity.json'), '');
  writeFileSync(join(dataDir, 'pki/control.key'), '');
  const records: LogRecord[] = [];
  const up = await startLocalUp({ dataDir, log: recordingLog((record) => records.push(record)) });
  await up.close(0);
  const warnings = records.filter(({ level }) => level === 'warn').map(({ message }) => message);
  for (const line of [
    'the identity of the router cannot be used: it enrolls again',
    'the identity of the gateway cannot be used: it enrolls again',
    'the file holds no private key: a new one is made',
  ])
    assert.ok(warnings.includes(line), `${line}: ${warnings.join('; ')}`);
  const kept = readdirSync(dataDir, { recursive: true }).filter((name) =>
    String(name).endsWith('.unreadable'),
  );
  assert.ok(kept.includes('router/key.pem.unreadable') && kept.includes('pki/control.key.unreadable'));
});

test('what began with a clock that was a year ahead serves once the clock is right', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'frontdoor-ahead-'));
  t.after(() => rmSync(dataDir, { recursive: true }));
  const clock = { ...systemClock, nowMs: () => Date.now() + YEAR_MS };
  const ahead = await startControlPlane({
    dataDir,
    listenHost: '127.0.0.1',
    advertiseHost: 'localhost',
    zone: 'share.localhost',
    clock,
    apiPort: 0,
    edgeApiPort: 0,
    ctrlPort: 0,
    frontendUrls: () => [],
    log: silentLog,
  });
  await ahead.close();
  const up = await startLocalUp({ dataDir, log: silentLog });
  t.after(() => up.close(0));
  const { status } = await httpGet(up.httpPort, 'nobody.share.localhost', '/');
  assert.equal(status, 404, 'the gateway has its list from the control plane');
});
