import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { after, before, beforeEach, test } from 'node:test';
import { fakeApi, runCli, type FakeApi, type Ran } from './cli-fixture.ts';

const HEADER =
  '{"frontdoorBackup":1,"takenAt":"2026-01-02T03:04:05.000Z","migrations":["0001-first-schema"]}\n';
const sha256 = createHash('sha256').update(HEADER).digest('hex');
const WHOLE = gzipSync(`${HEADER}${JSON.stringify({ end: { rows: {}, sha256 } })}\n`);
const CUT = WHOLE.subarray(0, WHOLE.length - 9);
const OWN_NAME = /^frontdoor-\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}Z\.backup$/;
const HOUR_MS = 3_600_000;

let parent: string;
let folder: string;
let api: FakeApi;
let body: Uint8Array = WHOLE;

before(async () => {
  parent = mkdtempSync(join(tmpdir(), 'frontdoor-backup-folder-'));
  api = await fakeApi(() => ({ status: 200, raw: body, headers: { 'content-type': 'application/gzip' } }));
});
after(() => {
  api.close();
  rmSync(parent, { recursive: true });
});
beforeEach(() => {
  body = WHOLE;
  folder = join(parent, 'kept');
  rmSync(folder, { recursive: true, force: true });
});

const backup = (...args: string[]): Promise<Ran> =>
  runCli(['backup', ...args], {
    FRONTDOOR_API_URL: api.url,
    FRONTDOOR_ACCOUNT_ID: 'acc',
    FRONTDOOR_API_TOKEN: 'tok',
  });

function fill(...names: readonly string[]): void {
  mkdirSync(folder, { recursive: true });
  for (const name of names) writeFileSync(join(folder, name), 'x');
}

const older = (day: number): string => `frontdoor-2020-01-0${day}T00-00-00Z.backup`;

test('a backup with --keep makes the directory and a dated file, both for their owner only', async () => {
  const { out, err, code } = await backup('--keep', '7', folder, '--json');
  assert.deepEqual([err, code], ['', 0]);
  const [name, ...others] = readdirSync(folder);
  assert.deepEqual(others, []);
  assert.match(name!, OWN_NAME);
  const file = join(folder, name!);
  assert.deepEqual([statSync(folder).mode & 0o777, statSync(file).mode & 0o777], [0o700, 0o600]);
  assert.deepEqual(readFileSync(file), WHOLE);
  assert.deepEqual(JSON.parse(out), { file, takenAt: '2026-01-02T03:04:05.000Z', rows: {}, removed: [] });
});

test('a backup with --keep removes the oldest of its files beyond the number, and no other file', async () => {
  const foreign = [
    'a.backup',
    'frontdoor-2019-01-01.backup',
    'secrets.key',
    `${older(1)}.old`,
    `x${older(1)}`,
  ];
  fill(...foreign, older(3), older(1), older(2));
  const { out, code } = await backup('--keep', '2', folder);
  assert.equal(code, 0);
  assert.ok(out.includes(`Removed ${older(1)}, ${older(2)}.`), out);
  const left = readdirSync(folder);
  assert.deepEqual(
    left.filter((name) => !OWN_NAME.test(name)),
    foreign.toSorted(),
  );
  assert.equal(left.filter((name) => OWN_NAME.test(name)).length, 2);
  assert.ok(left.includes(older(3)));
});

test('a backup with --keep is kept although the names of others are from the future', async () => {
  const future = ['frontdoor-2990-01-01T00-00-00Z.backup', 'frontdoor-2991-01-01T00-00-00Z.backup'];
  fill(...future);
  await backup('--keep', '1', folder);
  const left = readdirSync(folder);
  assert.equal(left.length, 1);
  assert.deepEqual(readFileSync(join(folder, left[0]!)), WHOLE);
});

test('a backup with --keep that fails leaves the older ones and no part of its own', async () => {
  fill(older(1), older(2));
  body = CUT;
  const { err, code } = await backup('--keep', '1', folder);
  assert.match(err, /the backup/);
  assert.notEqual(code, 0);
  assert.deepEqual(readdirSync(folder), [older(1), older(2)]);
});

test('a backup with --keep removes what an interrupted one left, and not what another is writing', async () => {
  const [abandoned, running] = [`${older(1)}.0123456789ab.tmp`, `${older(2)}.0123456789ab.tmp`];
  fill(abandoned, running);
  const then = new Date(Date.now() - 2 * HOUR_MS);
  utimesSync(join(folder, abandoned), then, then);
  await backup('--keep', '1', folder);
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.endsWith('.tmp')),
    [running],
  );
});

test('--keep is refused if it is no whole number of at least 1', async () => {
  for (const keep of ['0', '-1', '1.5', 'all']) {
    const { err, code } = await backup('--keep', keep, folder);
    assert.match(err, /must be a whole number from 1/);
    assert.equal(code, 2);
  }
});
