import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import {
  AccessWorld,
  BROWSER_LINE,
  providerOf,
  rulesOf,
  type ParsedAnswer,
} from '../testing/access-world.ts';
import { LOGIN_COOKIE, SESSION_COOKIE } from './own-cookies.ts';

const PROVIDER = 'aaaa1111-0000-4000-8000-000000000001';
const SECOND = 'aaaa1111-0000-4000-8000-000000000002';

/** One browser: keeps cookies by host, follows redirects. */
class Browser {
  readonly cookies = new Map<string, Map<string, string>>();
  readonly #world: AccessWorld;

  constructor(world: AccessWorld) {
    this.#world = world;
  }

  async get(
    host: string,
    path: string,
    lines: readonly string[] = [],
    method = 'GET',
  ): Promise<ParsedAnswer> {
    const jar = this.cookies.get(host) ?? new Map<string, string>();
    const cookies = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const all = [BROWSER_LINE, 'Sec-Fetch-Mode: navigate', ...lines];
    if (cookies !== '') all.push(`Cookie: ${cookies}`);
    const answer = await this.#world.ask('', { host, path, method, lines: all });
    for (const line of answer.setCookies) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (line.includes('Max-Age=0')) jar.delete(name);
      else jar.set(name, value);
    }
    this.cookies.set(host, jar);
    return answer;
  }

  cookie(host: string, name: string): string | undefined {
    return this.cookies.get(host)?.get(name);
  }

  /** The provider sent it back to `oauth.<zone>`; the answer of that. */
  async callback(started: ParsedAnswer, providerId = PROVIDER): Promise<ParsedAnswer> {
    const state = new URL(locationOf(started)).searchParams.get('state') ?? '';
    return this.get('oauth.share.localhost', `/${providerId}/auth/callback?code=c&state=${state}`);
  }

  /** The whole way; the answer of the last step. */
  async logIn(host: string, path: string): Promise<ParsedAnswer> {
    const returned = await this.callback(await this.get(host, path));
    const { hostname, pathname, search } = new URL(locationOf(returned));
    return this.get(hostname, pathname + search);
  }
}

function locationOf(answer: ParsedAnswer): string {
  return answer.headers.get('location') ?? '';
}

