// The log-in by user name and password, at the client API and through OpenID Connect, and what such a session may do.
import assert from 'node:assert/strict';
import { createHash, randomBytes, randomUUID, X509Certificate } from 'node:crypto';
import { after, before, test } from 'node:test';
import { fingerprintOf } from '#net/channel';
import { makeKeyRequest } from '#sdk';
import { hashPassword } from '../../credentials/passwords/mod.ts';
import { passwordTurns } from '../../credentials/passwords/password-hash.ts';
import { heldPasswordTurns } from '../../credentials/passwords/password-turns-fixture.ts';
import { putIdentityPassword } from '../../credentials/identities/mod.ts';
import { openEdgeFixture, rawRequest, type EdgeFixture, type Enrolled } from './edge-api-fixture.ts';

const API = '/edge/client/v1';
const REDIRECT = 'http://127.0.0.1:41815/auth/callback';
const PASSWORD = 'a long password';

interface Body {
  readonly data: Readonly<Record<string, unknown>> & readonly Readonly<Record<string, unknown>>[];
  readonly error: { readonly code: string; readonly message: string };
}

let fixture: EdgeFixture;
let other: Enrolled;
let passwordHash: string;

before(async () => {
  fixture = await openEdgeFixture();
  other = await fixture.enroll('other');
  passwordHash = await hashPassword(PASSWORD);
});
after(() => fixture.close());

interface Request {
  readonly method?: string;
  readonly token?: string;
  readonly body?: unknown;
  readonly who?: Enrolled;
}

async function call(path: string, { method, token, body, who }: Request = {}) {
  const answer = await rawRequest(fixture, {
    path,
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: token === undefined ? {} : { 'zt-session': token },
    body: typeof body === 'string' || body === undefined ? body : JSON.stringify(body),
    cert: who?.identity.certPem,
    key: who?.identity.keyPem,
  });
  return { ...answer, json: answer.json as Body };
}

/** An identity without a certificate, as administrators of OpenZiti's kind make it. */
async function person(username: string): Promise<string> {
  const id = randomUUID();
  const row = { id, kind: 'edge', frontdoor_id: null, name: username, agent_version: null } as const;
  const { store, clock } = fixture;
  await store.transaction(async (trx, touch) => {
    await trx
      .insertInto('identity')
      .values({ ...row, created_at: 1 })
      .execute();
    await putIdentityPassword(trx, { identityId: id, username, passwordHash }, clock.nowMs());
    touch('identity', id);
  });
  return id;
}

const logIn = (username: string, password = PASSWORD) =>
  call(`${API}/authenticate?method=password`, { body: { username, password, configTypes: [] } });

const tokenOf = async (username: string): Promise<string> =>
  (await logIn(username)).json.data['token'] as string;

test('a password gives a session whose token needs no certificate, and that no certificate of another identity may use', async () => {
  const id = await person('ada');
  const { status, json } = await logIn('ada');
  assert.equal(status, 200);
  assert.deepEqual([json.data['identityId'], json.data['authenticatorId']], [id, `updb.${id}`]);
  const token = json.data['token'] as string;
  const self = (await call(`${API}/current-identity`, { token })).json.data;
  assert.equal(self['id'], id);
  assert.deepEqual(self['authenticators'], { updb: { id: `updb.${id}`, username: 'ada' } });
  assert.equal((await call(`${API}/services`, { token })).status, 200);
  assert.equal((await call(`${API}/current-identity`, { token, who: other })).status, 401);
  // The log-in is recorded, without the password.
  const events = await fixture.store.db
    .selectFrom('audit_event')
    .select(['action', 'actor_id', 'after'])
    .where('actor_id', '=', id)
    .execute();
  assert.deepEqual(events, [{ action: 'logIn', actor_id: id, after: '{"method":"password"}' }]);
  assert.ok(fixture.logged.every((line) => !line.includes(PASSWORD)));
});

test('a wrong name, a wrong password and a missing one get the same answer', async () => {
  await person('bob');
  const bodies = [
    { username: 'bob', password: 'wrong' },
    { username: 'nobody', password: PASSWORD },
    { username: 'bob' },
    { username: 'bob', password: ['x'] },
    { password: PASSWORD },
    { username: 'b'.repeat(10_000), password: PASSWORD },
  ];
  for (const body of bodies) {
    const { status, json } = await call(`${API}/authenticate?method=password`, { body });
    assert.deepEqual(
      [status, json.error.code, json.error.message],
      [401, 'INVALID_AUTH', 'The authentication request failed'],
    );
  }
});

test('wrong passwords for one name have to wait, right ones of other names not; time heals it', async () => {
  await person('eve');
  await person('mallory');
  const guesses = await Promise.all(Array.from({ length: 12 }, () => logIn('eve', 'guess')));
  assert.equal(guesses.filter(({ status }) => status === 429).length, 2, 'also when they come at once');
  assert.ok(guesses.filter(({ status }) => status === 429).every(({ headers }) => headers['retry-after']));
  assert.equal((await logIn('eve')).status, 429);
  assert.equal((await logIn('mallory')).status, 200);
  fixture.clock.offsetMs += 10 * 60_000;
  assert.equal((await logIn('eve')).status, 200);
  fixture.clock.offsetMs = 0;
});

