import type { Profile } from '#domain/agent-shapes';
import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { loadProfiles, profilePath, removeProfile, saveProfile } from './profile-store.ts';

const folder = mkdtempSync(join(tmpdir(), 'profiles-'));
after(() => rmSync(folder, { recursive: true, force: true }));
let count = 0;
const newPath = (): string => profilePath({ XDG_CONFIG_HOME: join(folder, String((count += 1))) })!;

const profile: Profile = {
  apiUrl: 'https://control.example.com',
  credentials: { kind: 'account', id: 'a', secret: 's' },
  organizationId: 'o',
  frontdoorId: 'f',
};

test('profiles are kept by name in a file of their owner alone, in one step', async () => {
  const path = newPath();
  assert.deepEqual((await loadProfiles(path)).profiles, {});
  await saveProfile(path, 'default', profile);
  await saveProfile(path, 'other', { ...profile, apiUrl: 'https://other' });
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.equal(statSync(dirname(path)).mode & 0o777, 0o700);
  assert.deepEqual(readdirSync(dirname(path)), ['profiles.json']);
  assert.deepEqual((await loadProfiles(path)).profiles, {
    default: profile,
    other: { ...profile, apiUrl: 'https://other' },
  });
  assert.equal(await removeProfile(path, 'nobody'), false);
  assert.equal(await removeProfile(path, 'default'), true);
  assert.deepEqual(Object.keys((await loadProfiles(path)).profiles), ['other']);
  assert.equal(await removeProfile(path, 'other'), true);
  assert.equal(existsSync(path), false);
});

test('a file that others may read or write is refused with the remedy, and is not written over', async () => {
  for (const mode of [0o640, 0o604, 0o620, 0o606]) {
    const path = newPath();
    await saveProfile(path, 'default', profile);
    const before = readFileSync(path, 'utf8');
    chmodSync(path, mode);
    const refusal = { code: 'profiles', message: new RegExp(`run: chmod 600 ${path}`) };
    await assert.rejects(loadProfiles(path), refusal);
    await assert.rejects(saveProfile(path, 'new', profile), refusal);
    assert.equal(readFileSync(path, 'utf8'), before);
  }
});

test('a damaged file is another error than a missing one, and shows no secret', async () => {
  for (const text of [
    '',
    '{',
    '[]',
    '{"version":2,"profiles":{}}',
    '{"version":1}',
    '{"version":1,"profiles":[]}',
  ]) {
    const path = newPath();
    await saveProfile(path, 'default', profile);
    writeFileSync(path, text);
    await assert.rejects(loadProfiles(path), /has another version/);
  }
});

test('a damaged profile loses itself: the others stay usable, and it stays in the file', async () => {
  const path = newPath();
  await saveProfile(path, 'default', profile);
  const broken = { ...profile, credentials: { kind: 'account', id: 1, secret: 'hidden' } };
  writeFileSync(path, JSON.stringify({ version: 1, profiles: { staging: broken, default: profile } }));
  const { profiles, damaged } = await loadProfiles(path);
  assert.deepEqual(profiles, { default: profile });
  assert.deepEqual([...damaged], [['staging', 'credentials.id must be a text of at least 1 characters']]);
  await saveProfile(path, 'other', profile);
  const kept = JSON.parse(readFileSync(path, 'utf8')) as unknown;
  assert.deepEqual(kept, { version: 1, profiles: { staging: broken, default: profile, other: profile } });
  assert.equal(await removeProfile(path, 'staging'), true);
  assert.equal((await loadProfiles(path)).damaged.size, 0);
});

test('fields of a newer version stay in the file when this version writes it', async () => {
  const path = newPath();
  await saveProfile(path, 'default', profile);
  const newer = { version: 1, later: 1, profiles: { default: { ...profile, later: { a: 1 } } } };
  writeFileSync(path, JSON.stringify(newer));
  await saveProfile(path, 'other', profile);
  const kept = JSON.parse(readFileSync(path, 'utf8')) as unknown;
  assert.deepEqual(kept, { ...newer, profiles: { ...newer.profiles, other: profile } });
});

test('the environment sets the place of the file', () => {
  assert.equal(profilePath({ XDG_CONFIG_HOME: '/x', HOME: '/h' }), '/x/frontdoor/profiles.json');
  assert.equal(profilePath({ HOME: '/h' }), '/h/.config/frontdoor/profiles.json');
  assert.equal(profilePath({}), undefined);
});