describe('log-ins', () => {
  const host = 'app.share.localhost';
  let world: AccessWorld;
  let browser: Browser;
  before(async () => {
    world = await AccessWorld.start({ limits: { loginRate: { requests: 1_000, perMs: 1_000 } } });
    world.setProviders(
      providerOf(PROVIDER),
      providerOf(SECOND, { type: 'GITHUB', name: '<b>Second & "co"' }),
    );
    await world.serve('app', { authProviderIds: [PROVIDER] });
    await world.serve('two', { authProviderIds: [PROVIDER, SECOND] });
    await world.serve('second', { authProviderIds: [SECOND] });
  });
  beforeEach(() => {
    browser = new Browser(world);
    world.control.refuses = undefined;
    world.control.isAway = false;
  });
  after(() => world.close());

  it('lead a browser to its provider and back to where it wanted to go, with a session of the share alone', async () => {
    const started = await browser.get(host, '/deep/page?x=1&y=%20');
    assert.equal(started.status, 302);
    assert.match(locationOf(started), /^https:\/\/idp\.example\/authorize\?state=/);
    const { shareId, host: at, port, providerId, returnTo, address } = world.control.starts.at(-1)!;
    assert.deepEqual(
      { shareId, at, port, providerId, returnTo, address },
      {
        shareId: 'id-app',
        at: host,
        port: world.securePort,
        providerId: PROVIDER,
        returnTo: '/deep/page?x=1&y=%20',
        address: '127.0.0.1',
      },
    );
    const returned = await browser.callback(started);
    assert.equal(returned.status, 302);
    assert.match(
      locationOf(returned),
      new RegExp(`^https://${host}:${world.securePort}/\\.frontdoor/login\\?code=`),
    );
    const { pathname, search } = new URL(locationOf(returned));
    const done = await browser.get(host, pathname + search);
    assert.equal(done.status, 303);
    assert.equal(locationOf(done), '/deep/page?x=1&y=%20');
    assert.equal(world.hits('app'), 0);
    assert.equal((await browser.get(host, '/deep/page')).status, 200);
    assert.equal(world.last('app').headers['zrok-auth-email'], 'ann@example.com');
    for (const answer of [started, returned, done]) {
      assert.equal(answer.headers.get('cache-control'), 'no-store');
      assert.equal(answer.headers.get('referrer-policy'), 'no-referrer');
    }
  });

  it('set cookies that no script reads, no other host gets, and no plain connection carries', async () => {
    const started = await browser.get(host, '/');
    const done = await browser.logIn(host, '/');
    for (const [answer, name] of [
      [started, LOGIN_COOKIE],
      [done, SESSION_COOKIE],
    ] as const) {
      const line = answer.setCookies.find((cookie) => cookie.startsWith(`${name}=`)) ?? '';
      const [pair = '', ...flags] = line.split('; ');
      assert.match(pair, /^__Host-frontdoor-(?:login|session)=[A-Za-z0-9_-]{43}$/);
      assert.deepEqual(flags.filter((flag) => !flag.startsWith('Max-Age=')).sort(), [
        'HttpOnly',
        'Path=/',
        'SameSite=Lax',
        'Secure',
      ]);
    }
  });

  it('from parallel tabs share one binding, and each comes to its own page', async () => {
    const [first, second] = [await browser.get(host, '/one'), await browser.get(host, '/two')];
    assert.equal(world.control.starts.at(-1)!.browser, world.control.starts.at(-2)!.browser);
    for (const [started, page] of [
      [second, '/two'],
      [first, '/one'],
    ] as const) {
      const { pathname, search } = new URL(locationOf(await browser.callback(started)));
      assert.equal(locationOf(await browser.get(host, pathname + search)), page);
    }
  });

  it('make a hundred sessions from a hundred browsers at once, each of its own', async () => {
    const all = await Promise.all(
      Array.from({ length: 100 }, async (_, i) => {
        const own = new Browser(world);
        const done = await own.logIn(host, `/page/${i}`);
        assert.equal(locationOf(done), `/page/${i}`);
        return own.cookie(host, SESSION_COOKIE);
      }),
    );
    assert.equal(new Set(all).size, 100);
  });

  it('a code opens nothing in another browser, without one, at another share, or a second time', async () => {
    const { pathname, search } = new URL(locationOf(await browser.callback(await browser.get(host, '/'))));
    const other = new Browser(world);
    assert.equal((await other.get(host, pathname + search)).status, 400);
    await other.get(host, '/');
    assert.equal((await other.get(host, pathname + search)).status, 400);
    assert.equal((await browser.get('second.share.localhost', pathname + search)).status, 400);
    assert.equal(other.cookie(host, SESSION_COOKIE), undefined);
    assert.equal((await browser.get(host, pathname + search, [], 'HEAD')).status, 400);
    assert.equal((await browser.get(host, pathname + search)).status, 303);
    assert.equal((await browser.get(host, pathname + search)).status, 400);
  });

  it('never take over a session that was there before', async () => {
    const planted = 'A'.repeat(43);
    browser.cookies.set(host, new Map([[SESSION_COOKIE, planted]]));
    assert.equal((await browser.get(host, '/')).status, 302);
    await browser.logIn(host, '/');
    const token = browser.cookie(host, SESSION_COOKIE);
    assert.notEqual(token, planted);
    const again = await browser.logIn(host, '/.frontdoor/login');
    assert.equal(again.status, 303);
    assert.notEqual(browser.cookie(host, SESSION_COOKIE), token);
  });

  it('offer a choice between several providers, as a page that runs and loads nothing', async () => {
    const page = await browser.get('two.share.localhost', '/a?b=1&c=<i>'.replace(/[<>]/g, '%3C'));
    assert.equal(page.status, 200);
    assert.match(page.headers.get('content-security-policy') ?? '', /default-src 'none'.*form-action 'self'/);
    assert.doesNotMatch(page.body, /<script|<b>|<i>/);
    assert.match(page.body, /&lt;b&gt;Second &amp; &quot;co&quot;/);
    const links = [...page.body.matchAll(/<a href="([^"]+)"/g)].map(([, link = '']) =>
      link.replaceAll('&amp;', '&'),
    );
    assert.equal(links.length, 2);
    const started = await browser.get('two.share.localhost', links[1]!);
    assert.equal(started.status, 302);
    assert.deepEqual(
      [world.control.starts.at(-1)!.providerId, world.control.starts.at(-1)!.returnTo],
      [SECOND, '/a?b=1&c=%3Ci%3C'],
    );
    assert.equal((await browser.get('two.share.localhost', '/.frontdoor/login?provider=nobody')).status, 503);
  });

  it('offer it in the language of the browser, with what the organization has set, and also while the control plane is away', async () => {
    await world.serve('three', { authProviderIds: [PROVIDER, SECOND] });
    const shown = (lines: readonly string[] = []) => browser.get('three.share.localhost', '/', lines);
    world.control.isAway = true;
    const plain = await shown();
    world.control.isAway = false;
    assert.equal(plain.status, 200);
    assert.match(plain.body, /^<!doctype html>\n<html lang="en">.*<body><h1>Sign in to three/s);
    world.control.page = { title: 'Example <Inc>', logo: 'aWNvbg==' };
    await world.serve('four', { authProviderIds: [PROVIDER, SECOND] });
    for (let visits = 0; visits < 3; visits += 1) {
      const { body, headers } = await browser.get('four.share.localhost', '/', [
        'Accept-Language: de, en;q=0.5',
      ]);
      assert.match(body, /<html lang="de">.*<h1>Bei four\.share\.localhost anmelden<\/h1>/s);
      assert.match(
        body,
        /<img src="data:image\/png;base64,aWNvbg==" alt=""><span>Example &lt;Inc&gt;<\/span>/,
      );
      assert.match(headers.get('content-security-policy') ?? '', /img-src data:;/);
    }
    assert.equal(
      new Set(world.control.pagesAsked).size,
      world.control.pagesAsked.length,
      'asked once a share',
    );
    const out = await browser.get('four.share.localhost', '/.frontdoor/logout', ['Accept-Language: de']);
    assert.match(out.body, /<h1>Sie sind abgemeldet<\/h1>/);
    world.control.page = { title: null, logo: null };
  });

  it('show why one fails, and nothing of the request', async () => {
    const statuses = {
      'provider-not-available': 503,
      'provider-failed': 502,
      'attempt-not-valid': 400,
      denied: 403,
      'email-not-verified': 403,
      'too-many': 429,
    } as const;
    for (const [reason, status] of Object.entries(statuses)) {
      world.control.refuses = reason as keyof typeof statuses;
      assert.equal((await browser.get(host, '/')).status, status, reason);
      const path = `/${PROVIDER}/auth/callback?state=<svg/onload=1>&error=<script>&refreshInterval=<svg`;
      const answer = await browser.get('oauth.share.localhost', path);
      assert.equal(answer.status, status, reason);
      assert.doesNotMatch(answer.body, /svg|<script/);
      assert.match(answer.headers.get('content-security-policy') ?? '', /default-src 'none'/);
      const lines = ['Accept: application/json'];
      const json = await world.ask('', { host: 'oauth.share.localhost', path, lines });
      assert.equal((JSON.parse(json.body) as { error: string }).error, `login-${reason}`);
    }
  });

  it('need every parameter of the callback at most once, and few of them', async () => {
    const { callbacks } = world.control;
    const before = callbacks.length;
    for (const query of [
      'state=a&state=b',
      'code=a&state=b&c%6fde=c',
      Array.from({ length: 30 }, (_, i) => `p${i}=1`).join('&'),
    ])
      assert.equal(
        (await browser.get('oauth.share.localhost', `/${PROVIDER}/auth/callback?${query}`)).status,
        400,
      );
    assert.equal(callbacks.length, before);
    await browser.get(
      'oauth.share.localhost',
      `/${PROVIDER}/auth/callback?state=a%2Bb+c&iss=https%3A%2F%2Fi`,
    );
    assert.deepEqual({ ...callbacks.at(-1)!.parameters }, { state: 'a+b c', iss: 'https://i' });
  });

  it('end by logging out, everywhere, and not at the request of another site', async () => {
    await browser.logIn(host, '/');
    for (const site of ['cross-site', 'same-site'])
      assert.equal((await browser.get(host, '/.frontdoor/logout', [`Sec-Fetch-Site: ${site}`])).status, 403);
    const token = browser.cookie(host, SESSION_COOKIE);
    assert.equal((await browser.get(host, '/')).status, 200);
    const out = await browser.get(host, '/.frontdoor/logout', ['Sec-Fetch-Site: same-origin'], 'POST');
    assert.equal(out.status, 200);
    assert.equal(browser.cookie(host, SESSION_COOKIE), undefined);
    assert.equal(world.control.sessions.has(token!), false);
    browser.cookies.get(host)!.set(SESSION_COOKIE, token!);
    assert.equal((await browser.get(host, '/')).status, 302);
  });

  it('are for TLS: a browser on the plain port is sent to the same address there, others are refused', async () => {
    const lines = [BROWSER_LINE, 'Sec-Fetch-Mode: navigate'];
    const { starts } = world.control;
    const before = starts.length;
    const sent = await world.ask('app', { isPlain: true, lines, path: '/a%2fb?c=d' });
    assert.equal(sent.status, 302);
    assert.equal(locationOf(sent), `https://${host}:${world.securePort}/a%2fb?c=d`);
    assert.deepEqual(sent.setCookies, []);
    assert.equal((await world.ask('app', { isPlain: true, lines, method: 'HEAD' })).status, 302);
    assert.equal((await world.ask('app', { isPlain: true, path: '/.frontdoor/login', lines })).status, 302);
    const posted = { isPlain: true, path: '/.frontdoor/logout', method: 'POST' };
    assert.equal((await world.ask('app', posted)).status, 400);
    const { host: oauth, path } = {
      host: 'oauth.share.localhost',
      path: `/${PROVIDER}/auth/callback?state=a`,
    };
    assert.equal((await world.ask('', { host: oauth, path, lines, isPlain: true })).status, 404);
    assert.equal((await world.ask('app', { isPlain: true })).status, 401);
    await browser.logIn(host, '/');
    const cookie = `Cookie: ${SESSION_COOKIE}=${browser.cookie(host, SESSION_COOKIE)}`;
    assert.equal((await world.ask('app', { lines: [cookie] })).status, 200);
    assert.equal((await world.ask('app', { isPlain: true, lines: [cookie] })).status, 401);
    assert.equal(starts.length, before + 1);
  });

  it('begin only for a browser that goes somewhere: everything else gets 401', async () => {
    const { starts } = world.control;
    const before = starts.length;
    const cases: readonly (readonly [string, readonly string[]])[] = [
      ['GET', []],
      ['GET', ['Accept: application/json']],
      ['GET', [BROWSER_LINE, 'Sec-Fetch-Mode: cors']],
      ['GET', [BROWSER_LINE, 'X-Requested-With: XMLHttpRequest']],
      ['POST', [BROWSER_LINE, 'Sec-Fetch-Mode: navigate', 'Content-Length: 0']],
      ['PUT', [BROWSER_LINE]],
      ['OPTIONS', [BROWSER_LINE]],
      ['GET', [BROWSER_LINE, 'Connection: Upgrade', 'Upgrade: websocket']],
    ];
    for (const [method, lines] of cases) {
      const answer = await world.ask('app', { method, lines });
      assert.equal(answer.status, 401, `${method} ${lines.join('; ')}`);
      assert.equal(locationOf(answer), '');
      assert.match(answer.headers.get('www-authenticate') ?? '', /^Bearer /);
    }
    const head = await world.ask('app', { method: 'HEAD', lines: [BROWSER_LINE] });
    assert.equal(head.status, 302);
    assert.equal(head.body, '');
    assert.equal(starts.length, before + 1);
  });

  it('cannot begin at a disabled provider, and what it proved is over', async () => {
    await browser.logIn(host, '/');
    world.setProviders(providerOf(PROVIDER, { enabled: false }));
    try {
      const page = await browser.get(host, '/');
      assert.equal(page.status, 503);
      assert.match(page.body, /Sign-in is not possible here/);
      const lines = [`Cookie: ${SESSION_COOKIE}=${browser.cookie(host, SESSION_COOKIE)}`];
      assert.equal((await world.ask('app', { lines })).status, 401);
      assert.equal((await browser.get('two.share.localhost', '/')).status, 302, 'the other one is left');
    } finally {
      world.setProviders(providerOf(PROVIDER));
    }
    assert.equal((await browser.get(host, '/')).status, 200);
  });

  it('wait for the control plane with a page, not for ever, and clear what cannot be ended', async () => {
    await browser.logIn(host, '/');
    world.control.isAway = true;
    assert.equal((await new Browser(world).get(host, '/')).status, 503);
    assert.equal((await browser.get(host, '/.frontdoor/logout')).status, 503);
    assert.equal((await browser.get(host, '/')).status, 503, 'this gateway no longer believes it');
  });

  it('serve nothing else at oauth.<zone>, nor below /.frontdoor/, where browsers log in', async () => {
    const other = 'oauth.share.localhost';
    for (const path of ['/', `/${PROVIDER}/auth`, '/.frontdoor/login', `/${PROVIDER}/auth/callback/`])
      assert.equal((await browser.get(other, path)).status, 404, path);
    assert.equal((await browser.get(other, `/${PROVIDER}/auth/callback`, [], 'POST')).status, 400);
    for (const path of ['/.frontdoor', '/.frontdoor/', '/.frontdoor/admin', '/.frontdoor/login/x'])
      assert.equal((await browser.get(host, path)).status, 404, path);
    await world.serve('open');
    assert.equal((await world.ask('open', { path: '/.frontdoor/login' })).status, 200, 'there it is a path');
  });

  it('are limited for each address, at the start for each share and at the callback', async () => {
    const limited = await AccessWorld.start();
    try {
      limited.setProviders(providerOf(PROVIDER));
      await limited.serve('app', { authProviderIds: [PROVIDER] });
      const statuses: number[] = [];
      for (let i = 0; i < 51; i += 1)
        statuses.push((await limited.ask('app', { lines: [BROWSER_LINE] })).status);
      assert.deepEqual([...new Set(statuses.slice(0, 50))], [302]);
      assert.equal(statuses[50], 429);
      assert.equal(limited.control.starts.length, 50);
      const path = `/${PROVIDER}/auth/callback?state=a`;
      const back = () => limited.ask('', { host: 'oauth.share.localhost', path });
      for (let i = 0; i < 50; i += 1) assert.equal((await back()).status, 400);
      const callback = await back();
      assert.equal(callback.status, 429);
      assert.equal(callback.headers.get('retry-after'), '1');
    } finally {
      await limited.close();
    }
  });

  it('leave no code, state, cookie or token in the log', async () => {
    const done = await browser.logIn(host, '/secret-page?token=secret-query');
    await browser.get(host, `/.frontdoor/login?code=${'z'.repeat(43)}`);
    const log = JSON.stringify(world.records);
    const { cookies } = browser;
    for (const jar of cookies.values())
      for (const value of jar.values()) assert.equal(log.includes(value), false);
    assert.doesNotMatch(log, /secret-query|zzzzzz|state=/);
    assert.equal(done.status, 303);
  });

  it('redirect no browser to another host, for any target', async () => {
    await world.serve('away', { authProviderIds: [PROVIDER], rules: rulesOf() });
    for (const target of openRedirects()) {
      const path = `/.frontdoor/login?provider=${PROVIDER}&to=${encodeURIComponent(target)}`;
      const own = new Browser(world);
      const started = await own.get('away.share.localhost', path);
      const { pathname, search } = new URL(locationOf(await own.callback(started)));
      const lines = ['X-Forwarded-Host: evil.example', 'X-Original-Host: evil.example'];
      const to = locationOf(await own.get('away.share.localhost', pathname + search, lines));
      const base = 'https://away.share.localhost/.frontdoor/login';
      assert.equal(new URL(to, base).host, 'away.share.localhost', target);
      assert.match(to, /^\/(?![/\\])/, target);
    }
  });
});

