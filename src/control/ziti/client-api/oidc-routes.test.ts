// The log-in through OpenID Connect, as the Go SDK 1.2.10 was recorded, and what happens when calls are changed.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { createLocalJWKSet, jwtVerify, type JSONWebKeySet } from 'jose';
import { openEdgeFixture, rawRequest, type EdgeFixture, type Enrolled } from './edge-api-fixture.ts';

const REDIRECT = 'http://127.0.0.1:41815/auth/callback';
const TYPE = 'urn:ietf:params:oauth:token-type:';
const MINUTE_MS = 60_000;

let fixture: EdgeFixture;
let host: Enrolled;
let guest: Enrolled;

before(async () => {
  fixture = await openEdgeFixture();
  host = await fixture.enroll('host');
  guest = await fixture.enroll('guest');
});
after(() => fixture.close());

type Tokens = Readonly<
  Record<'access_token' | 'refresh_token' | 'id_token' | 'scope' | 'token_type', string>
>;

interface Call {
  readonly who?: Enrolled | undefined;
  readonly form?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
}

async function call(path: string, { who, form, headers = {}, method }: Call = {}) {
  return rawRequest(fixture, {
    path,
    method: method ?? (form === undefined ? 'GET' : 'POST'),
    headers:
      form === undefined ? headers : { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: form === undefined ? undefined : new URLSearchParams(form).toString(),
    cert: who?.identity.certPem,
    key: who?.identity.keyPem,
  });
}

const verifier = randomBytes(32).toString('base64url');
const asked: Readonly<Record<string, string>> = {
  client_id: 'native',
  code_challenge: createHash('sha256').update(verifier).digest('base64url'),
  code_challenge_method: 'S256',
  method: 'cert',
  prompt: 'Welcome back!',
  redirect_uri: REDIRECT,
  response_type: 'code',
  scope: 'openid offline_access',
  state: 'a-state',
};

async function begin(who: Enrolled, change: Readonly<Record<string, string>> = {}): Promise<string> {
  const query = new URLSearchParams({ ...asked, ...change }).toString();
  const { status, headers } = await call(`/oidc/authorize?${query}`, { who });
  assert.equal(status, 302);
  assert.match(headers.location!, /^\/oidc\/login\/cert\?authRequestID=/);
  const page = await call(headers.location!, { who });
  assert.equal(page.status, 200);
  return String(page.headers['auth-request-id']);
}

/** Returns the address with the code's id, relative to the server. */
async function logIn(who: Enrolled, id: string): Promise<string> {
  const { status, headers } = await call('/oidc/login/cert', {
    who,
    form: { id, configTypes: 'host.v1', envOs: 'linux', sdkAppID: 'an-app', password: '', username: '' },
  });
  assert.equal(status, 302);
  assert.ok(headers.location!.startsWith(`${fixture.apiUrl}/oidc/authorize/callback?id=`));
  return headers.location!.slice(fixture.apiUrl.length);
}

async function codeOf(who: Enrolled): Promise<string> {
  const { headers } = await call(await logIn(who, await begin(who)), { who });
  const target = new URL(headers.location!);
  assert.equal(`${target.origin}${target.pathname}`, REDIRECT);
  assert.equal(target.searchParams.get('state'), 'a-state');
  return target.searchParams.get('code')!;
}

function grant(form: Readonly<Record<string, string>>) {
  return call('/oidc/oauth/token', {
    form,
    headers: { authorization: `Basic ${Buffer.from('native:').toString('base64')}` },
  });
}

function byCode(code: string, change: Readonly<Record<string, string>> = {}) {
  return grant({
    grant_type: 'authorization_code',
    code,
    code_verifier: verifier,
    redirect_uri: REDIRECT,
    ...change,
  });
}

async function tokensOf(who: Enrolled): Promise<Tokens> {
  const answer = await byCode(await codeOf(who));
  assert.equal(answer.status, 200, answer.text);
  return answer.json as Tokens;
}

function exchange(subject: string, requested: string, subjectType = 'refresh_token') {
  return grant({
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    subject_token: subject,
    subject_token_type: `${TYPE}${subjectType}`,
    requested_token_type: `${TYPE}${requested}`,
  });
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const errorOf = (answer: { json: unknown }): string => (answer.json as { error: string }).error;
const claimsOf = (token: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as Record<string, unknown>;

describe('a log-in through OpenID Connect', () => {
  it('announces only what works, with the issuer that the client dials', async () => {
    const { json } = await call('/oidc/.well-known/openid-configuration');
    const metadata = json as Record<string, unknown>;
    assert.equal(metadata['issuer'], `${fixture.apiUrl}/oidc`);
    assert.equal(metadata['jwks_uri'], `${fixture.apiUrl}/oidc/keys`);
    assert.deepEqual(metadata['code_challenge_methods_supported'], ['S256']);
    const foreign = await call('/oidc/.well-known/openid-configuration', {
      headers: { host: 'localhost:1' },
    });
    assert.equal((foreign.json as { issuer: string }).issuer, `${fixture.apiUrl}/oidc`);
  });

  it('by certificate gives tokens with the recorded claims, which verify by the key set', async () => {
    const tokens = await tokensOf(host);
    const keys = createLocalJWKSet((await call('/oidc/keys')).json as JSONWebKeySet);
    const issuer = `${fixture.apiUrl}/oidc`;
    for (const token of [tokens.access_token, tokens.refresh_token, tokens.id_token])
      await jwtVerify(token, keys, { issuer, audience: 'native', algorithms: ['ES256'] });
    const access = claimsOf(tokens.access_token);
    assert.deepEqual(Object.keys(access).sort(), [
      'aud',
      'client_id',
      'exp',
      'iat',
      'iss',
      'jti',
      'nbf',
      'scopes',
      'sub',
      'z_aid',
      'z_asid',
      'z_authid',
      'z_cer',
      'z_cfs',
      'z_ckrr',
      'z_ct',
      'z_env',
      'z_iccc',
      'z_ice',
      'z_ra',
      'z_sdk',
      'z_t',
    ]);
    assert.deepEqual([access['sub'], access['z_t'], access['z_ct']], [host.id, 'a', ['host.v1']]);
    assert.deepEqual(claimsOf(tokens.refresh_token)['amr'], ['cert']);
    const id = claimsOf(tokens.id_token);
    assert.equal(id['name'], 'host');
    const half = createHash('sha256').update(tokens.access_token).digest().subarray(0, 16);
    assert.equal(id['at_hash'], half.toString('base64url'));
    assert.equal(tokens.scope, 'openid offline_access');
  });

  it('opens the API with its access token, and with a certificate of its identity alone', async () => {
    const { access_token: token } = await tokensOf(host);
    const answer = await call('/edge/client/v1/current-api-session', { who: host, headers: bearer(token) });
    assert.equal(answer.status, 200);
    const { data } = answer.json as { data: { id: string; token: string; identityId: string } };
    assert.deepEqual([data.id, data.token, data.identityId], [claimsOf(token)['z_asid'], token, host.id]);
    const path = '/current-identity';
    assert.equal((await call(path, { who: guest, headers: bearer(token) })).status, 401);
    assert.equal((await call(path, { headers: bearer(token) })).status, 401);
    const identity = await call(path, { who: host, headers: { 'zt-session': token } });
    assert.equal(identity.status, 200);
    const { envInfo, sdkInfo } = (identity.json as { data: Record<string, Record<string, string>> }).data;
    assert.deepEqual([envInfo, sdkInfo?.['appId']], [{ os: 'linux' }, 'an-app']);
  });

  it('gives service sessions, which the overlay accepts with the access token', async () => {
    const service = await fixture.share({ environmentId: host.id, name: 'by-oidc' });
    const { access_token: token } = await tokensOf(host);
    const { status, json } = await rawRequest(fixture, {
      path: '/edge/client/v1/sessions',
      method: 'POST',
      headers: bearer(token),
      body: JSON.stringify({ serviceId: service.id, type: 'Bind' }),
      cert: host.identity.certPem,
      key: host.identity.keyPem,
    });
    assert.equal(status, 201);
    const grant = fixture.tokens.verify((json as { data: { token: string } }).data.token);
    const session = fixture.sessions.byToken(token);
    assert.ok(session !== undefined && grant !== undefined);
    assert.deepEqual([grant.apiSessionId, session.isSigned], [session.id, true]);
  });

  it('is refused by name for other methods, and without a certificate', async () => {
    const query = new URLSearchParams({ ...asked, method: 'unknown' }).toString();
    assert.equal((await call(`/oidc/authorize?${query}`, { who: host })).status, 400);
    for (const method of ['totp/enroll', 'totp/enroll/verify'])
      assert.equal((await call(`/oidc/login/${method}`, { who: host, form: { id: 'x' } })).status, 401);
    const id = await begin(host);
    assert.equal((await call('/oidc/login/cert', { form: { id } })).status, 401);
  });
});

describe('a changed call of the log-in', () => {
  it('leads to no address but the client on this machine', async () => {
    const redirects = [
      'http://evil.example/auth/callback',
      'http://127.0.0.1:1/other',
      'http://127.0.0.1.evil.example/auth/callback',
      'http://user@127.0.0.1:1/auth/callback',
      'javascript:alert(1)',
      'http://127.0.0.1:1/auth/callback#x',
      '',
    ];
    for (const redirect_uri of redirects) {
      const { status, headers } = await call(
        `/oidc/authorize?${new URLSearchParams({ ...asked, redirect_uri }).toString()}`,
        { who: host },
      );
      assert.deepEqual([status, headers.location], [400, undefined], redirect_uri);
    }
    const unknown = new URLSearchParams({ ...asked, client_id: 'other' }).toString();
    assert.equal((await call(`/oidc/authorize?${unknown}`, { who: host })).status, 400);
  });

  it('without PKCE, code or openid ends at the client with an error', async () => {
    const changes: readonly (readonly [Record<string, string>, string])[] = [
      [{ code_challenge_method: 'plain' }, 'invalid_request'],
      [{ code_challenge: '' }, 'invalid_request'],
      [{ response_type: 'token' }, 'unsupported_response_type'],
      [{ scope: 'profile' }, 'invalid_scope'],
      [{ state: 'x'.repeat(600) }, 'invalid_request'],
    ];
    for (const [change, error] of changes) {
      const query = new URLSearchParams({ ...asked, ...change }).toString();
      const { status, headers } = await call(`/oidc/authorize?${query}`, { who: host });
      assert.equal(status, 302);
      assert.equal(new URL(headers.location!).searchParams.get('error'), error);
    }
  });

  it('by another identity, another stage or too late is refused', async () => {
    const id = await begin(host);
    const callback = await logIn(host, id);
    assert.equal((await call(callback, { who: guest })).status, 401);
    assert.equal((await call(callback)).status, 401);
    const login = new URL(callback, fixture.apiUrl).searchParams.get('id')!;
    assert.equal((await call('/oidc/login/cert', { who: host, form: { id: login } })).status, 401);
    const early = `/oidc/authorize/callback?${new URLSearchParams({ id }).toString()}`;
    assert.equal((await call(early, { who: host })).status, 400);
    for (const code of [id, login]) assert.equal(errorOf(await byCode(code)), 'invalid_grant');
    const late = await codeOf(host);
    fixture.clock.offsetMs += 2 * MINUTE_MS;
    assert.equal(errorOf(await byCode(late)), 'invalid_grant');
    assert.equal((await call('/oidc/login/cert', { who: host, form: { id: 'made-up' } })).status, 401);
  });

  it('with a wrong verifier, client or address gets no token, and a code works once', async () => {
    const code = await codeOf(host);
    assert.equal(errorOf(await byCode(code, { code_verifier: 'wrong' })), 'invalid_grant');
    assert.equal(errorOf(await byCode(code, { redirect_uri: `${REDIRECT}/` })), 'invalid_grant');
    const other = { authorization: `Basic ${Buffer.from('openziti:').toString('base64')}` };
    const form = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: REDIRECT };
    assert.equal((await call('/oidc/oauth/token', { form, headers: other })).status, 401);
    const answers = await Promise.all(Array.from({ length: 5 }, () => byCode(code)));
    assert.deepEqual(
      answers.map(({ status }) => status).sort((a, b) => a - b),
      [200, 400, 400, 400, 400],
    );
  });
});

describe('tokens of a log-in', () => {
  it('are refreshed by exchange, as the Go SDK does, and by refresh token', async () => {
    const tokens = await tokensOf(host);
    const renewed = (await exchange(tokens.refresh_token, 'refresh_token')).json as Tokens;
    const id = (await exchange(tokens.refresh_token, 'id_token')).json as Tokens;
    assert.equal(claimsOf(id.access_token)['name'], 'host');
    assert.equal(id.token_type, 'N_A');
    const again = (await grant({ grant_type: 'refresh_token', refresh_token: renewed.refresh_token }))
      .json as Tokens;
    for (const { access_token } of [renewed, again]) {
      assert.equal(claimsOf(access_token)['z_asid'], claimsOf(tokens.access_token)['z_asid']);
      assert.equal((await call('/version', { who: host, headers: bearer(access_token) })).status, 200);
    }
    assert.equal(
      errorOf(await exchange(tokens.access_token, 'refresh_token', 'access_token')),
      'invalid_request',
    );
    assert.equal(errorOf(await exchange(tokens.access_token, 'refresh_token')), 'invalid_grant');
    assert.equal(errorOf(await grant({ grant_type: 'password' })), 'unsupported_grant_type');
  });

  it('are refreshed once with each refresh token: a repeated call gets the same next one, and a later one ends the session', async () => {
    const tokens = await tokensOf(host);
    const refresh = async (token: string) => grant({ grant_type: 'refresh_token', refresh_token: token });
    const [renewed, repeated] = (
      await Promise.all([refresh(tokens.refresh_token), exchange(tokens.refresh_token, 'refresh_token')])
    ).map(({ json }) => json as Tokens) as [Tokens, Tokens];
    assert.equal(claimsOf(renewed.refresh_token)['jti'], claimsOf(repeated.refresh_token)['jti']);
    const next = (await refresh(renewed.refresh_token)).json as Tokens;
    const version = async ({ access_token }: Tokens): Promise<number> =>
      (await call('/current-identity', { who: host, headers: bearer(access_token) })).status;
    assert.equal(await version(next), 200);
    assert.equal(errorOf(await exchange(tokens.refresh_token, 'access_token')), 'invalid_grant');
    assert.equal(await version(next), 401);
    assert.equal(errorOf(await refresh(next.refresh_token)), 'invalid_grant');

    const left = await tokensOf(host);
    const taken = (await exchange(left.refresh_token, 'refresh_token')).json as Tokens;
    fixture.clock.offsetMs += MINUTE_MS;
    assert.equal(errorOf(await refresh(left.refresh_token)), 'invalid_grant');
    assert.equal(await version(taken), 401);
  });

  it('expire: access after half an hour, refresh after a day without use', async () => {
    const tokens = await tokensOf(host);
    const status = async (token: string): Promise<number> =>
      (await call('/current-identity', { who: host, headers: bearer(token) })).status;
    fixture.clock.offsetMs += 31 * MINUTE_MS;
    await fixture.sessions.tick();
    assert.equal(await status(tokens.access_token), 401);
    const renewed = (await exchange(tokens.refresh_token, 'refresh_token')).json as Tokens;
    assert.equal(await status(renewed.access_token), 200);
    fixture.clock.offsetMs += 23 * 60 * MINUTE_MS;
    await fixture.sessions.tick();
    const last = (await exchange(renewed.refresh_token, 'refresh_token')).json as Tokens;
    assert.equal(await status(last.access_token), 200);
    fixture.clock.offsetMs += 24 * 60 * MINUTE_MS + 1_000;
    await fixture.sessions.tick();
    assert.equal(errorOf(await exchange(last.refresh_token, 'refresh_token')), 'invalid_grant');
  });

  it('end with their session: by revocation, log-out, and with their identity', async () => {
    const revoked = await tokensOf(host);
    assert.equal((await call('/oidc/revoke', { form: { token: revoked.refresh_token } })).status, 200);
    assert.equal((await call('/oidc/revoke', { form: { token: 'none' } })).status, 200);
    const left = await tokensOf(host);
    const path = '/current-api-session';
    const logOut = { who: host, headers: bearer(left.access_token), method: 'DELETE' };
    assert.equal((await call(path, logOut)).status, 200);
    for (const { access_token, refresh_token } of [revoked, left]) {
      assert.equal((await call(path, { who: host, headers: bearer(access_token) })).status, 401);
      assert.equal(errorOf(await exchange(refresh_token, 'refresh_token')), 'invalid_grant');
    }
  });

  it('of other kinds, other keys and changed ones open nothing', async () => {
    const { access_token, refresh_token, id_token } = await tokensOf(host);
    const [head, body, signature] = access_token.split('.');
    const claims: Record<string, unknown> = { ...claimsOf(access_token), sub: guest.id };
    const changed = `${head}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.${signature}`;
    const none = Buffer.from(JSON.stringify({ alg: 'none', typ: 'JWT' })).toString('base64url');
    const service = fixture.tokens.mint({
      serviceId: 's',
      identityId: host.id,
      apiSessionId: String(claims['z_asid']),
      type: 'Dial',
    });
    for (const token of [
      refresh_token,
      id_token,
      service,
      changed,
      `${none}.${body}.`,
      `${head}.${body}.AAAA`,
      'eyJ',
    ])
      assert.equal(
        (await call('/current-identity', { who: host, headers: bearer(token) })).status,
        401,
        token,
      );
  });

  it('are not sent to routers, which get the opaque tokens alone', async () => {
    const { access_token } = await tokensOf(host);
    const session = fixture.sessions.byToken(access_token)!;
    assert.equal(fixture.sessions.byToken(session.token), undefined);
  });

  it('that are guessed from one address have to wait', async () => {
    let status = 0;
    for (let n = 0; n < 150 && status !== 429; n += 1) ({ status } = await byCode('guess'));
    assert.equal(status, 429);
  });
});
