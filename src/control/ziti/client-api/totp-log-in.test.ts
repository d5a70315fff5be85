// The second factor: enrollment, log-in with a code at the client API and through OpenID Connect, recovery codes, and replays.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { qrTextOf } from '../../credentials/totp/bitmap-png-fixture.ts';
import { bytesOfBase32 } from '../../credentials/totp/base32-fixture.ts';
import { openEdgeFixture, rawRequest, type EdgeFixture, type Enrolled } from './edge-api-fixture.ts';
import { codeAt, TOTP_STEP_MS } from '../../credentials/totp/totp-code.ts';

const API = '/edge/client/v1';
const MFA = `${API}/current-identity/mfa`;

interface Body {
  readonly data: Readonly<Record<string, unknown>>;
  readonly error: { readonly code: string };
}

let fixture: EdgeFixture;

before(async () => {
  fixture = await openEdgeFixture();
});
after(() => fixture.close());

interface Request {
  readonly method?: string;
  readonly token?: string;
  readonly body?: unknown;
  readonly code?: string;
}

async function call(who: Enrolled | undefined, path: string, { method, token, body, code }: Request = {}) {
  const headers: Record<string, string> = {};
  if (token !== undefined) headers['zt-session'] = token;
  if (code !== undefined) headers['mfa-validation-code'] = code;
  const answer = await rawRequest(fixture, {
    path,
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers,
    body: typeof body === 'string' || body === undefined ? body : JSON.stringify(body),
    cert: who?.identity.certPem,
    key: who?.identity.keyPem,
  });
  return { ...answer, json: answer.json as Body };
}

const logIn = (who: Enrolled) => call(who, `${API}/authenticate?method=cert`, { body: {} });

interface Person {
  readonly who: Enrolled;
  readonly token: string;
  readonly secret: Buffer;
  readonly recoveryCodes: readonly string[];
  /** A code that was not used yet. */
  nextCode(): string;
}

/** An identity that has enrolled. */
async function enrolled(name: string): Promise<Person> {
  const who = await fixture.enroll(name);
  const token = (await logIn(who)).json.data['token'] as string;
  assert.equal((await call(who, MFA, { token })).status, 404);
  assert.equal((await call(who, MFA, { token, method: 'POST' })).status, 201);
  const { isVerified, provisioningUrl, recoveryCodes } = (await call(who, MFA, { token })).json.data;
  assert.equal(isVerified, false);
  const encoded = new URL(provisioningUrl as string).searchParams.get('secret')!;
  const secret = bytesOfBase32(encoded);
  const nextCode = (): string => {
    // Each step has one code, which is accepted once.
    fixture.clock.offsetMs += TOTP_STEP_MS;
    return codeAt(secret, fixture.clock.nowMs());
  };
  const wrong = await call(who, `${MFA}/verify`, { token, body: { code: '000000' } });
  assert.deepEqual([wrong.status, wrong.json.error.code], [400, 'MFA_INVALID_TOKEN']);
  assert.equal((await call(who, `${MFA}/verify`, { token, body: { code: nextCode() } })).status, 200);
  return { who, token, secret, recoveryCodes: recoveryCodes as string[], nextCode };
}

test('codes are those of RFC 6238', () => {
  const secret = Buffer.from('12345678901234567890');
  for (const [seconds, code] of [
    [59, '287082'],
    [1_111_111_109, '081804'],
    [20_000_000_000, '353130'],
  ] as const)
    assert.equal(codeAt(secret, seconds * 1_000), code);
});

test('the URL is shown as a QR code until the enrollment is complete, to the identity alone', async () => {
  const { who, token } = await enrolled('quentin');
  const image = (whose: Enrolled, session: string) => call(whose, `${MFA}/qr-code`, { token: session });
  assert.equal((await image(who, token)).status, 404, 'complete');
  const other = await fixture.enroll('quinn '.repeat(20));
  const session = (await logIn(other)).json.data['token'] as string;
  assert.equal((await image(other, session)).status, 404, 'not begun');
  await call(other, MFA, { token: session, method: 'POST' });
  assert.equal((await image(who, session)).status, 401);
  const { status, headers, bytes } = await image(other, session);
  assert.deepEqual(
    [status, headers['content-type'], headers['cache-control']],
    [200, 'image/png', 'no-store'],
  );
  const { provisioningUrl } = (await call(other, MFA, { token: session })).json.data;
  assert.equal(qrTextOf(bytes), provisioningUrl);
});

test('a log-in opens nothing before its code, and everything after it with the same token', async () => {
  const { who, nextCode } = await enrolled('ada');
  const answer = await logIn(who);
  const { token, isMfaRequired, isMfaComplete, authQueries } = answer.json.data;
  assert.deepEqual([isMfaRequired, isMfaComplete], [true, false]);
  assert.deepEqual((authQueries as Record<string, unknown>[])[0]!['httpUrl'], './authenticate/mfa');
  const opened = { token: token as string };
  const before = fixture.sessions.size;
  for (const path of ['/services', '/current-identity', '/current-identity/mfa'])
    assert.equal((await call(who, `${API}${path}`, opened)).status, 401, path);
  const pending = (await call(who, `${API}/current-api-session`, opened)).json.data;
  assert.equal(pending['isMfaComplete'], false);
  assert.equal(fixture.sessions.size, before, 'nothing is kept for it');
  const code = nextCode();
  const other = await fixture.enroll('thief');
  const path = `${API}/authenticate/mfa`;
  assert.equal((await call(other, path, { ...opened, body: { code } })).status, 401);
  assert.equal((await call(who, path, { ...opened, body: { code: 'x' } })).status, 400);
  assert.equal((await call(who, path, { ...opened, body: { code } })).status, 200);
  const session = (await call(who, `${API}/current-api-session`, opened)).json.data;
  assert.deepEqual([session['isMfaComplete'], session['id']], [true, answer.json.data['id']]);
  assert.equal((await call(who, `${API}/services`, opened)).status, 200);
});

