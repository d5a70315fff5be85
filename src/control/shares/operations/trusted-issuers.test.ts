import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { after, before, beforeEach, describe, it } from 'node:test';
import { exportJWK, SignJWT, UnsecuredJWT, type JWK, type JWTPayload } from 'jose';
import { FrontdoorError, ManualClock, silentLog } from '#base';
import type { EgressAnswer } from '#net';
import { openApiWorld, type ApiWorld } from './api-fixture.ts';
import { TrustedIssuers, type TrustedIssuer } from '../../credentials/oauth/mod.ts';

const ISSUER = 'https://login.example';
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

interface IssuerKey {
  readonly privateKey: KeyObject;
  readonly jwk: JWK;
}

async function newKey(kid: string): Promise<IssuerKey> {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { privateKey, jwk: { ...(await exportJWK(publicKey)), kid, use: 'sig' } };
}

/** An issuer elsewhere: what it publishes, and how often it was asked. */
const issuer = {
  fetches: 0,
  keys: [] as unknown[],
  headers: {} as Record<string, string>,
  isAway: false,
  status: 200,
  async fetch(url: string): Promise<EgressAnswer> {
    assert.equal(url, `${ISSUER}/keys`);
    issuer.fetches += 1;
    if (issuer.isAway) throw new FrontdoorError('unavailable', 'unreachable', 'away');
    return { status: issuer.status, headers: issuer.headers, text: '', json: { keys: issuer.keys } };
  },
};

const config: TrustedIssuer = {
  issuer: ISSUER,
  audience: 'frontdoor',
  jwksUri: `${ISSUER}/keys`,
  algorithms: ['ES256'],
  organizationClaim: 'tenant',
  scopeClaim: 'scope',
  scopes: ['frontdoor.read', 'frontdoor.write'],
};

let clock: ManualClock;
let world: ApiWorld;
let first: IssuerKey;
let second: IssuerKey;
before(async () => ([first, second] = await Promise.all([newKey('first'), newKey('second')])));

async function open(changes: Partial<TrustedIssuer> = {}): Promise<void> {
  Object.assign(issuer, { fetches: 0, keys: [first.jwk], headers: {}, isAway: false, status: 200 });
  clock = new ManualClock();
  const issuers = new TrustedIssuers({
    issuers: [{ ...config, ...changes }],
    fetch: (url) => issuer.fetch(url),
    clock,
    log: silentLog,
  });
  await world?.close();
  world = await openApiWorld({ clock, issuers });
}
after(() => world.close());

function claims(changes: JWTPayload = {}): JWTPayload {
  const exp = Math.floor(clock.nowMs() / 1_000) + 24 * 3_600;
  const tenant = world.first.organizationId;
  return { iss: ISSUER, aud: 'frontdoor', sub: 'ada', exp, tenant, scope: 'frontdoor.read', ...changes };
}

function sign(payload: JWTPayload, key = first, header: Record<string, unknown> = {}): Promise<string> {
  return new SignJWT(payload)
    .setProtectedHeader({ alg: 'ES256', kid: key.jwk.kid!, ...header })
    .sign(key.privateKey);
}

async function callWith(token: string, path = '/caller', method = 'GET') {
  return world.call(method, path, { authorization: `Bearer ${token}` });
}
const statusOf = async (token: string): Promise<number> => (await callWith(token)).status;

