import assert from 'node:assert/strict';
import { createHmac, createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { createLocalJWKSet, decodeJwt, jwtVerify, SignJWT, type JSONWebKeySet, type JWTPayload } from 'jose';
import { FrontdoorError } from '#base';
import { AUDIENCE, BASE_URL, openApiWorld, type ApiWorld, type CallAnswer } from './api-fixture.ts';
import { createManagementApi } from './management-api.ts';
import { listSigningKeys } from '../../credentials/oauth/mod.ts';

type TokenBody = { access_token: string; token_type: string; expires_in: number; scope: string };

describe('the token endpoint', () => {
  let world: ApiWorld;
  let request: Record<string, unknown>;
  before(async () => {
    world = await openApiWorld({ limits: { credentials: { perSecond: 1_000, burst: 10_000 } } });
    request = {
      grant_type: 'client_credentials',
      client_id: world.first.clientId,
      client_secret: world.first.clientSecret,
      audience: AUDIENCE,
      scope: 'frontdoor.read frontdoor.write',
    };
  });
  after(() => world.close());

  const ask = (body: unknown, headers: Record<string, string> = {}): Promise<CallAnswer> =>
    world.call('POST', '/oauth/token', { body, headers, authorization: null });
  const errorOf = (answer: CallAnswer): string => (answer.body as { error: string }).error;
  const form = (fields: Record<string, unknown>): string =>
    new URLSearchParams(Object.entries(fields).map(([name, value]) => [name, String(value)])).toString();
  const asForm = { 'content-type': 'application/x-www-form-urlencoded' };
  const basic = (id: string, secret: string) => ({
    authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
  });

  it('exchanges client credentials, as JSON or as a form, in the body or by HTTP Basic', async () => {
    const { client_id, client_secret, ...rest } = request;
    const byBasic = basic(String(client_id), String(client_secret));
    for (const answer of [
      await ask(request),
      await ask(form(request), asForm),
      await ask(rest, byBasic),
      await ask(form(rest), { ...asForm, ...byBasic }),
      await ask({ ...rest, client_id }, byBasic),
    ]) {
      assert.equal(answer.status, 200, answer.text);
      const body = answer.body as TokenBody;
      assert.deepEqual(body, {
        access_token: body.access_token,
        token_type: 'Bearer',
        expires_in: 3600,
        scope: 'frontdoor.read frontdoor.write',
      });
      assert.equal(answer.headers['cache-control'], 'no-store');
      const used = await world.call('GET', `/frontdoor/${world.first.frontdoorId}`, {
        authorization: `Bearer ${body.access_token}`,
      });
      assert.equal(used.status, 200);
    }
  });

  it('grants what is asked for, and all that the client has when nothing is', async () => {
    assert.equal(
      ((await ask({ ...request, scope: 'frontdoor.read' })).body as TokenBody).scope,
      'frontdoor.read',
    );
    const { scope: _scope, ...silent } = request;
    const { body } = await ask(silent);
    assert.equal((body as TokenBody).scope, 'frontdoor.read frontdoor.write');
    const { body: narrow } = await ask({ ...request, scope: 'frontdoor.read' });
    const write = await world.call('POST', `/frontdoor/${world.first.frontdoorId}/agents/enrollments`, {
      authorization: `Bearer ${(narrow as TokenBody).access_token}`,
    });
    assert.equal(write.status, 403);
    assert.equal(errorOf(write), 'insufficient_scope');
  });

  it("refuses with RFC 6749's codes in our body", async () => {
    const without = (name: string): Record<string, unknown> =>
      Object.fromEntries(Object.entries(request).filter(([key]) => key !== name));
    const cases: [unknown, number, string][] = [
      [without('grant_type'), 400, 'invalid_request'],
      [{ ...request, grant_type: 'password' }, 400, 'unsupported_grant_type'],
      [{ ...request, grant_type: 5 }, 400, 'invalid_request'],
      [without('client_id'), 401, 'invalid_client'],
      [without('client_secret'), 401, 'invalid_client'],
      [{ ...request, client_secret: 'wrong' }, 401, 'invalid_client'],
      [{ ...request, client_id: 'unknown' }, 401, 'invalid_client'],
      [
        { ...request, client_id: world.first.accountId, client_secret: world.first.apiToken },
        401,
        'invalid_client',
      ],
      [without('audience'), 400, 'invalid_request'],
      [{ ...request, audience: BASE_URL }, 400, 'invalid_request'],
      [{ ...request, scope: 'frontdoor.read frontdoor.admin' }, 400, 'invalid_scope'],
      [{ ...request, scope: 'nonsense' }, 400, 'invalid_scope'],
      [[], 400, 'invalid_request'],
      ['null', 400, 'invalid_request'],
      ['{', 400, 'invalid_request'],
    ];
    for (const [body, status, error] of cases) {
      const answer = await ask(body, { 'content-type': 'application/json' });
      assert.equal(answer.status, status, JSON.stringify(body));
      assert.equal(errorOf(answer), error);
      assert.deepEqual(Object.keys(answer.body as object), ['error', 'message']);
      assert.ok(!answer.text.includes(world.first.clientSecret));
    }
    assert.equal(errorOf(await ask(`${form(request)}&scope=x`, asForm)), 'invalid_request');
    assert.equal(errorOf(await ask(request, basic(world.first.clientId, 'x'))), 'invalid_request');
    assert.equal((await ask('x', { 'content-type': 'text/plain' })).status, 415);
    assert.equal((await ask(undefined)).status, 400);
  });

  it("exchanges an API account's credentials when its organization allows it", async () => {
    const { organizationId, accountId, apiToken, frontdoorId } = world.first;
    const asAccount = { ...request, client_id: accountId, client_secret: apiToken, scope: 'frontdoor.admin' };
    assert.equal(errorOf(await ask(asAccount)), 'invalid_client');
    const allow = (tokenExchange: boolean) =>
      world.call('PATCH', `/organizations/${organizationId}/settings`, { body: { tokenExchange } });
    await allow(true);
    const { status, body } = await ask({ ...asAccount, scope: 'frontdoor.read' });
    assert.equal(status, 200);
    const authorization = `Bearer ${(body as TokenBody).access_token}`;
    assert.equal((await world.call('GET', `/frontdoor/${frontdoorId}`, { authorization })).status, 200);
    await allow(false);
    assert.equal(errorOf(await ask(asAccount)), 'invalid_client');
    assert.equal((await world.call('GET', `/frontdoor/${frontdoorId}`, { authorization })).status, 401);
  });

  it('records each token in the audit trail, and issues none that it could not record', async () => {
    // Refusals of the tests before are written some time after their answers.
    const logins = () =>
      world.store.db
        .selectFrom('audit_event')
        .selectAll()
        .where('action', '=', 'issueToken')
        .where('result', '=', 'ok')
        .execute();
    const before = (await logins()).length;
    const answer = await ask({ ...request, scope: 'frontdoor.read' });
    const token = (answer.body as TokenBody).access_token;
    const rows = await logins();
    assert.equal(rows.length, before + 1);
    const { actor_kind, actor_id, target_kind, organization_id, after, address, result } = rows.at(-1)!;
    assert.deepEqual(
      [actor_kind, actor_id, target_kind, organization_id, address, result],
      ['client', world.first.clientId, 'oauth-client', world.first.organizationId, '127.0.0.1', 'ok'],
    );
    assert.deepEqual(JSON.parse(after!), { scopes: ['frontdoor.read'], expiresInSeconds: 3600 });
    assert.ok(!JSON.stringify(rows).includes(token.split('.')[2]!));
    const full = new FrontdoorError('unavailable', 'disk_full', 'the disk is full');
    const broken = await createManagementApi({
      ...world.options,
      store: { ...world.store, transaction: () => Promise.reject(full) },
    });
    const refused = await broken.inject({ method: 'POST', url: '/oauth/token', payload: request });
    assert.equal(refused.statusCode, 503);
    assert.ok(!refused.body.includes('access_token'));
    await broken.close();
  });

  it('signs with a published key and describes itself', async () => {
    const metadata = (
      await world.call('GET', '/.well-known/oauth-authorization-server', { authorization: null })
    ).body;
    const { issuer, token_endpoint, jwks_uri } = metadata as Record<string, string>;
    assert.equal(issuer, BASE_URL);
    assert.equal(token_endpoint, `${BASE_URL}/oauth/token`);
    const jwks = (await world.call('GET', jwks_uri!.slice(BASE_URL.length), { authorization: null })).body;
    assert.ok(!JSON.stringify(jwks).includes('"d"'));
    const token = ((await ask(request)).body as TokenBody).access_token;
    const verified = await jwtVerify(token, createLocalJWKSet(jwks as JSONWebKeySet), {
      issuer: BASE_URL,
      audience: AUDIENCE,
      algorithms: ['ES256'],
      currentDate: new Date(world.clock.nowMs()),
    });
    assert.equal(verified.payload.sub, world.first.clientId);
    assert.equal(verified.payload.exp! - verified.payload.iat!, 3600);
  });
});

describe('bearer tokens', () => {
  let world: ApiWorld;
  let token: string;
  before(async () => {
    world = await openApiWorld();
    const { body } = await world.call('POST', '/oauth/token', {
      authorization: null,
      body: {
        grant_type: 'client_credentials',
        client_id: world.first.clientId,
        client_secret: world.first.clientSecret,
        audience: AUDIENCE,
      },
    });
    token = (body as TokenBody).access_token;
  });
  after(() => world.close());

  const statusOf = async (bearer: string): Promise<number> => {
    const path = `/frontdoor/${world.first.frontdoorId}`;
    const { status, body } = await world.call('GET', path, { authorization: `Bearer ${bearer}` });
    if (status === 401) {
      assert.deepEqual(body, { error: 'unauthorized', message: 'Bearer token is missing or invalid' });
    }
    return status;
  };

  it('that anybody but we made, or for anything else, are refused', async () => {
    const [key] = await listSigningKeys(world.store.db, world.secrets, 'bearer', world.clock.nowMs());
    const ours = createPrivateKey(key!.privateKeyPem);
    const foreign = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
    const now = Math.floor(world.clock.nowMs() / 1000);
    const good: JWTPayload = {
      iss: BASE_URL,
      aud: AUDIENCE,
      sub: world.first.clientId,
      iat: now,
      exp: now + 60,
      scope: 'frontdoor.read',
      org: world.first.organizationId,
      caller: 'client',
      credential: decodeJwt(token)['credential'],
    };
    const sign = (claims: JWTPayload, header: Record<string, string> = {}, signer = ours): Promise<string> =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: 'ES256', kid: key!.id, typ: 'at+jwt', ...header })
        .sign(signer);
    assert.equal(await statusOf(await sign(good)), 200);
    const without = (name: string): JWTPayload =>
      Object.fromEntries(Object.entries(good).filter(([claim]) => claim !== name));
    const [, payload] = token.split('.');
    const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const confused = `${encoded({ alg: 'HS256', kid: key!.id, typ: 'at+jwt' })}.${payload!}`;
    const bad = [
      await sign(good, {}, foreign),
      await sign(good, { kid: 'other' }),
      await sign(good, { typ: 'JWT' }),
      await sign({ ...good, iss: 'http://elsewhere' }),
      await sign({ ...good, aud: BASE_URL }),
      await sign({ ...good, exp: now - 61 }),
      await sign({ ...good, nbf: now + 120 }),
      await sign({ ...good, org: world.other.organizationId }),
      await sign({ ...good, sub: world.first.accountId }),
      await sign({ ...good, caller: 'root' }),
      ...(await Promise.all(
        ['iss', 'aud', 'sub', 'exp', 'iat', 'scope', 'org', 'caller'].map((c) => sign(without(c))),
      )),
      `${encoded({ alg: 'none' })}.${payload!}.`,
      `${confused}.${createHmac('sha256', key!.publicKeyPem).update(confused).digest('base64url')}`,
      `${token}x`,
      token.slice(0, -4),
      `${token}.${token}`,
      createPublicKey(key!.publicKeyPem).export({ type: 'spki', format: 'der' }).toString('base64url'),
    ];
    for (const [index, each] of bad.entries()) assert.equal(await statusOf(each), 401, `case ${index}`);
    assert.equal(await statusOf(await sign({ ...good, exp: now - 59 })), 200);
  });

  it('never carry more than their client still has', async () => {
    const { clientId, frontdoorId } = world.first;
    const scopes = (text: string) =>
      world.store.transaction(async (trx, touch) => {
        await trx.updateTable('oauth_client').set({ scopes: text }).where('id', '=', clientId).execute();
        touch('caller', clientId);
      });
    await scopes('frontdoor.write');
    const answer = await world.call('GET', `/frontdoor/${frontdoorId}`, { authorization: `Bearer ${token}` });
    assert.equal(answer.status, 403);
    await scopes('frontdoor.read frontdoor.write');
  });

  it('end with their time and with their client', async () => {
    assert.equal(await statusOf(token), 200);
    world.clock.advance(3_600_000 + 59_000);
    assert.equal(await statusOf(token), 200);
    world.clock.advance(2_000);
    assert.equal(await statusOf(token), 401);
    world.clock.advance(-120_000);
    assert.equal(await statusOf(token), 200);
    const revoked = await world.call('DELETE', `/oauth-clients/${world.first.clientId}`);
    assert.equal(revoked.status, 204);
    assert.equal(await statusOf(token), 401);
  });
});