test('a code is accepted once, in every log-in', async () => {
  const { who, nextCode } = await enrolled('bob');
  const code = nextCode();
  const [first, second] = [await logIn(who), await logIn(who)];
  const pass = (answer: typeof first) =>
    call(who, `${API}/authenticate/mfa`, { token: answer.json.data['token'] as string, body: { code } });
  assert.equal((await pass(first)).status, 200);
  assert.equal((await pass(second)).status, 400);
});

test('a recovery code works once, is shown for a code of the app alone, and can be replaced', async () => {
  const { who, token, recoveryCodes, nextCode } = await enrolled('carol');
  const pass = async (code: string) => {
    const answer = await logIn(who);
    const partial = answer.json.data['token'] as string;
    return (await call(who, `${API}/authenticate/mfa`, { token: partial, body: { code } })).status;
  };
  const [one, two] = recoveryCodes;
  assert.deepEqual([await pass(one!), await pass(one!)], [200, 400]);
  assert.equal((await call(who, `${MFA}/recovery-codes`, { token, code: two! })).status, 400);
  const shown = await call(who, `${MFA}/recovery-codes`, { token, code: nextCode() });
  assert.deepEqual(shown.json.data['recoveryCodes'], recoveryCodes.slice(1));
  assert.equal((await call(who, `${MFA}/recovery-codes`, { token, body: { code: nextCode() } })).status, 200);
  assert.equal(await pass(two!), 400);
  assert.equal((await call(who, MFA, { token, method: 'DELETE' })).status, 400);
  assert.equal((await call(who, MFA, { token, method: 'DELETE', code: nextCode() })).status, 200);
  assert.equal((await logIn(who)).json.data['isMfaRequired'], false);
});

test('guesses of one identity have to wait, from every address, and no log or event has a secret', async () => {
  const { who, token, recoveryCodes } = await enrolled('dave');
  const guess = () => call(who, `${API}/authenticate/mfa`, { token, body: { code: '123' } });
  const statuses = (await Promise.all(Array.from({ length: 7 }, guess))).map(({ status }) => status);
  assert.ok(statuses.filter((status) => status === 429).length >= 2, statuses.join());
  const events = await fixture.store.db.selectFrom('audit_event').selectAll().execute();
  const kept = JSON.stringify(events) + fixture.logged.join();
  assert.ok(recoveryCodes.every((code) => !kept.includes(code)));
  const actions = events.filter(({ actor_id }) => actor_id === who.id).map(({ action }) => action);
  assert.ok(actions.includes('enrollTotp') && actions.includes('verifyTotp'), actions.join());
});

test('the log-in through OpenID Connect asks for the code, as the Go SDK answers it', async () => {
  const { who, nextCode } = await enrolled('grace');
  const verifier = randomBytes(32).toString('base64url');
  const query = new URLSearchParams({
    client_id: 'native',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    redirect_uri: 'http://127.0.0.1:41815/auth/callback',
    response_type: 'code',
    scope: 'openid offline_access',
    state: 's',
  });
  const begun = await call(who, `/oidc/authorize?${query.toString()}`);
  const id = String((await call(who, begun.headers.location!)).headers['auth-request-id']);
  const totp = (code: string) =>
    rawRequest(fixture, {
      path: '/oidc/login/totp',
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id, code }),
    });
  const code = nextCode();
  assert.equal((await totp(code)).status, 401, 'the certificate comes first');
  const asked = await call(who, '/oidc/login/cert', { body: new URLSearchParams({ id }).toString() });
  assert.deepEqual([asked.status, asked.headers['totp-required']], [200, 'true']);
  const { authQueries } = asked.json as unknown as { authQueries: Record<string, unknown>[] };
  assert.deepEqual([authQueries[0]!['typeId'], authQueries[0]!['isTotpEnrolled']], ['TOTP', true]);
  assert.equal((await totp('000')).status, 400);
  const passed = await totp(code);
  assert.equal(passed.status, 302);
  const callback = await call(who, passed.headers.location!.slice(fixture.apiUrl.length));
  assert.match(callback.headers.location!, /^http:\/\/127\.0\.0\.1:41815\/auth\/callback\?code=/);
  assert.equal((await totp(code)).status, 400, 'the code was used');
});

test('a code counts for the posture of its own session, until the identity no longer has a factor', async () => {
  const { who, token, nextCode } = await enrolled('checked');
  const passedMs = (of: string) => fixture.sessions.byToken(of)?.posture?.passedMfaMs;
  assert.ok(passedMs(token)! > 0, 'the code that completed the enrollment');
  const { token: second } = (await logIn(who)).json.data as { token: string };
  assert.equal(passedMs(second), undefined);
  const code = { body: { code: nextCode() } };
  assert.equal((await call(who, `${API}/authenticate/mfa`, { token: second, ...code })).status, 200);
  assert.ok(passedMs(second)! > passedMs(token)!, 'each session has its own time');
  const again = nextCode();
  await call(who, `${API}/authenticate/mfa`, { token, body: { code: again } });
  assert.ok(passedMs(token)! > passedMs(second)!, 'the last code counts');
  assert.equal((await call(who, MFA, { token, method: 'DELETE', code: nextCode() })).status, 200);
  assert.deepEqual([passedMs(token), passedMs(second)], [undefined, undefined]);
});