describe('a token of a trusted issuer', () => {
  before(() => open());

  it('is its subject, in the organization of the issuer, with scopes that both allow', async () => {
    const id = `${ISSUER}#ada`;
    const { organizationId, frontdoorId } = world.first;
    const scope = 'openid frontdoor.admin frontdoor.read';
    const answer = await callWith(await sign(claims({ scope })));
    assert.deepEqual(answer.body, {
      kind: 'issuer',
      id,
      name: null,
      organizationId,
      scopes: ['frontdoor.read'],
    });
    const token = await sign(claims({ scope: ['frontdoor.read', 'frontdoor.write'] as never }));
    assert.equal((await callWith(token, `/frontdoor/${frontdoorId}`)).status, 200);
    const foreign = await callWith(token, `/frontdoor/${world.other.frontdoorId}`);
    assert.equal(foreign.status, 403);
    const enrolled = await callWith(token, `/frontdoor/${frontdoorId}/agents/enrollments`, 'POST');
    assert.equal(enrolled.status, 201);
    const none = await callWith(await sign(claims({ scope: 'openid' })));
    assert.deepEqual((none.body as { error: string }).error, 'insufficient_scope');
    const events = await world.store.db
      .selectFrom('audit_event')
      .select(['actor_kind', 'actor_id'])
      .where('action', '=', 'createEnrollment')
      .execute();
    assert.deepEqual(events, [{ actor_kind: 'issuer', actor_id: id }]);
  });

  it('is taken with the types that issuers write, and within a minute of clock skew', async () => {
    for (const typ of ['JWT', 'jwt', 'at+jwt', 'application/at+jwt', undefined])
      assert.equal(await statusOf(await sign(claims(), first, typ === undefined ? {} : { typ })), 200);
    const now = Math.floor(clock.nowMs() / 1_000);
    assert.equal(await statusOf(await sign(claims({ exp: now - 59 }))), 200);
    assert.equal(await statusOf(await sign(claims({ nbf: now + 59 }))), 200);
    assert.equal(await statusOf(await sign(claims({ aud: ['other', 'frontdoor'] }))), 200);
  });

  it('is refused when anything about it is not as configured', async () => {
    const stranger = await newKey('first');
    const now = Math.floor(clock.nowMs() / 1_000);
    const without = (name: string): JWTPayload =>
      Object.fromEntries(Object.entries(claims()).filter(([claim]) => claim !== name));
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const bad = [
      await sign(claims(), stranger),
      await sign(claims(), stranger, { jwk: stranger.jwk }),
      await sign(claims(), stranger, { jku: 'https://evil.example/keys', kid: 'evil' }),
      await sign(claims(), first, { typ: 'id+jwt' }),
      await sign(claims(), first, { typ: 'ce+jwt' }),
      await sign(claims(), first, { kid: 'unknown' }),
      await new SignJWT(claims()).setProtectedHeader({ alg: 'RS256', kid: 'first' }).sign(rsa.privateKey),
      new UnsecuredJWT(claims()).encode(),
      await sign(claims({ iss: `${ISSUER}/` })),
      await sign(claims({ iss: [ISSUER] as never })),
      await sign(claims({ aud: 'http://127.0.0.1:8081/frontdoor' })),
      await sign(claims({ aud: [] })),
      await sign(claims({ exp: now - 61 })),
      await sign(claims({ exp: String(now + 60) as never })),
      await sign(claims({ nbf: now + 61 })),
      await sign(claims({ iat: now + 600 })),
      await sign(claims({ sub: '' })),
      await sign(claims({ sub: 'x'.repeat(256) })),
      await sign(claims({ tenant: 'acme' })),
      await sign(claims({ tenant: '__proto__' })),
      await sign(claims({ tenant: '00000000-0000-4000-8000-000000000000' })),
      await sign(claims({ tenant: [world.first.organizationId] })),
      ...(await Promise.all(['iss', 'sub', 'aud', 'exp', 'tenant'].map((name) => sign(without(name))))),
    ];
    for (const [index, token] of bad.entries()) assert.equal(await statusOf(token), 401, `case ${index}`);
  });

  it('never speaks for our own issuer, nor ours for it', async () => {
    const ours = await sign(claims({ iss: 'http://127.0.0.1:8081' }));
    assert.equal(await statusOf(ours), 401);
  });

  it('has its organization by a table when there is one, and from its own claims', async () => {
    const organizationId = 'd4d1c3f0-5a0c-4c56-9f5a-0d2f6f8e1a11';
    await open({
      organizations: { acme: organizationId.toUpperCase() },
      scopeClaim: 'https://x/permissions',
      scopes: ['frontdoor.admin', 'frontdoor.read'],
    });
    assert.equal(await statusOf(await sign(claims({ tenant: 'acme' }))), 401);
    await world.store.db
      .insertInto('organization')
      .values({ id: organizationId, name: 'acme', created_at: 1 })
      .execute();
    const permissions = { 'https://x/permissions': ['frontdoor.admin', 'frontdoor.read'] };
    const answer = await callWith(await sign(claims({ tenant: 'acme', ...permissions })));
    assert.deepEqual((answer.body as { scopes: string[] }).scopes, ['frontdoor.admin', 'frontdoor.read']);
    for (const tenant of ['other', 'constructor', '__proto__', organizationId])
      assert.equal(await statusOf(await sign(claims({ tenant, ...permissions }))), 401, tenant);
    await world.store.db.deleteFrom('organization').where('id', '=', organizationId).execute();
    assert.equal(await statusOf(await sign(claims({ tenant: 'acme', ...permissions }))), 401);
  });
});