/** Paths that redirected browsers to other sites in similar products. */
function openRedirects(): string[] {
  const evil = 'evil.example';
  const first = [
    '//',
    '///',
    '////',
    '/\\',
    '\\/',
    '\\\\',
    '/\t/',
    '/\n/',
    '/\r/',
    '/\0/',
    '/%09/',
    '/%0a/',
    '/%0d/',
  ];
  const second = [
    '/%2f',
    '/%2F/',
    '/%5c',
    '/%5C/',
    '/.//',
    '/./',
    '/../',
    '/..//',
    '/%2e%2e//',
    '/;/',
    '/?/',
    '/#/',
  ];
  const third = [
    'https:',
    'https:/',
    'https://',
    'https:\\\\',
    'http://',
    'HTTPS://',
    'javascript:',
    'data:text/html,',
  ];
  const fourth = [
    ' //',
    '\t//',
    '\u00a0//',
    '\ufeff//',
    '\u2028//',
    '/ /',
    '/\u200b/',
    '/\u3002',
    '/\uff0f',
    '@',
    '/@',
    '.',
    '',
  ];
  const named = [
    `https://away.share.localhost@${evil}`,
    `https://away.share.localhost.${evil}`,
    `//away.share.localhost@${evil}/`,
    `/\\away.share.localhost@${evil}`,
    `/login?to=//${evil}`,
    `/a//${evil}`,
    `/${'a'.repeat(2_100)}`,
    '/ok?x=1',
    '',
    '*',
    'ok',
    '/ok\r\nSet-Cookie: a=b',
    '/ok\u0000',
    '/\ud800',
  ].map((text) => Buffer.from(text).toString());
  return [...[...first, ...second, ...third, ...fourth].map((prefix) => `${prefix}${evil}`), ...named];
}
