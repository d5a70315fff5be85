// No operation of the Management API answers a query that it does not know: a misspelt filter would answer everything.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, suite, test } from 'node:test';
import { operations, type Operation } from '#contract';
import { openApiWorld, type ApiWorld, type CallAnswer } from './api-fixture.ts';

suite('query parameters', () => {
  let world: ApiWorld;
  before(async () => {
    world = await openApiWorld({ limits: { credentials: { perSecond: 1_000, burst: 1_000 } } });
  });
  after(() => world.close());

  const rows = (operations as readonly Operation[]).filter(({ at }) => at === 'api');
  const messageOf = (answer: CallAnswer): string => {
    assert.equal(answer.status, 400);
    const { error, message } = answer.body as { error: string; message: string };
    assert.equal(error, 'invalid_request');
    return message;
  };
  const urlOf = ({ path }: Operation, frontdoorId: string): string =>
    path.replaceAll(/\{(\w+)\}/g, (_match, name: string) =>
      name === 'frontdoorId' ? frontdoorId : randomUUID(),
    );

  test('that an operation does not have are refused by every operation, with the nearest that it has', async () => {
    for (const row of rows) {
      const answer = await world.call(row.method, `${urlOf(row, world.first.frontdoorId)}?pagge=1`);
      const known = row.query.map(({ name }) => name);
      const message = messageOf(answer);
      if (known.length === 0) assert.match(message, /^Value for pagge must be of no query parameter/, row.id);
      else
        assert.ok(
          known.some((name) => message.startsWith(`Value for pagge must be of ${name}`)),
          message,
        );
      if (known.includes('page')) assert.match(message, /must be of page\b/, row.id);
    }
  });

  test('that are sent twice are refused by every operation that has them', async () => {
    for (const row of rows) {
      for (const { name } of row.query) {
        const others = row.query.filter((each) => each.isRequired && each.name !== name);
        const required = others.map((each) => `${each.name}=1&`).join('');
        const url = `${urlOf(row, world.first.frontdoorId)}?${required}${name}=1&${name}=1`;
        const message = messageOf(await world.call(row.method, url));
        assert.match(message, new RegExp(`^Value for ${name} must be of one value`), row.id);
      }
    }
  });

  test('are looked at when credential and frontdoor are proven, never before', async () => {
    const url = `/frontdoor/${world.other.frontdoorId}/environments?environmentId=x`;
    assert.equal((await world.call('GET', url)).status, 403);
    assert.equal((await world.call('GET', url, { authorization: null })).status, 401);
  });

  test('a misspelt filter never answers everything', async () => {
    const url = `/frontdoor/${world.first.frontdoorId}/shares?environmentIdd=${randomUUID()}`;
    assert.match(messageOf(await world.call('GET', url)), /^Value for environmentIdd must be of /);
  });

  test('that are unknown to the token issuer are ignored, as RFC 6749 requires', async () => {
    assert.equal((await world.call('GET', '/.well-known/jwks.json?v=1')).status, 200);
  });
});
