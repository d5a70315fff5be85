import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { silentLog } from '#base';
import { buildConsoleNow } from '../../../test/support/built-console.ts';
import { ConsoleApp } from './app/console-app.ts';
import { openConsoleWorld, TestBrowser, type ConsoleWorld } from './console-fixture.ts';

describe('the browser program of the console', () => {
  let world: ConsoleWorld;
  let reader: TestBrowser;
  let stranger: TestBrowser;
  before(async () => {
    await buildConsoleNow();
    world = await openConsoleWorld({}, await ConsoleApp.open({ log: silentLog }));
    reader = await world.person('reader', 'rita@example.com');
    stranger = new TestBrowser(world.app);
  });
  after(() => world.close());

  const built = () => world.program.current!;
  const entry = () => [...built().files.values()].find(({ role }) => role === 'entry')!;

  it('has its document at every address that no other page has, and knows its build and its path', async () => {
    for (const path of [
      '/console',
      '/console/',
      '/console/shares?page=2',
      '/console/shares/a/b',
      '/console/log',
    ]) {
      const { statusCode, headers, body } = await reader.get(path);
      assert.equal(statusCode, 200, path);
      assert.equal(headers['content-type'], 'text/html; charset=utf-8');
      assert.match(body, /<meta name="frontdoor-console-base" content="\/console" \/>/);
      assert.ok(body.includes(`<meta name="frontdoor-console-build" content="${built().key}" />`));
      assert.ok(body.includes(`<script type="module" src="/console/assets/${entry().name}"></script>`));
      assert.match(
        body,
        /<div id="root"><div class="fd-frame" id="coming">\s*<header class="fd-head"><span class="fd-brand">Frontdoor<\/span><\/header>/,
        'there is something to show before the program',
      );
      for (const { name, role } of built().files.values())
        assert.equal(body.includes(`/console/assets/${name}"`), role !== 'later', name);
    }
    const head = await reader.send({ method: 'HEAD', url: '/console/shares' });
    assert.deepEqual([head.statusCode, head.body], [200, '']);
  });

  it('may run its own files and call its own origin, and nothing else', async () => {
    const [one, two] = [await reader.get('/console'), await reader.get('/console')];
    const nonceOf = ({ body }: typeof one): string =>
      /<style nonce="([\w+/=]{24})" id="nonce"><\/style>/.exec(body)![1]!;
    assert.equal(
      one.headers['content-security-policy'],
      `default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self' 'nonce-${nonceOf(one)}'; ` +
        `img-src 'self' data: blob:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
    );
    assert.notEqual(nonceOf(one), nonceOf(two));
    for (const [name, value] of [
      ['x-content-type-options', 'nosniff'],
      ['referrer-policy', 'no-referrer'],
      ['cross-origin-opener-policy', 'same-origin'],
      ['cross-origin-resource-policy', 'same-origin'],
      ['cache-control', 'no-store'],
    ] as const)
      assert.equal(one.headers[name], value);
  });

  it('asks strangers to log in, and then continues where they wanted to go', async () => {
    const asked = await stranger.get('/console/shares?page=2&text=a%20b');
    const to = encodeURIComponent('/console/shares?page=2&text=a%20b');
    assert.deepEqual([asked.statusCode, asked.headers.location], [303, `/console/log-in?to=${to}`]);
    assert.equal((await stranger.get('/console')).headers.location, '/console/log-in');
    const account = await stranger.get('/console/account');
    assert.equal(account.headers.location, '/console/log-in?to=%2Fconsole%2Faccount');
  });

  it('is not for people without a role, who see why', async () => {
    const waiting = await world.person('reader', 'will@example.com');
    await world.api.store.db
      .updateTable('person')
      .set({ role: null })
      .where('email', '=', 'will@example.com')
      .execute();
    const { statusCode, body } = await waiting.get('/console/shares');
    assert.equal(statusCode, 200);
    assert.match(body, /not have a role yet/);
  });

  it('is no answer of the API: an operation that is missing stays missing', async () => {
    for (const path of [
      '/console/api',
      '/console/api/',
      '/console/api/nothing',
      '/console/assets',
      '/console/assets/',
    ])
      assert.equal((await reader.get(path)).statusCode, path === '/console/assets' ? 200 : 404, path);
    assert.equal((await reader.post('/console/shares', {})).statusCode, 404);
  });

  it('gives its files to everyone, for ever, in the form that the browser reads', async () => {
    for (const { name, bytes } of built().files.values()) {
      for (const [accepted, coding, decode] of [
        ['gzip, deflate, br, zstd', 'br', brotliDecompressSync],
        ['gzip, deflate', 'gzip', gunzipSync],
        ['br;q=0, GZIP;q=0.5', 'gzip', gunzipSync],
        ['identity', undefined, (whole: Buffer) => whole],
      ] as const) {
        const answer = await stranger.get(`/console/assets/${name}`, { 'accept-encoding': accepted });
        assert.equal(answer.statusCode, 200);
        assert.equal(answer.headers['content-encoding'], coding);
        assert.ok(decode(answer.rawPayload).equals(bytes), name);
        assert.equal(answer.headers['cache-control'], 'public, max-age=31536000, immutable');
        assert.equal(answer.headers['vary'], 'accept-encoding');
        assert.equal(answer.headers['x-content-type-options'], 'nosniff');
        assert.equal(answer.headers['set-cookie'], undefined);
        const type = name.endsWith('.css') ? 'text/css; charset=utf-8' : 'text/javascript; charset=utf-8';
        assert.equal(answer.headers['content-type'], type);
      }
    }
    const head = await stranger.send({ method: 'HEAD', url: `/console/assets/${entry().name}` });
    assert.deepEqual([head.statusCode, head.body], [200, '']);
  });

  it('has no file of an older build, none outside of the build, and caches no such answer', async () => {
    for (const name of [
      'main-AAAAAAAA.js',
      'files.txt',
      `${entry().name}.br`,
      '..%2ffiles.txt',
      '__proto__',
      'watched',
    ]) {
      const { statusCode, headers } = await stranger.get(`/console/assets/${name}`);
      assert.deepEqual([statusCode, headers['cache-control']], [404, 'no-store'], name);
    }
  });

  it('learns from each answer which build is served, also from refusals', async () => {
    for (const [browser, status] of [
      [reader, 200],
      [stranger, 401],
    ] as const) {
      const { statusCode, headers } = await browser.call('GET', '/caller');
      assert.deepEqual([statusCode, headers['frontdoor-console-build']], [status, built().key]);
    }
    const direct = await world.api.call('GET', '/caller');
    assert.equal(direct.headers['frontdoor-console-build'], undefined);
  });
});

describe('a console without its browser program', () => {
  it('reports how to build it, and serves the API and the account', async (test) => {
    const world = await openConsoleWorld();
    test.after(() => world.close());
    const reader = await world.person('reader', 'rita@example.com');
    const { statusCode, body } = await reader.get('/console/shares');
    assert.equal(statusCode, 503);
    assert.match(body, /The console has not been built.*npm run build.*dist\/console/s);
    const { statusCode: ok, headers } = await reader.call('GET', '/caller');
    assert.deepEqual([ok, headers['frontdoor-console-build']], [200, undefined]);
    assert.equal((await reader.get('/console/account')).statusCode, 200);
  });
});
