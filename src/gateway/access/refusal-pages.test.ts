import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { AccessRules } from '#domain/access';
import {
  AccessWorld,
  BROWSER_LINE,
  keyProviderOf,
  keyRecord,
  providerOf,
  rulesOf,
  type ParsedAnswer,
} from '../testing/access-world.ts';

const JSON_LINE = 'Accept: application/json';
const CONTACT = 'owner@example.com';

describe('a page of refusal', () => {
  let world: AccessWorld;
  let version = 1;
  before(async () => {
    world = await AccessWorld.start();
    world.setProviders(
      providerOf('idp'),
      keyProviderOf('header', { name: 'X-Api-Key', keys: [keyRecord('k', 'a-key')] }),
      keyProviderOf('query', { placement: 'query', name: 'k"><b>', keys: [keyRecord('k', 'b-key')] }),
      keyProviderOf('bearer', { placement: 'bearer', name: '', keys: [keyRecord('k', 'c-key')] }),
    );
    await world.serve('app');
  });
  after(() => world.close());

  const ask = (
    authProviderIds: readonly string[],
    rules: Partial<AccessRules>,
    lines: readonly string[],
  ): Promise<ParsedAnswer> => {
    version += 1;
    world.publish('app', { authProviderIds, rules: rulesOf(rules), updatedAtMs: version });
    return world.ask('app', { lines });
  };
  const basicAuth = [{ name: 'ann', passwordHash: '' }];

  it('names the header or parameter that a key goes into, in the challenge, in JSON and on the page', async () => {
    const answer = await ask(['header'], {}, [JSON_LINE]);
    assert.equal(answer.status, 401);
    const challenge = answer.headers.get('www-authenticate');
    assert.equal(challenge, 'ApiKey realm="app.share.localhost", in="header", name="X-Api-Key"');
    const { credentials } = JSON.parse(answer.body) as { credentials: unknown };
    assert.deepEqual(credentials, [{ type: 'api-key', in: 'header', name: 'X-Api-Key' }]);
    const page = (await ask(['query'], {}, [BROWSER_LINE])).body;
    assert.match(page, /query parameter <code>k&quot;&gt;&lt;b&gt;<\/code>/);
    assert.match(page, /<a href="">Try again<\/a>/);
  });

  it('challenges for Bearer, Basic and both where they are taken, and for Basic never where people log in', async () => {
    const challengeOf = async (...asked: Parameters<typeof ask>) =>
      (await ask(...asked)).headers.get('www-authenticate') ?? '';
    assert.match(await challengeOf(['bearer'], {}, []), /^Bearer realm=/);
    assert.match(await challengeOf([], { basicAuth }, []), /^Basic realm=/);
    const both = await ask(['bearer'], { basicAuth }, [JSON_LINE]);
    assert.match(both.headers.get('www-authenticate') ?? '', /^Bearer realm=/);
    const { credentials } = JSON.parse(both.body) as { credentials: readonly { type: string }[] };
    assert.deepEqual(
      credentials.map(({ type }) => type),
      ['bearer', 'basic'],
    );
    assert.match(await challengeOf(['idp'], { basicAuth }, []), /^Bearer realm=/);
  });

  it('offers a person whom the rules refuse the log-out, and the owner’s contact where there is one', async () => {
    const rules = { emails: ['nobody@example.com'], contact: CONTACT };
    const session = world.sessionLine('app', 'idp');
    const page = await ask(['idp'], rules, [session, BROWSER_LINE]);
    assert.equal(page.status, 403);
    assert.match(page.body, /<a href="\/\.frontdoor\/logout">Sign out<\/a>/);
    assert.match(page.body, /<a href="mailto:owner@example\.com">Contact the owner<\/a>/);
    const { logout, contact } = JSON.parse((await ask(['idp'], rules, [session, JSON_LINE])).body) as {
      logout: string;
      contact: string;
    };
    assert.deepEqual([logout, contact], ['/.frontdoor/logout', CONTACT]);
    const web = await ask(
      [],
      { ip: { allow: ['10.0.0.0/8'], deny: [] }, contact: 'https://example.com/help' },
      [BROWSER_LINE],
    );
    assert.match(web.body, /<a href="https:\/\/example\.com\/help">Contact the owner<\/a>/);
    assert.doesNotMatch((await ask(['header'], {}, [])).body, /Contact|Log out/);
  });
});
