import assert from 'node:assert/strict';
import { argon2Sync } from 'node:crypto';
import { after, before, it } from 'node:test';
import type { PolicyComparisonAnswer } from '#contract/schemas';
import { makeTestAuthority } from '../../../../test/support/certificates.ts';
import { describeEachStore } from '../../store/engine/each-store-suite.ts';
import { putFailures, putInspected } from '../records/request-record-store.ts';
import { openApiWorld, type ApiWorld } from './api-fixture.ts';

const OPEN = {
  emails: [],
  claims: [],
  basicAuth: [],
  clientCertificate: null,
  ipAllow: [],
  ipDeny: [],
  publicPaths: [],
  expiresAt: null,
  rateLimit: null,
  session: { idle: 'PT8H', absolute: 'P7D' },
  allowedOrigins: [],
  allowPreflights: false,
  responseTimeoutSeconds: null,
  contact: null,
  cors: null,
  hsts: null,
  httpsRedirect: 'auto',
  warnings: [],
};
const PASSWORD = 'correct horse battery';
const CREDENTIALS = 'single name, because credentials are allowed';
const PRELOAD = 'false unless includeSubdomains is true, as preload lists demand';
const YEAR = Date.UTC(2026, 0, 1);
const timings = { decidedMs: 0.1, circuitMs: null, firstByteMs: null, doneMs: 0.2 };

/** A hundred requests that were admitted, of which one failed, a newer one that was refused, and a replay. */
async function recordRequests(
  world: ApiWorld,
  shareId: string,
  [failed, refused]: readonly [string, string],
) {
  const common = { shareId, frontdoorId: 'x', method: 'GET', host: 'compared.share.localhost' } as const;
  const admitted = {
    ...common,
    client: '192.0.2.7',
    identity: null,
    decision: 'network',
    traceId: null,
    timings,
  };
  const message = { headers: [], body: '', bodyBytes: 0, isTruncated: false };
  const inspected = Array.from({ length: 100 }, (_, at) => ({
    ...admitted,
    id: at === 50 ? failed : `${at}`.padStart(16, '0'),
    at: YEAR + (at + 1) * 1_000,
    status: 200,
    replayOf: null,
    target: '/orders?page=1',
    failure: null,
    request: message,
    answer: message,
  }));
  const replay = {
    ...inspected[0]!,
    id: 'c'.repeat(16),
    at: YEAR + 500_000,
    replayOf: failed,
    decision: 'replay',
  };
  await putInspected(world.store, {
    records: [...inspected, replay],
    frontdoorOf: () => world.first.frontdoorId,
  });
  const why = { code: 'address-denied', hop: 'client', cause: 'denied', path: '/orders' };
  const failures = [
    { ...admitted, ...why, id: failed, at: YEAR + 51_000, status: 502, decision: 'network' },
    {
      ...admitted,
      ...why,
      id: refused,
      at: YEAR + 101_000,
      status: 403,
      client: '10.2.3.4',
      decision: 'address-denied',
    },
  ];
  await putFailures(world.store, { records: failures, frontdoorOf: () => world.first.frontdoorId });
}

