import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { AccessWorld, keyProviderOf, keyRecord, providerOf, rulesOf } from '../testing/access-world.ts';

const OWN = 'https://app.share.localhost';
const SIBLING = 'https://evil.share.localhost';
const PARTNER = 'https://partner.example';
const LISTED = rulesOf({ allowedOrigins: [PARTNER] });
const guards = { authProviderIds: ['idp', 'keys'] };

describe('a request that a browser makes in the name of a person', () => {
  let world: AccessWorld;
  let session: string;
  before(async () => {
    world = await AccessWorld.start();
    world.setProviders(providerOf('idp'), keyProviderOf('keys', { keys: [keyRecord('k', 'a-key')] }));
    await world.serve('app', guards);
    session = world.sessionLine('app', 'idp');
  });
  after(() => world.close());
  beforeEach(() => world.publish('app', { ...guards, rules: LISTED }));

  const ask = async (method: string, ...lines: readonly string[]): Promise<number> =>
    (await world.ask('app', { method, lines })).status;

  const CASES: readonly (readonly [string, number, readonly string[]])[] = [
    ['by a page of the share', 200, [`Origin: ${OWN}`, 'Sec-Fetch-Site: same-origin']],
    ['by a page of the share, without an origin', 200, ['Sec-Fetch-Site: same-origin']],
    ['by the person', 200, ['Sec-Fetch-Site: none']],
    ['by a page of a sibling', 403, [`Origin: ${SIBLING}`, 'Sec-Fetch-Site: same-site']],
    ['by a page of a sibling that hides its name', 403, ['Origin: null', 'Sec-Fetch-Site: same-site']],
    ['by a page of a sibling, without an origin', 403, ['Sec-Fetch-Site: same-site']],
    ['by a page of another site', 403, ['Sec-Fetch-Site: cross-site']],
    ['by a page of another site, in a browser of before', 403, [`Origin: ${SIBLING}`]],
    ['by a page of the share over HTTP', 403, ['Origin: http://app.share.localhost']],
    ['by a redirect of a sibling', 403, [`Origin: ${OWN}`, 'Sec-Fetch-Site: same-site']],
    ['by a page of an allowed origin', 200, [`Origin: ${PARTNER}`, 'Sec-Fetch-Site: cross-site']],
    ['by a program, which names nothing', 200, []],
    ['by a browser that names the page alone', 403, [`Referer: ${SIBLING}/page`]],
    ['by a browser that names its own page alone', 200, [`Referer: ${OWN}/page`]],
  ];

  for (const [name, wanted, lines] of CASES) {
    it(`${name}: ${wanted} where it may change something, and 200 where it may not`, async () => {
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'MOVE']) {
        const hits = world.hits('app');
        assert.equal(await ask(method, session, ...lines), wanted, method);
        assert.equal(world.hits('app') - hits, wanted === 200 ? 1 : 0, method);
      }
      for (const method of ['GET', 'HEAD', 'OPTIONS'])
        assert.equal(await ask(method, session, ...lines), 200);
    });
  }

  it('is not what a key is shown with: a program may name any origin', async () => {
    const lines = ['X-Api-Key: a-key', `Origin: ${SIBLING}`, 'Sec-Fetch-Site: same-site'];
    assert.equal(await ask('POST', ...lines), 200);
  });

  it('is refused by a page with the code and in the words of other pages', async () => {
    const lines = [session, `Origin: ${SIBLING}`, 'Accept: application/json'];
    const { status, body } = await world.ask('app', { method: 'POST', lines });
    assert.equal(status, 403);
    assert.equal((JSON.parse(body) as { error: string }).error, 'other-origin');
  });
});

describe('a CORS preflight', () => {
  let world: AccessWorld;
  before(async () => {
    world = await AccessWorld.start();
    world.setProviders(providerOf('idp'));
    await world.serve('app', guards);
  });
  after(() => world.close());

  const lines = [`Origin: ${PARTNER}`, 'Access-Control-Request-Method: PUT'];
  const ask = async (method: string, more: readonly string[], path = '/'): Promise<number> =>
    (await world.ask('app', { method, path, lines: more })).status;

  it('reaches the service where the policy allows it, and a request that only looks like one does not', async () => {
    assert.equal(await ask('OPTIONS', lines), 401);
    world.publish('app', { ...guards, rules: rulesOf({ allowPreflights: true }), updatedAtMs: 2 });
    assert.equal(await ask('OPTIONS', lines), 200);
    assert.equal(world.last('app').headers['access-control-request-method'], 'PUT');
    assert.equal(world.last('app').headers['frontdoor-identity'], undefined);
    assert.equal(await ask('OPTIONS', lines.slice(0, 1)), 401);
    assert.equal(await ask('OPTIONS', lines.slice(1)), 401);
    assert.equal(await ask('PUT', lines), 401);
    assert.equal(await ask('OPTIONS', lines, '/.frontdoor/login'), 400);
    const network = { allow: ['10.0.0.0/8'], deny: [] };
    world.publish('app', {
      ...guards,
      rules: rulesOf({ allowPreflights: true, ip: network }),
      updatedAtMs: 3,
    });
    assert.equal(await ask('OPTIONS', lines), 403, 'all other rules hold for it');
  });
});
