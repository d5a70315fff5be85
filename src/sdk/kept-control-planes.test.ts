import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { silentLog } from '#base';
import { CONTROL_PLANES_FILE, KeptControlPlanes } from './kept-control-planes.ts';

const [A, B] = ['https://a.example:1280', 'https://b.example:1280'] as const;
let folder: string;
let path: string;
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'frontdoor-control-planes-'));
  path = join(folder, CONTROL_PLANES_FILE);
});
after(() => rmSync(folder, { recursive: true, force: true }));

const load = (): Promise<KeptControlPlanes> => KeptControlPlanes.load(path, silentLog);

test('a list is kept for its owner alone, in order of the writes, and is of use to the client of the same enrollment', async () => {
  const kept = await load();
  assert.deepEqual(kept.urlsOf(A), []);
  await Promise.all([kept.save(A, [A]), kept.save(A, [A, B])]);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  const read = await load();
  assert.deepEqual(read.urlsOf(A), [A, B]);
  assert.deepEqual(read.urlsOf(B), [], 'it enrolled elsewhere since');
});

test('a file that others may write is not used; a damaged one is set aside; one of a newer version stays', async () => {
  chmodSync(path, 0o666);
  assert.deepEqual((await load()).urlsOf(A), []);
  chmodSync(path, 0o600);
  const newer = JSON.stringify({ format: 2, home: A, apiUrls: [] });
  writeFileSync(path, newer);
  assert.deepEqual((await load()).urlsOf(A), []);
  assert.equal(readFileSync(path, 'utf8'), newer);
  writeFileSync(path, '{');
  assert.deepEqual((await load()).urlsOf(A), []);
  assert.ok(!existsSync(path));
});

test('a list that cannot be written is in use all the same', async () => {
  const kept = await KeptControlPlanes.load(join(folder, 'missing', CONTROL_PLANES_FILE), silentLog);
  await kept.save(A, [A, B]);
});