describeEachStore('policies of shares', (open) => {
  let world: ApiWorld;
  let root: string;
  let environmentId: string;
  before(async () => {
    world = await openApiWorld({ open });
    root = `/frontdoor/${world.first.frontdoorId}`;
    environmentId = await world.addEnvironment('edge');
    const data = { issuer: 'https://idp.example.com', client_id: 'c', client_secret: 'very-secret-indeed' };
    const staff = await provider({ name: 'people', type: 'OIDC', data });
    await share('app', { authProviderIds: [staff] });
  });
  after(() => world.close());

  const share = async (name: string, more: object = {}): Promise<void> => {
    const body = { name, environmentId, shareMode: 'public', backendMode: 'proxy', ...more };
    const made = await world.call('POST', `${root}/shares`, {
      body: { target: 'http://127.0.0.1:3000', ...body },
    });
    assert.equal(made.status, 201, made.text);
  };
  const provider = async (body: object): Promise<string> => {
    const made = await world.call('POST', `${root}/auth-providers`, { body });
    assert.equal(made.status, 201, made.text);
    return (made.body as { id: string }).id;
  };
  const put = (body: unknown, token = 'app') => world.call('PUT', `${root}/shares/${token}/policy`, { body });
  const get = (token = 'app') => world.call('GET', `${root}/shares/${token}/policy`);
  const serviceOf = (token: string) => [...world.catalog.all()].find((each) => each.token === token)!;
  const hashesOf = async () =>
    (await world.store.db.selectFrom('share_policy').select('password_hashes').execute())
      .map((row) => JSON.parse(row.password_hashes) as Record<string, string>)
      .at(0);

  it('are open when no policy was given, and again when an empty one is given', async () => {
    assert.deepEqual((await get()).body, OPEN);
    assert.equal(serviceOf('app').rules, null);
    await put({ emails: ['ann@example.com'] });
    assert.deepEqual((await put({})).body, OPEN);
    assert.equal(serviceOf('app').rules, null);
    assert.deepEqual((await get()).body, OPEN);
  });

  it('are in effect as rules when they are acknowledged, in one form', async () => {
    const { ca } = await makeTestAuthority();
    const answer = await put({
      emails: ['Ann@Example.com', '*@example.org'],
      claims: [{ claim: 'groups', anyOf: ['staff'] }],
      clientCertificate: { authorities: [`\n${ca}\n`] },
      ipAllow: ['10.0.0.0/8', '::1'],
      ipDeny: ['10.1.0.0/16'],
      publicPaths: ['/he%61lth', '/static/*'],
      expiresAt: '2031-01-01T01:00:00+01:00',
      rateLimit: { requests: 5, per: 'PT60S' },
      session: { idle: 'PT90M' },
      allowedOrigins: ['https://Partner.example:443'],
      allowPreflights: true,
      responseTimeoutSeconds: 300,
      contact: 'owner@example.com',
      cors: { origins: ['https://Partner.example:443'], headers: ['X-Token'] },
      hsts: { maxAgeSeconds: 31_536_000, includeSubdomains: true },
      httpsRedirect: 'never',
    });
    assert.equal(answer.status, 200, answer.text);
    const shown = {
      ...OPEN,
      emails: ['ann@example.com', '*@example.org'],
      claims: [{ claim: 'groups', anyOf: ['staff'] }],
      clientCertificate: { authorities: [`${ca.trim()}\n`], names: [] },
      ipAllow: ['10.0.0.0/8', '::1'],
      ipDeny: ['10.1.0.0/16'],
      publicPaths: ['/health', '/static/*'],
      expiresAt: '2031-01-01T00:00:00.000Z',
      rateLimit: { requests: 5, per: 'PT1M' },
      session: { idle: 'PT1H30M', absolute: 'P7D' },
      allowedOrigins: ['https://partner.example'],
      allowPreflights: true,
      responseTimeoutSeconds: 300,
      contact: 'owner@example.com',
      cors: {
        origins: ['https://partner.example'],
        methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
        headers: ['X-Token'],
        exposedHeaders: [],
        credentials: false,
        maxAgeSeconds: 600,
      },
      hsts: { maxAgeSeconds: 31_536_000, includeSubdomains: true, preload: false },
      httpsRedirect: 'never',
    };
    assert.deepEqual(answer.body, shown);
    assert.deepEqual((await get()).body, shown);
    assert.deepEqual((await put(shown)).body, shown);
    assert.deepEqual(serviceOf('app').rules, {
      emails: shown.emails,
      claims: shown.claims,
      basicAuth: [],
      clientCertificate: shown.clientCertificate,
      ip: { allow: shown.ipAllow, deny: shown.ipDeny },
      publicPaths: shown.publicPaths,
      expiresAtMs: Date.parse('2031-01-01T00:00:00Z'),
      rateLimit: { requests: 5, perMs: 60_000 },
      session: { idleMs: 5_400_000, absoluteMs: 7 * 86_400_000 },
      allowedOrigins: ['https://partner.example'],
      allowPreflights: true,
      responseTimeoutMs: 300_000,
      contact: 'owner@example.com',
      cors: {
        origins: ['https://partner.example'],
        methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
        headers: ['X-Token'],
        exposedHeaders: [],
        credentials: false,
        maxAgeS: 600,
      },
      hsts: { maxAgeS: 31_536_000, includeSubdomains: true, preload: false },
      httpsRedirect: 'never',
    });
  });

  it('of an earlier version have the defaults of fields that came later', async () => {
    await put({ ipDeny: ['10.1.0.0/16'] });
    const { allowedOrigins, allowPreflights, responseTimeoutSeconds, contact, warnings, ...others } = OPEN;
    const { cors, hsts, httpsRedirect, ...earlier } = others;
    const data = JSON.stringify({ ...earlier, ipDeny: ['10.1.0.0/16'] });
    await world.store.db.updateTable('share_policy').set({ data }).execute();
    const before = { allowedOrigins, allowPreflights, responseTimeoutSeconds, contact };
    const later = { ...before, cors, hsts, httpsRedirect, warnings };
    assert.deepEqual((await get()).body, { ...earlier, ...later, ipDeny: ['10.1.0.0/16'] });
    // The model reads a share again only when it is touched, which this update of the row did not do.
    const service = serviceOf('app');
    assert.deepEqual(service.rules?.allowedOrigins, []);
    const explained = await world.call('POST', `${root}/shares/app/policy/explain`, { body: {} });
    assert.equal((explained.body as { decision: string }).decision, 'login');
  });

  it('that cannot be read close their share alone, until they are set again', async () => {
    await put({ ipDeny: ['10.1.0.0/16'] });
    await world.store.db.updateTable('share_policy').set({ data: '{"emails":' }).execute();
    assert.deepEqual((await get()).body, { ...OPEN, expiresAt: '1970-01-01T00:00:00.000Z' });
    const { body } = await world.call('POST', `${root}/shares/app/policy/explain`, { body: {} });
    assert.equal((body as { reason: string }).reason, 'access-expired');
    assert.deepEqual((await put({})).body, OPEN);
  });

  it('keep passwords as argon2id alone: the mask keeps one, what is left out goes', async () => {
    const ann = { name: 'ann', password: PASSWORD };
    const answer = await put({ basicAuth: [ann, { name: 'bob', password: 'another password' }] });
    const masked = [
      { name: 'ann', password: '********' },
      { name: 'bob', password: '********' },
    ];
    assert.deepEqual((answer.body as { basicAuth: unknown }).basicAuth, masked);
    const before = (await hashesOf())!;
    const [, algorithm, version, parameters, salt = '', hash = ''] = before['ann']!.split('$');
    // The cost of tests; `password-hash.test.ts` has the one of the product.
    assert.deepEqual([algorithm, version, parameters], ['argon2id', 'v=19', 'm=64,t=1,p=1']);
    const again = argon2Sync('argon2id', {
      message: PASSWORD,
      nonce: Buffer.from(salt, 'base64'),
      tagLength: 32,
      memory: 64,
      passes: 1,
      parallelism: 1,
    });
    assert.deepEqual(again, Buffer.from(hash, 'base64'));
    assert.deepEqual(serviceOf('app').rules!.basicAuth, [
      { name: 'ann', passwordHash: before['ann'] },
      { name: 'bob', passwordHash: before['bob'] },
    ]);
    await put({ basicAuth: [masked[0]] });
    assert.deepEqual(await hashesOf(), { ann: before['ann'] });
    const lost = await put({ basicAuth: masked });
    assert.deepEqual(lost.body, {
      error: 'invalid_request',
      message: 'Value for basicAuth.1.password must be of password, as none is stored for this name',
    });
    assert.deepEqual(await hashesOf(), { ann: before['ann'] });
    const rows = await world.store.db.selectFrom('audit_event').select(['before', 'after']).execute();
    const written = JSON.stringify(rows) + world.logLines.join('');
    for (const secret of [PASSWORD, before['ann']!, salt]) assert.ok(!written.includes(secret));
    assert.match(written, /newPasswords[^\]]*ann/);
  });

  it('include no subdomains in HSTS where other shares have names', async () => {
    const { db } = world.store;
    const frontend = await db.selectFrom('frontend').selectAll().executeTakeFirstOrThrow();
    const below = {
      ...frontend,
      id: 'below',
      public_name: 'below',
      is_default: 0,
      zone: `below.app.${frontend.zone}`,
    };
    await db.insertInto('frontend').values(below).execute();
    const hsts = { maxAgeSeconds: 60, includeSubdomains: true };
    const refused = await put({ hsts });
    await db.deleteFrom('frontend').where('id', '=', 'below').execute();
    assert.equal(refused.status, 409, refused.text);
    assert.match(refused.text, /other shares have names below it: leave out includeSubdomains/);
    assert.equal((await put({ hsts })).status, 200);
    await put({});
  });

  it('are refused by the field that is wrong', async () => {
    const { issue } = await makeTestAuthority();
    const { cert: leaf } = await issue('leaf');
    const garbage = leaf.replace(/\n[A-Za-z0-9+/]{64}\n/, `\n${'A'.repeat(64)}\n`);
    const certificates = (...authorities: string[]) => ({ clientCertificate: { authorities } });
    const user = { name: 'ann', password: PASSWORD };
    const span = 'duration from PT1S to P365D (one unit as PT90M, or several as P1DT12H)';
    const wrong: readonly [object, string, string][] = [
      [{ emails: ['a*@b.example'] }, 'emails.0', 'name@domain or *@domain'],
      [{ emails: 'a@b.example' }, 'emails', 'array'],
      [{ claims: [{ claim: 'groups', anyOf: [] }] }, 'claims.0.anyOf', 'array of 1 to 100 items'],
      [{ claims: [{ claim: 'groups' }] }, 'claims.0.anyOf', 'array'],
      [
        { basicAuth: [{ name: 'a:b', password: PASSWORD }] },
        'basicAuth.0.name',
        'user name (1 to 255 characters without : or control characters)',
      ],
      [
        { basicAuth: [{ name: 'a', password: 'short' }] },
        'basicAuth.0.password',
        'string of 8 to 1024 characters',
      ],
      [{ basicAuth: [user, user] }, 'basicAuth.1.name', 'unique name'],
      [{ ipAllow: ['10.0.0.0/33'] }, 'ipAllow.0', 'address or CIDR'],
      [{ ipDeny: ['::1', 'localhost'] }, 'ipDeny.1', 'address or CIDR'],
      [
        { publicPaths: ['/a/../b'] },
        'publicPaths.0',
        '/path or /path/*, without .., ;, ? and double escapes',
      ],
      [
        { publicPaths: ['/.frontdoor/*'] },
        'publicPaths.0',
        '/path or /path/*, without .., ;, ? and double escapes',
      ],
      [
        { expiresAt: 'tomorrow' },
        'expiresAt',
        'date-time (ISO 8601 with a time zone, as 2030-01-01T00:00:00Z)',
      ],
      [{ rateLimit: { requests: 0, per: 'PT1M' } }, 'rateLimit.requests', 'integer from 1 to 1000000'],
      [{ rateLimit: { requests: 1, per: 'P1M' } }, 'rateLimit.per', span],
      [{ rateLimit: { requests: 1 } }, 'rateLimit.per', 'duration'],
      [{ session: { idle: 'PT0S' } }, 'session.idle', span],
      [{ allowedOrigins: ['https://a.example/x'] }, 'allowedOrigins.0', 'https://host origin'],
      [{ allowedOrigins: ['*'] }, 'allowedOrigins.0', 'https://host origin'],
      [{ contact: 'javascript:alert(1)' }, 'contact', 'email address or web address'],
      [{ responseTimeoutSeconds: 0 }, 'responseTimeoutSeconds', 'integer from 1 to 3600'],
      [{ responseTimeoutSeconds: 3_601 }, 'responseTimeoutSeconds', 'integer from 1 to 3600'],
      [{ allowPreflights: 'yes' }, 'allowPreflights', 'boolean'],
      [{ cors: { origins: [] } }, 'cors.origins', 'array of 1 to 50 items'],
      [{ cors: { origins: ['https://*.example'] } }, 'cors.origins.0', 'https://host origin or *'],
      [{ cors: { origins: ['*'], credentials: true } }, 'cors.origins.0', CREDENTIALS],
      [
        { cors: { origins: ['https://a.example'], headers: ['*'], credentials: true } },
        'cors.headers.0',
        CREDENTIALS,
      ],
      [{ cors: { origins: ['*'], headers: ['X: y'] } }, 'cors.headers.0', 'name of a method or header'],
      [{ hsts: { maxAgeSeconds: -1 } }, 'hsts.maxAgeSeconds', 'integer from 0 to 63072000'],
      [{ hsts: { maxAgeSeconds: 31_536_000, preload: true } }, 'hsts.preload', PRELOAD],
      [{ httpsRedirect: 'on' }, 'httpsRedirect', 'auto or always or never'],
      [certificates(), 'clientCertificate.authorities', 'array of 1 to 20 items'],
      [certificates('garbage'), 'clientCertificate.authorities.0', 'PEM certificate'],
      [certificates(garbage), 'clientCertificate.authorities.0', 'PEM certificate'],
      [certificates(leaf), 'clientCertificate.authorities.0', 'certificate authority'],
      [{ email: [] }, 'email', 'emails, claims, expiresAt'],
    ];
    for (const [body, property, type] of wrong) {
      const { status, body: refusal } = await put(body);
      const { message } = refusal as { message: string };
      assert.equal(status, 400, JSON.stringify(body));
      if (property === 'email') assert.match(message, /^Value for email must be of emails/);
      else assert.equal(message, `Value for ${property} must be of ${type}`);
    }
    const long = Array.from(
      { length: 1_000 },
      (_, at) => `${'a'.repeat(60)}.${at}@${'b'.repeat(60)}.${'c'.repeat(60)}.example`,
    );
    assert.equal((await put({ emails: long })).status, 413);
  });

  it("of another frontdoor's share, and of none, are not found", async () => {
    const foreign = await world.call('PUT', `/frontdoor/${world.other.frontdoorId}/shares/app/policy`, {
      body: {},
      authorization: world.other.authorization,
    });
    assert.deepEqual(
      [foreign.status, foreign.body],
      [404, { error: 'not_found', message: 'Share app not found' }],
    );
    for (const call of [get('none'), put({ emails: ['a@b.example'] }, 'none')])
      assert.equal((await call).status, 404);
  });

  it('go with their share, and a new one of the same name is open', async () => {
    await share('short');
    await put({ ipAllow: ['10.0.0.0/8'] }, 'short');
    await world.call('DELETE', `${root}/shares/short`);
    await share('short');
    assert.deepEqual((await get('short')).body, OPEN);
  });

  it('are explained for a request that is not sent', async () => {
    const idp = await provider({
      name: 'staff',
      type: 'OIDC',
      data: { issuer: 'https://idp.example.com', client_id: 'c', client_secret: 'very-secret-indeed' },
    });
    const keys = await provider({
      name: 'machines',
      type: 'API_KEY',
      data: {
        placement: 'header',
        name: 'x-key',
        keys: [{ name: 'build', expiresAt: '2030-01-01T00:00:00Z' }],
      },
    });
    await share('guarded', { authProviderIds: [idp, keys] });
    await put(
      {
        emails: ['*@example.com'],
        claims: [{ claim: 'groups', anyOf: ['staff'] }],
        publicPaths: ['/health'],
        ipDeny: ['10.0.0.0/8'],
        expiresAt: '2031-01-01T00:00:00Z',
      },
      'guarded',
    );
    const explain = async (question: object) => {
      const answer = await world.call('POST', `${root}/shares/guarded/policy/explain`, { body: question });
      assert.equal(answer.status, 200, answer.text);
      const { decision, status, reason } = answer.body as Record<string, unknown>;
      return [decision, status, reason];
    };
    const ann = { email: 'ann@example.com', groups: ['staff'] };
    assert.deepEqual(await explain({}), ['login', 302, 'login']);
    assert.deepEqual(await explain({ method: 'POST' }), ['unauthenticated', 401, 'credential-missing']);
    assert.deepEqual(await explain(ann), ['allow', null, 'session']);
    assert.deepEqual(await explain({ ...ann, emailVerified: false }), ['refuse', 403, 'email-missing']);
    assert.deepEqual(await explain({ ...ann, groups: [] }), ['refuse', 403, 'claim-not-met']);
    assert.deepEqual(await explain({ email: 'eve@evil.example' }), ['refuse', 403, 'email-not-allowed']);
    assert.deepEqual(await explain({ path: '/health?x' }), ['allow', null, 'public-path']);
    assert.deepEqual(await explain({ path: '/admin/../health' }), ['refuse', 400, 'path-ambiguous']);
    assert.deepEqual(await explain({ ...ann, address: '10.2.3.4' }), ['refuse', 403, 'address-denied']);
    assert.deepEqual(await explain({ ...ann, at: '2031-01-01T00:00:00Z' }), [
      'refuse',
      403,
      'access-expired',
    ]);
    assert.deepEqual(await explain({ keyName: 'build' }), ['allow', null, 'api-key build']);
    const late = { keyName: 'build', at: '2030-01-01T00:00:00Z' };
    assert.deepEqual(await explain(late), ['unauthenticated', 401, 'credential-wrong']);
    assert.deepEqual(await explain({ keyName: 'other' }), ['unauthenticated', 401, 'credential-wrong']);
    assert.deepEqual(await explain({ host: 'other.share.localhost' }), ['refuse', 404, 'no-such-host']);
    await world.call('PATCH', `${root}/auth-providers/${idp}`, { body: { enabled: false } });
    assert.deepEqual(await explain({}), ['unavailable', 503, 'login-not-available']);
    assert.deepEqual(await explain(ann), ['unauthenticated', 401, 'provider-disabled']);
    const wrong = await world.call('POST', `${root}/shares/guarded/policy/explain`, {
      body: { address: 'x' },
    });
    assert.equal((wrong.body as { message: string }).message, 'Value for address must be of IP address');
    await world.call('PATCH', `${root}/auth-providers/${idp}`, { body: { enabled: true } });
  });

  it('are explained as a draft, which is checked like a policy and not stored', async () => {
    const explain = (policy: object, more: object = {}) =>
      world.call('POST', `${root}/shares/guarded/policy/explain`, { body: { ...more, policy } });
    const before = (await get('guarded')).body;
    const reasonOf = async (...given: Parameters<typeof explain>) =>
      ((await explain(...given)).body as { reason: string }).reason;
    const ann = { email: 'ann@example.com' };
    assert.equal(await reasonOf({ emails: ['*@example.org'] }, ann), 'email-not-allowed');
    assert.equal(await reasonOf({}, ann), 'session');
    assert.equal(await reasonOf({ publicPaths: ['/'] }), 'public-path');
    const user = { name: 'bob', password: '********' };
    assert.equal(await reasonOf({ basicAuth: [user] }, { basicUser: 'bob' }), 'basic bob');
    assert.deepEqual((await get('guarded')).body, before);
    const wrong = await explain({ ipDeny: ['x'] });
    assert.deepEqual(
      [wrong.status, (wrong.body as { message: string }).message],
      [400, 'Value for policy.ipDeny.0 must be of address or CIDR'],
    );
  });

  it('are compared with a draft by the latest recorded requests and failures, each once', async () => {
    await share('compared', { authProviderIds: [] });
    await put({ ipDeny: ['10.0.0.0/8'] }, 'compared');
    const compare = async (policy: object) => {
      const answer = await world.call('POST', `${root}/shares/compared/policy/compare`, { body: policy });
      assert.equal(answer.status, 200, answer.text);
      return answer.body as PolicyComparisonAnswer;
    };
    assert.deepEqual(await compare({}), { compared: 0, unknown: 0, since: null, different: [] });
    const row = world.store.db.selectFrom('share').select('id').where('token', '=', 'compared');
    const { id: shareId } = await row.executeTakeFirstOrThrow();
    const [failed, refused] = ['a'.repeat(16), 'b'.repeat(16)];
    await recordRequests(world, shareId, [failed, refused]);
    const { compared, unknown, since, different } = await compare({ ipDeny: ['192.0.2.0/24'] });
    assert.deepEqual([compared, unknown, since], [100, 0, '2026-01-01T00:00:02.000Z']);
    assert.equal(different.length, 100);
    assert.deepEqual(different[0], {
      id: refused,
      at: '2026-01-01T00:01:41.000Z',
      method: 'GET',
      host: 'compared.share.localhost',
      path: '/orders',
      client: '10.2.3.4',
      identity: null,
      before: { decision: 'refuse', status: 403, reason: 'address-denied' },
      after: { decision: 'allow', status: null, reason: 'network' },
    });
    assert.deepEqual(
      different.filter(({ id }) => id === failed).map(({ after: { reason } }) => reason),
      ['address-denied'],
    );
    assert.deepEqual((await compare({ ipDeny: ['10.0.0.0/8'], publicPaths: ['/x'] })).different, []);
    const wrong = await world.call('POST', `${root}/shares/compared/policy/compare`, { body: { emails: 1 } });
    assert.equal((wrong.body as { message: string }).message, 'Value for emails must be of array');
    assert.equal((await world.call('POST', `${root}/shares/none/policy/compare`, { body: {} })).status, 404);
    const providers = await Promise.all(
      ['machines', 'others'].map(async (name) => {
        const data = { placement: 'header', name: `x-${name}`, keys: [{ name: 'ci' }] };
        const body = { name, type: 'API_KEY', data };
        return ((await world.call('POST', `${root}/auth-providers`, { body })).body as { id: string }).id;
      }),
    );
    const guarded = await compare({ authProviderIds: providers });
    assert.equal(guarded.different.length, 99, 'the refused address stays refused: the policy is kept');
    assert.deepEqual(guarded.different[0]!.after, {
      decision: 'unauthenticated',
      status: 401,
      reason: 'credential-missing',
    });
    const both = await compare({ authProviderIds: providers, publicPaths: ['/orders'] });
    assert.deepEqual(
      both.different.map(({ id }) => id),
      [refused],
      'the draft of the policy counts, too',
    );
    const ask = async (question: object) => {
      const path = `${root}/shares/compared/policy/explain`;
      return (await world.call('POST', path, { body: question })).body as { reason: string };
    };
    assert.equal((await ask({})).reason, 'network');
    assert.equal((await ask({ authProviderIds: providers })).reason, 'credential-missing');
    assert.equal((await ask({ authProviderIds: providers, keyName: 'ci' })).reason, 'api-key ci');
    const lost = { authProviderIds: [providers[0], '00000000-0000-4000-8000-000000000000'] };
    for (const operation of ['compare', 'explain']) {
      const path = `${root}/shares/compared/policy/${operation}`;
      const { status, body } = await world.call('POST', path, { body: lost });
      assert.equal(status, 404);
      assert.match((body as { message: string }).message, /^Auth provider 0{8}.* not found$/);
    }
  });
});
