// The API's description as it is served: to programs, and to people as a page that runs and fetches nothing.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, suite, test } from 'node:test';
import { openApiDocument, operations } from '#contract';
import { BASE_URL, openApiWorld, type ApiWorld } from './api-fixture.ts';
import { html, withCode } from '../../html/mod.ts';

suite('the description of the API', () => {
  let world: ApiWorld;
  before(async () => {
    world = await openApiWorld();
  });
  after(() => world.close());
  const get = (url: string, headers: Record<string, string> = {}) =>
    world.app.inject({ method: 'GET', url, headers });

  test("is OpenAPI 3.1 of this server's operations and addresses, for everyone", async () => {
    const answer = await get('/openapi.json');
    assert.equal(answer.statusCode, 200);
    assert.match(String(answer.headers['content-type']), /^application\/json/);
    const expected = openApiDocument({ baseUrl: BASE_URL, authUrl: BASE_URL });
    assert.deepEqual(answer.json(), JSON.parse(JSON.stringify(expected)));
    assert.match(expected.openapi, /^3\.1\./);
  });

  for (const url of ['/openapi.json', '/docs']) {
    test(`${url} is not sent again to a client that has it`, async () => {
      const first = await get(url);
      const tag = String(first.headers['etag']);
      assert.match(tag, /^"[\w-]{22}"$/);
      for (const held of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
        const again = await get(url, { 'if-none-match': held });
        assert.deepEqual([again.statusCode, again.body, again.headers['etag']], [304, '', tag], held);
      }
      for (const other of ['"other"', tag.slice(1, -1), '']) {
        assert.equal((await get(url, { 'if-none-match': other })).statusCode, 200, other);
      }
    });

    test(`${url} answers a HEAD without a body and refuses a body`, async () => {
      const head = await world.app.inject({ method: 'HEAD', url });
      assert.deepEqual([head.statusCode, head.body], [200, '']);
      const payload = '{"a":1}';
      const refused = await world.app.inject({
        method: 'GET',
        url,
        payload,
        headers: { 'content-type': 'application/json' },
      });
      assert.equal(refused.statusCode, 400);
    });
  }

  test('the page shows every operation, its fields and an example, and links to each', async () => {
    const { body, headers } = await get('/docs');
    assert.match(String(headers['content-type']), /^text\/html; charset=utf-8/);
    for (const { id, path, summary } of operations) {
      assert.ok(body.includes(`id="${id}"`) && body.includes(`href="#${id}"`), id);
      assert.ok(
        body.includes(html`<code>${path}</code>`.markup) && body.includes(html`${summary}`.markup),
        id,
      );
    }
    const ids = [...body.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    assert.equal(new Set(ids).size, ids.length);
  });

  test('the page runs nothing, fetches nothing and is framed by nobody', async () => {
    const { body, headers } = await get('/docs');
    const policy = String(headers['content-security-policy']);
    const [, style = ''] = /<style>([^]*?)<\/style>/.exec(body) ?? [];
    const digest = createHash('sha256').update(style).digest('base64');
    assert.ok(policy.startsWith(`default-src 'none'; style-src 'sha256-${digest}'; `));
    assert.match(policy, /frame-ancestors 'none'/);
    assert.doesNotMatch(policy, /unsafe|\*/);
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.equal(headers['referrer-policy'], 'no-referrer');
    assert.equal([...body.matchAll(/<style/g)].length, 1);
    assert.doesNotMatch(body, /<script|<link|<img|<iframe|<form| on\w+=| style=|javascript:|@import|url\(/i);
    const targets = [...body.matchAll(/ (?:href|src)="([^"]*)"/g)].map(([, target = '']) => target);
    assert.deepEqual(
      targets.filter((target) => !target.startsWith('#')),
      ['openapi.json'],
    );
  });

  test('the page has landmarks and headings in order for screen readers', async () => {
    const { body } = await get('/docs');
    assert.match(body, /<html lang="en">/);
    for (const landmark of ['header', 'nav', 'main', 'footer']) {
      assert.equal([...body.matchAll(new RegExp(`<${landmark}[ >]`, 'g'))].length, 1, landmark);
    }
    const levels = [...body.matchAll(/<h([1-6])/g)].map(([, level]) => Number(level));
    assert.equal(levels[0], 1);
    for (const [index, level] of levels.entries()) assert.ok(level - (levels[index - 1] ?? 0) <= 1);
  });

  test('text in the page stays text', () => {
    const hostile = `<script>alert('1')</script>" onload="x" & \``;
    assert.equal(
      html`<p title="${hostile}">${hostile}</p>`.markup.replaceAll(/&(?:amp|lt|gt|quot|#39);/g, ''),
      '<p title="scriptalert(1)/script onload=x  `">scriptalert(1)/script onload=x  `</p>',
    );
    assert.equal(withCode('a `<b>` c').markup, 'a <code>&lt;b&gt;</code> c');
  });
});