test('attempts that nobody judged, because too many waited, are no wrong passwords', async () => {
  await person('crowded');
  const release = heldPasswordTurns(passwordTurns);
  const refused = await Promise.all(Array.from({ length: 10 }, () => logIn('crowded', 'guess')));
  await release();
  assert.deepEqual(new Set(refused.map(({ status }) => status)), new Set([429]));
  assert.equal((await logIn('crowded')).status, 200);
});

test('the session gets a certificate for routers, which ends with it, and proves no identity here', async () => {
  const id = await person('carol');
  const token = await tokenOf('carol');
  const { csrPem, keyPem } = await makeKeyRequest('any name');
  const path = `${API}/current-api-session/certificates`;
  const made = await call(path, { token, body: { csr: csrPem } });
  assert.equal(made.status, 201);
  const leaf = new X509Certificate(made.json.data['certificate'] as string);
  const session = fixture.sessions.byToken(token)!;
  const spiffe = `identity/${id}/apiSession/${session.id}/apiSessionCertificate/${made.json.data['id'] as string}`;
  assert.ok(leaf.subjectAltName?.endsWith(spiffe));
  assert.deepEqual(session.fingerprints, [fingerprintOf(leaf)]);
  const asPeer = { path: '/authenticate?method=cert', method: 'POST', cert: leaf.toString(), key: keyPem };
  assert.equal((await rawRequest(fixture, asPeer)).status, 401);
  const [listed] = (await call(path, { token })).json.data;
  assert.equal(listed!['fingerprint'], fingerprintOf(leaf));
  const one = `${path}/${made.json.data['id'] as string}`;
  assert.equal((await call(one, { token, method: 'DELETE' })).status, 200);
  assert.deepEqual(session.fingerprints, []);
  assert.equal((await call(one, { token })).status, 404);
  assert.equal((await call(path, { token, body: { csr: 'x' } })).status, 400);
});

test('a password is changed with the present one alone', async () => {
  const id = await person('dave');
  const token = await tokenOf('dave');
  const path = `${API}/current-identity/authenticators/updb.${id}`;
  const change = (body: unknown, method = 'PATCH') => call(path, { token, method, body });
  assert.equal((await change({ currentPassword: 'wrong', password: 'a new password' })).status, 401);
  assert.equal((await change({ password: 'a new password' })).status, 401);
  assert.equal((await change({ currentPassword: PASSWORD, password: 'tiny' })).status, 400);
  assert.equal((await change({ currentPassword: PASSWORD, password: 'a new one' }, 'PUT')).status, 400);
  assert.equal((await change({ currentPassword: PASSWORD, password: 'a new password' })).status, 200);
  assert.equal((await logIn('dave')).status, 401);
  assert.equal((await logIn('dave', 'a new password')).status, 200);
  const whole = { username: 'david', password: PASSWORD, currentPassword: 'a new password' };
  assert.equal((await change(whole, 'PUT')).status, 200);
  assert.equal((await logIn('david')).status, 200);
  const stolen = `${API}/current-identity/authenticators/updb.${await person('frank')}`;
  assert.equal((await call(stolen, { token, method: 'PATCH', body: whole })).status, 404);
});

test('the log-in through OpenID Connect takes a password, as the Go SDK posts it, and its tokens need no certificate', async () => {
  const id = await person('grace');
  const verifier = randomBytes(32).toString('base64url');
  const query = new URLSearchParams({
    client_id: 'native',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    method: 'password',
    redirect_uri: REDIRECT,
    response_type: 'code',
    scope: 'openid offline_access',
    state: 's',
  });
  const begun = await call(`/oidc/authorize?${query.toString()}`);
  assert.match(begun.headers.location!, /^\/oidc\/login\/username\?authRequestID=/);
  const page = await call(begun.headers.location!);
  const authRequestId = String(page.headers['auth-request-id']);
  const post = (password: string) => {
    const form = { id: authRequestId, username: 'grace', password };
    return call('/oidc/login/password', { body: new URLSearchParams(form).toString() });
  };
  assert.equal((await post('wrong')).status, 401);
  const { headers } = await post(PASSWORD);
  const callback = await call(headers.location!.slice(fixture.apiUrl.length));
  const code = new URL(callback.headers.location!).searchParams.get('code')!;
  const form = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: REDIRECT };
  const answer = await rawRequest(fixture, {
    path: '/oidc/oauth/token',
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from('native:').toString('base64')}` },
    body: new URLSearchParams(form).toString(),
  });
  const { access_token: accessToken, id_token: idToken } = answer.json as Record<string, string>;
  const { amr } = JSON.parse(Buffer.from(idToken!.split('.')[1]!, 'base64url').toString()) as {
    amr: unknown;
  };
  assert.deepEqual(amr, ['password']);
  const self = await rawRequest(fixture, {
    path: `${API}/current-identity`,
    headers: { authorization: `Bearer ${accessToken}` },
  });
  assert.equal((self.json as Body).data['id'], id);
});
