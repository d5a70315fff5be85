// What a command calls, and with which credentials: options, then the environment, then the profile.
import type { Profile } from '#domain/agent-shapes';
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Secret } from '#base';
import { keptIo } from '../cli-fixture.ts';
import type { CliIo } from '../cli-io.ts';
import { resolveAccess } from './access.ts';
import type { ApiFlags } from './api-options.ts';
import { profilePath, saveProfile } from './profile-store.ts';

const folder = mkdtempSync(join(tmpdir(), 'access-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const profile: Profile = {
  apiUrl: 'https://control.example.com/',
  credentials: { kind: 'client', id: 'profile-id', secret: 'profile-secret' },
  organizationId: 'profile-organization',
  frontdoorId: 'profile-frontdoor',
};
const env = { XDG_CONFIG_HOME: folder };
await saveProfile(profilePath(env)!, 'default', profile);
await saveProfile(profilePath(env)!, 'staging', { ...profile, apiUrl: 'https://staging.example.com' });

async function resolve(flags: ApiFlags, more: CliIo['env'] = {}, io: Partial<CliIo> = {}) {
  const { outward, ...access } = await resolveAccess(flags, keptIo({ ...env, ...more }, io));
  assert.ok(outward);
  return access;
}

test('an option goes before the environment, the environment before the profile, the profile before the default', async () => {
  const fromEnv = {
    FRONTDOOR_API_URL: 'https://control.example.com',
    FRONTDOOR_ACCOUNT_ID: 'env-id',
    FRONTDOOR_API_TOKEN: 'env-token',
    FRONTDOOR_ID: 'env-frontdoor',
  };
  const flags = {
    api: 'https://option',
    account: 'option-id',
    token: new Secret('option-token'),
    frontdoor: 'option-frontdoor',
  };
  assert.deepEqual(await resolve(flags, fromEnv), {
    apiUrl: 'https://option',
    credentials: { kind: 'account', id: 'option-id', secret: 'option-token' },
    frontdoorId: 'option-frontdoor',
  });
  assert.deepEqual(await resolve({}, fromEnv), {
    apiUrl: 'https://control.example.com',
    credentials: { kind: 'account', id: 'env-id', secret: 'env-token' },
    frontdoorId: 'env-frontdoor',
    profileName: 'default',
  });
  assert.deepEqual(await resolve({}), {
    apiUrl: profile.apiUrl,
    credentials: profile.credentials,
    frontdoorId: 'profile-frontdoor',
    organizationId: 'profile-organization',
    profileName: 'default',
  });
  const none = await resolveAccess({}, keptIo());
  assert.equal(none.apiUrl, 'http://127.0.0.1:8081');
  assert.equal(none.credentials, undefined);
  assert.match(none.missing!, /not signed in: run "frontdoor login"/);
});

test('an OAuth client of the environment is taken when no account is named', async () => {
  const client = { FRONTDOOR_CLIENT_ID: 'c', FRONTDOOR_CLIENT_SECRET: 's' };
  assert.deepEqual((await resolve({}, client)).credentials, { kind: 'client', id: 'c', secret: 's' });
  const account = { FRONTDOOR_ACCOUNT_ID: 'a', FRONTDOOR_API_TOKEN: 't' };
  assert.equal((await resolve({}, { ...client, ...account })).credentials?.kind, 'account');
  assert.equal((await resolve({ client: 'x' }, { ...client, ...account })).credentials?.id, 'x');
  await assert.rejects(resolve({ account: 'a', client: 'c' }), /not both/);
  await assert.rejects(resolve({}, { FRONTDOOR_ACCOUNT_ID: 'a' }), { kind: 'unauthenticated' });
  await assert.rejects(resolve({ client: 'c' }), /FRONTDOOR_CLIENT_SECRET/);
});

test('the credentials of a profile go to its own address only', async () => {
  for (const access of [
    await resolve({ api: 'https://elsewhere' }),
    await resolve({}, { FRONTDOOR_API_URL: 'https://elsewhere' }),
  ]) {
    assert.equal(access.credentials, undefined);
    assert.equal(access.frontdoorId, undefined);
    assert.match(
      access.missing!,
      /the profile is for https:\/\/control\.example\.com\/, not for https:\/\/elsewhere/,
    );
  }
  assert.equal((await resolve({ api: 'https://control.example.com' })).credentials?.id, 'profile-id');
});

test('a profile is chosen by option or environment; the error for a missing one lists the existing ones', async () => {
  assert.equal((await resolve({ profile: 'staging' })).apiUrl, 'https://staging.example.com');
  assert.equal((await resolve({}, { FRONTDOOR_PROFILE: 'staging' })).profileName, 'staging');
  await assert.rejects(resolve({ profile: 'live' }), /no profile live: existing profiles: default, staging/);
});

test('a secret is read from standard input by "-", and only one thing is', async () => {
  const input = (): Promise<string> => Promise.resolve('typed\n');
  const access = await resolve({ account: 'a', token: new Secret('-') }, {}, { input });
  assert.deepEqual(access.credentials, { kind: 'account', id: 'a', secret: 'typed' });
  await assert.rejects(resolve({ account: 'a', token: new Secret('-') }), /standard input is empty/);
  await assert.rejects(
    resolve({ client: 'a', clientSecret: new Secret('-'), token: new Secret('-') }, {}, { input }),
    /only one value/,
  );
});

test('credentials are taken from a file after options and before the profile, and so is their frontdoor', async () => {
  const [first, admin] = [join(folder, 'first.json'), join(folder, 'admin.json')];
  const account = { accountId: 'file-id', apiToken: 'file-token' };
  writeFileSync(first, JSON.stringify({ ...account, organizationId: 'o', frontdoorId: 'file-frontdoor' }));
  writeFileSync(admin, JSON.stringify(account));
  const fromFile = { kind: 'account', id: 'file-id', secret: 'file-token' };
  const named = await resolve({}, { FRONTDOOR_CREDENTIALS_FILE: first });
  assert.deepEqual([named.credentials, named.frontdoorId], [fromFile, 'file-frontdoor']);
  assert.deepEqual((await resolve({ credentialsFile: admin })).credentials, fromFile);
  const given = { FRONTDOOR_ACCOUNT_ID: 'a', FRONTDOOR_API_TOKEN: 't' };
  const both = { ...given, FRONTDOOR_CREDENTIALS_FILE: first };
  assert.equal((await resolve({}, both)).credentials!.id, 'a');
  assert.equal((await resolve({ credentialsFile: first }, given)).credentials!.id, 'file-id');
  await assert.rejects(resolve({ credentialsFile: first, account: 'a' }), { code: 'two-callers' });
  await assert.rejects(resolve({ credentialsFile: join(folder, 'none') }), /--credentials-file: cannot read/);
  writeFileSync(admin, '{"accountId":"a","apiToken":7,"other":"hidden"}');
  await assert.rejects(resolve({ credentialsFile: admin }), (error: Error) => {
    assert.match(error.message, /admin\.json: file of API credentials: apiToken must be/);
    return !error.message.includes('hidden');
  });
});

test('the CA file is read, and a missing one is an error', async () => {
  const ca = join(folder, 'ca.pem');
  writeFileSync(ca, 'PEM');
  assert.equal((await resolve({ ca })).ca, 'PEM');
  assert.equal((await resolve({}, { FRONTDOOR_CA_FILE: ca })).ca, 'PEM');
  await assert.rejects(resolve({ ca: join(folder, 'none.pem') }), /--ca .*none\.pem/);
});

test('a damaged profile is refused where it is asked for, without its secret, and the others work', async () => {
  const other = { XDG_CONFIG_HOME: join(folder, 'damaged') };
  const path = profilePath(other)!;
  await saveProfile(path, 'default', profile);
  const broken = { ...profile, credentials: { kind: 'account', id: 1, secret: 'hidden' } };
  writeFileSync(path, JSON.stringify({ version: 1, profiles: { staging: broken, default: profile } }));
  assert.equal((await resolve({}, other)).profileName, 'default');
  await assert.rejects(resolve({ profile: 'staging' }, other), (error: Error) => {
    assert.match(error.message, /^profile staging is damaged: credentials\.id must be a text/);
    return !error.message.includes('hidden');
  });
});