describe('the keys of a trusted issuer', () => {
  let token: string;
  beforeEach(async () => {
    await open();
    token = await sign(claims());
  });
  const tries = (): number => issuer.fetches;

  it('are fetched once for all waiting calls, and kept for five minutes', async () => {
    const statuses = await Promise.all(Array.from({ length: 20 }, () => statusOf(token)));
    assert.ok(statuses.every((status) => status === 200));
    assert.equal(tries(), 1);
    clock.advance(3 * MINUTE_MS);
    assert.equal(await statusOf(token), 200);
    assert.equal(tries(), 1);
    clock.advance(MINUTE_MS);
    assert.equal(await statusOf(token), 200);
    assert.equal(tries(), 2, 'fetched again before they are old, in the background');
    issuer.keys = [second.jwk];
    clock.advance(5 * MINUTE_MS);
    assert.equal(await statusOf(token), 401, 'what the issuer took back is worth nothing once they are old');
    assert.equal(tries(), 3);
  });

  it('are kept for the time that the issuer gives, from a minute to a day', async () => {
    for (const [header, freshMs] of [
      ['max-age=1', MINUTE_MS],
      ['no-store', MINUTE_MS],
      ['public, max-age=600', 10 * MINUTE_MS],
      ['Max-Age="7200"', 2 * HOUR_MS],
      ['max-age=999999999', 24 * HOUR_MS],
      ['s-maxage=10', 5 * MINUTE_MS],
    ] as const) {
      await open();
      const long = await sign(claims({ exp: Math.floor(clock.nowMs() / 1_000) + 10 * 86_400 }));
      issuer.headers = { 'cache-control': header };
      assert.equal(await statusOf(long), 200);
      clock.advance(freshMs * 0.74);
      assert.equal(await statusOf(long), 200);
      assert.equal(tries(), 1, header);
      clock.advance(freshMs * 0.26);
      assert.equal(await statusOf(long), 200);
      assert.equal(tries(), 2, header);
    }
  });

  it('are asked for again at once for a key that is new, but at most every 30 seconds', async () => {
    assert.equal(await statusOf(token), 200);
    issuer.keys = [first.jwk, second.jwk];
    const rotated = await sign(claims(), second);
    clock.advance(29_000);
    assert.equal(await statusOf(rotated), 401);
    clock.advance(1_000);
    assert.deepEqual(await Promise.all([rotated, rotated, token].map(statusOf)), [200, 200, 200]);
    assert.equal(tries(), 2);
    const unknown = await sign(claims(), await newKey('third'));
    for (let i = 0; i < 100; i += 1) assert.equal(await statusOf(unknown), 401);
    assert.equal(tries(), 2);
    clock.advance(30_000);
    for (let i = 0; i < 100; i += 1) assert.equal(await statusOf(unknown), 401);
    assert.equal(tries(), 3);
  });

  it('serve an hour longer while the issuer is away; then its tokens cannot be judged', async () => {
    assert.equal(await statusOf(token), 200);
    issuer.isAway = true;
    clock.advance(5 * MINUTE_MS);
    for (let i = 0; i < 10; i += 1) assert.equal(await statusOf(token), 200);
    assert.equal(tries(), 2);
    clock.advance(HOUR_MS - 1_000);
    assert.equal(await statusOf(token), 200);
    clock.advance(1_000);
    const answer = await callWith(token);
    assert.equal(answer.status, 503);
    assert.equal((answer.body as { error: string }).error, 'unavailable');
    const own = await world.call('GET', '/caller');
    assert.equal(own.status, 200, 'callers of our own notice nothing');
    issuer.isAway = false;
    clock.advance(30_000);
    assert.equal(await statusOf(token), 200);
  });

  it('are public ones for signatures; other keys are ignored', async () => {
    for (const [keys, status] of [
      [[{ kty: 'oct', k: 'c2VjcmV0', kid: 'first' }], 401],
      [[{ ...first.jwk, d: 'AAAA' }], 401],
      [[{ ...first.jwk, use: 'enc' }], 401],
      [[{ ...first.jwk, x: 'AAAA' }], 401],
      [[null, 5, 'x', {}, first.jwk], 200],
    ] as const) {
      await open();
      issuer.keys = [...keys];
      assert.equal(await statusOf(await sign(claims())), status, JSON.stringify(keys));
    }
    for (const change of [{ status: 500 }, { status: 302 }, { keys: 'none' as never }]) {
      await open();
      Object.assign(issuer, change);
      assert.equal(await statusOf(await sign(claims())), 503);
    }
  });
});
