import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { describeEachStore } from '../store/engine/each-store-suite.ts';
import { changePerson, deletePerson, findPersonPasswords, lockPerson } from '../credentials/people/mod.ts';
import { ownPathOf } from './console-routes.ts';
import { openConsoleWorld, TestBrowser, type ConsoleWorld } from './console-fixture.ts';
import { passwordProblem } from './password-rule.ts';

const MINUTE_MS = 60_000;

describeEachStore('people at the console', (open) => {
  let world: ConsoleWorld;
  before(async () => (world = await openConsoleWorld({ open })));
  after(() => world.close());

  const idOf = async (email: string): Promise<string> =>
    (await findPersonPasswords(world.api.store.db, email))[0]!.personId;

  it('makes a person of an invitation, whose session opens what the role permits', async () => {
    const browser = new TestBrowser(world.app);
    const code = await world.invite('editor', 'Ann');
    const asked = await browser.post('/console/welcome', { code });
    assert.match(
      asked.body,
      /invite[sd].* to the organization [^<]+\. Your account will have the role editor\./,
    );
    assert.match(asked.body, /value="Ann"/);
    assert.match(asked.body, /The invitation expires on \d{4}-\d\d-\d\d \d\d:\d\d UTC/);
    const form = { code, name: 'Ann', email: 'Ann@Example.com', password: 'seven small harbours' };
    const made = await browser.post('/console/welcome', form);
    assert.deepEqual([made.statusCode, made.headers.location], [303, '/console/logged-in?to=%2Fconsole']);
    assert.match(
      browser.lastSetCookie,
      /^__Host-frontdoor-console=[\w-]{43}; Path=\/; Secure; HttpOnly; SameSite=Strict$/,
    );
    assert.equal((await browser.get('/console/logged-in?to=%2Fconsole')).headers.location, '/console');
    assert.match((await browser.get('/console/account')).body, /Ann/);
    const caller = (await browser.call('GET', '/caller')).json<Record<string, unknown>>();
    const { kind, name, organizationId, scopes } = caller;
    assert.deepEqual(
      [kind, name, organizationId, scopes],
      ['person', 'Ann', world.api.first.organizationId, ['frontdoor.read', 'frontdoor.write']],
    );
    assert.equal((await browser.call('GET', '/people')).statusCode, 403);
    const again = await new TestBrowser(world.app).post('/console/welcome', form);
    assert.deepEqual([again.statusCode, /already been used/.test(again.body)], [403, true]);
    const events = await world.api.store.db.selectFrom('audit_event').select('action').execute();
    for (const action of ['acceptInvitation', 'consoleLogIn'])
      assert.ok(
        events.some((event) => event.action === action),
        action,
      );
    for (const secret of [code, form.password, browser.cookie!.split('=')[1]!])
      assert.ok(!world.api.logLines.join('\n').includes(secret), 'no secret is in the log');
  });

  it('refuses every text in its forms and paths, also what a database does not take', async () => {
    const texts = [
      '\0',
      'a\0@example.com',
      '\ud800',
      '\ufffe',
      '\u202e',
      '💥'.repeat(400),
      'x'.repeat(8_000),
      "'--",
      '%00',
      '{}',
    ];
    const code = await world.invite('reader');
    const browser = new TestBrowser(world.app);
    const statuses = async (text: string): Promise<number[]> => {
      const person = { code, name: text, email: `${text}@example.com`, password: text };
      const answers = [
        await browser.logIn(text, text, text),
        await browser.logIn(`${text}@example.com`, text),
        await browser.post('/console/log-in/second-factor', { code: text, to: text }),
        await browser.post('/console/welcome', { code: text }),
        await browser.post('/console/new-password', { code: text, password: text }),
        await browser.post('/console/welcome', { ...person, name: 'Ann' }),
        await browser.post('/console/welcome', { ...person, email: 'ann@nul.example' }),
        await browser.post(`/console/welcome/with/${encodeURIComponent(text.toWellFormed())}`, {
          code: text,
        }),
        await browser.get(`/console/log-in/with/${encodeURIComponent(text.toWellFormed())}`),
        await browser.get(`/console/callback/${encodeURIComponent(text.toWellFormed())}?state=%00&code=%00`),
        await browser.get(`/console/log-in?organization=${encodeURIComponent(text.toWellFormed())}`),
      ];
      return answers.map(({ statusCode }) => statusCode);
    };
    for (const text of texts)
      for (const [at, status] of (await statuses(text)).entries())
        assert.ok(status < 500, `${JSON.stringify(text.slice(0, 20))}, request ${at}: ${status}`);
  });

  it('ends the sessions of a person in all other browsers, at every control plane, and nobody else’s', async () => {
    const [own, other] = [await world.person('reader', 'uma@example.com'), new TestBrowser(world.app)];
    const another = await world.openAnother();
    const elsewhere = new TestBrowser(another);
    for (const browser of [other, elsewhere])
      assert.equal((await browser.logIn('uma@example.com')).statusCode, 303);
    const stranger = await world.person('reader', 'vic@example.com');
    const statuses = async () =>
      Promise.all(
        [own, other, elsewhere, stranger].map(async (each) => (await each.call('GET', '/caller')).statusCode),
      );
    assert.deepEqual(await statuses(), [200, 200, 200, 200]);
    const ended = await own.call('POST', '/console-sessions/end-others');
    assert.deepEqual([ended.statusCode, ended.json()], [200, { ended: 2 }]);
    assert.deepEqual(await statuses(), [200, 401, 401, 200]);
    assert.deepEqual((await own.call('POST', '/console-sessions/end-others')).json(), { ended: 0 });
    await another.close();
  });

  it('lets one of a hundred use a code', async () => {
    const code = await world.invite('reader');
    const tries = Array.from({ length: 100 }, (_, at) => {
      const person = { name: 'Ben', email: `ben${at}@example.com`, password: 'seven small harbours' };
      return new TestBrowser(world.app).post('/console/welcome', { code, ...person });
    });
    const answers = (await Promise.all(tries)).map(({ statusCode }) => statusCode);
    assert.equal(answers.filter((status) => status === 303).length, 1);
    assert.equal(answers.filter((status) => status === 403).length, answers.length - 1);
  });

  it('locks a password after ten wrong ones in a row, for a quarter of an hour, from wherever they come', async () => {
    await world.person('reader', 'eva@example.com');
    for (let at = 0; at < 10; at += 1) {
      const guess = new TestBrowser(world.app);
      const options = {
        payload: new URLSearchParams({ name: 'eva@example.com', password: `guess ${at}` }).toString(),
      };
      const headers = {
        'content-type': 'application/x-www-form-urlencoded',
        'sec-fetch-site': 'same-origin',
      };
      const request = { method: 'POST', url: '/console/log-in', headers, ...options } as const;
      const answer = await guess.send({ ...request, remoteAddress: `192.0.2.${at}` });
      assert.equal(answer.statusCode, 403);
    }
    const eva = new TestBrowser(world.app);
    assert.equal((await eva.logIn('eva@example.com')).statusCode, 403);
    world.api.clock.advance(15 * MINUTE_MS + 1);
    assert.equal((await eva.logIn('eva@example.com')).statusCode, 303);
  });

  it('ends sessions with the next request when their role, person or account changes', async () => {
    const fred = await world.person('editor', 'fred@example.com');
    const { store } = world.api;
    assert.equal((await fred.call('POST', '/frontdoor', {})).statusCode, 400);
    const id = await idOf('fred@example.com');
    await store.transaction(async (trx) => {
      await changePerson(trx, (await lockPerson(trx, id))!, { role: 'reader' });
    });
    assert.equal((await fred.call('POST', '/frontdoor', {})).statusCode, 403);
    assert.equal((await fred.call('GET', '/caller')).statusCode, 200);
    await store.transaction((trx) => deletePerson(trx, id));
    assert.equal((await fred.call('GET', '/caller')).statusCode, 401);
    const account = await world.api.addAccount(world.api.first.organizationId, 'frontdoor.read');
    const robot = new TestBrowser(world.app);
    await robot.logIn(account.id, account.token);
    assert.equal((await robot.call('GET', '/caller')).statusCode, 200);
    assert.equal((await world.api.call('DELETE', `/api-accounts/${account.id}`)).status, 204);
    assert.equal((await robot.call('GET', '/caller')).statusCode, 401);
  });
});

describe('the console', () => {
  let world: ConsoleWorld;
  let logIns = 0;
  before(async () => {
    world = await openConsoleWorld({ limits: { failedLogins: { perSecond: 1, burst: 6 } } });
  });
  after(() => world.close());

  /** The clock of some tests moves beyond the end of a session. */
  async function operator(): Promise<TestBrowser> {
    logIns += 1;
    return world.person('operator', `operator${logIns}@example.com`);
  }

  it('gives a page back with what was typed when a field is wrong, and keeps the invitation', async () => {
    const code = await world.invite('reader');
    const browser = new TestBrowser(world.app);
    const form = { code, name: 'Cid <b>', email: 'cid@example.com', password: 'short' };
    for (const [fields, status, text] of [
      [{}, 400, /at least 12 characters/],
      [{ password: 'aaaaaaaaaaaaaaaa' }, 400, /repeats/],
      [{ password: 'password12345678' }, 400, /others guess/],
      [{ password: 'cid@example.com1' }, 400, /others guess/],
      [{ email: 'nobody', password: 'seven small harbours' }, 400, /valid email/],
      [{ name: '', password: 'seven small harbours' }, 400, /name is missing/],
    ] as const) {
      const answer = await browser.post('/console/welcome', { ...form, ...fields });
      assert.equal(answer.statusCode, status);
      assert.match(answer.body, text);
      assert.ok(!answer.body.includes('<b>'), 'markup in a name is text');
    }
    await world.person('reader', 'taken@example.com');
    const taken = { ...form, email: 'Taken@example.com', password: 'seven small harbours' };
    assert.equal((await browser.post('/console/welcome', taken)).statusCode, 409);
    assert.equal((await browser.post('/console/welcome', { ...taken, email: form.email })).statusCode, 303);
  });

  it('logs in by password and by the token of an API account, and refuses all else alike', async () => {
    await world.person('reader', 'dora@example.com');
    const { accountId, apiToken } = world.api.first;
    const bodies = new Set<string>();
    for (const [name, password] of [
      ['dora@example.com', 'wrong'],
      ['nobody@example.com', 'wrong'],
      [accountId, 'wrong'],
      ['00000000-0000-4000-8000-000000000000', apiToken],
    ] as const) {
      const answer = await new TestBrowser(world.app).logIn(name, password);
      assert.equal(answer.statusCode, 403);
      assert.equal(answer.headers['set-cookie'], undefined);
      bodies.add(answer.body.replace(name, '').replaceAll(/nonce="[^"]*"/g, ''));
    }
    assert.equal(bodies.size, 1);
    const dora = new TestBrowser(world.app);
    assert.equal((await dora.logIn('Dora@Example.com', undefined, '/console/shares?page=2')).statusCode, 303);
    assert.match(
      (await dora.get('/console/logged-in?to=%2Fconsole%2Fshares%3Fpage%3D2')).headers.location!,
      /shares\?page=2$/,
    );
    const account = new TestBrowser(world.app);
    assert.equal((await account.logIn(accountId, apiToken)).statusCode, 303);
    assert.equal((await account.call('GET', '/caller')).json<{ id: string }>().id, accountId);
  });

  it('notes with the log-in itself when a person was last seen', async () => {
    await world.person('reader', 'seen@example.com');
    const seenAt = async () => {
      const { content } = (await world.api.call('GET', '/people?size=100')).body as {
        content: { email: string; lastSeenAt: string | null }[];
      };
      return content.find(({ email }) => email === 'seen@example.com')!.lastSeenAt;
    };
    const now = () => new Date(world.api.clock.nowMs()).toISOString();
    assert.equal(await seenAt(), now());
    world.api.clock.advance(30_000);
    assert.equal((await new TestBrowser(world.app).logIn('seen@example.com')).statusCode, 303);
    assert.equal(await seenAt(), now());
  });

  it('limits guesses from one address, also for a name that nobody has', async () => {
    const browser = new TestBrowser(world.app);
    const statuses: number[] = [];
    for (let at = 0; at < 8; at += 1)
      statuses.push((await browser.logIn('gus@example.com', `guess ${at}`)).statusCode);
    assert.equal(statuses.at(-1), 429);
  });

  it('ends sessions that nobody uses for twelve hours, and each after seven days', async () => {
    const idle = await world.person('reader', 'ida@example.com');
    const busy = await world.person('reader', 'bea@example.com');
    for (let hours = 0; hours < 160; hours += 8) {
      assert.equal((await busy.call('GET', '/caller')).statusCode, 200, `${hours} h`);
      world.api.clock.advance(8 * 60 * MINUTE_MS);
    }
    assert.equal((await idle.call('GET', '/caller')).statusCode, 401);
    world.api.clock.advance(8 * 60 * MINUTE_MS);
    assert.equal((await busy.call('GET', '/caller')).statusCode, 401);
  });

  it('asks for a recent log-in before dangerous operations, which replaces the session', async () => {
    const olga = await world.person('operator', 'olga@example.com');
    const create = () => olga.call('POST', '/invitations', { name: 'x', role: 'reader' });
    assert.equal((await create()).statusCode, 201);
    world.api.clock.advance(15 * MINUTE_MS);
    const refused = await create();
    assert.deepEqual([refused.statusCode, refused.json<{ error: string }>().error], [403, 'log_in_too_old']);
    assert.equal((await olga.call('GET', '/people')).statusCode, 200);
    const former = new TestBrowser(world.app);
    former.cookie = olga.cookie;
    assert.equal((await olga.logIn('olga@example.com')).statusCode, 303);
    assert.equal((await create()).statusCode, 201);
    assert.notEqual(olga.cookie, former.cookie);
    assert.equal((await former.call('GET', '/caller')).statusCode, 401);
  });

  it('lets no cache in front keep what a session opened, nor its redirects', async () => {
    const { accountId, apiToken } = world.api.first;
    const browser = new TestBrowser(world.app);
    const begun = await browser.logIn(accountId, apiToken);
    assert.deepEqual([begun.statusCode, begun.headers['cache-control']], [303, 'no-store']);
    assert.equal((await browser.get('/console/logged-in')).headers['cache-control'], 'no-store');
    const answer = await browser.call('GET', '/caller');
    const { 'cache-control': caching, 'x-content-type-options': sniffing, etag } = answer.headers;
    assert.deepEqual([answer.statusCode, caching, sniffing], [200, 'private, no-cache', 'nosniff']);
    const again = await browser.call('GET', '/caller', undefined, { 'if-none-match': etag! });
    assert.deepEqual([again.statusCode, again.headers['cache-control']], [304, 'private, no-cache']);
    const refused = await new TestBrowser(world.app).call('GET', '/caller');
    assert.deepEqual([refused.statusCode, refused.headers['cache-control']], [401, 'private, no-cache']);
    const secret = await browser.call('POST', '/invitations', { name: 'x', role: 'reader' });
    assert.deepEqual([secret.statusCode, secret.headers['cache-control']], [201, 'no-store']);
  });

  it('logs out, and clears what the browser keeps', async () => {
    const browser = await world.person('reader', 'hal@example.com');
    const former = browser.cookie;
    const answer = await browser.post('/console/log-out', {});
    assert.deepEqual([answer.statusCode, answer.headers['clear-site-data']], [303, '"cache", "storage"']);
    assert.match(browser.lastSetCookie, /=; .*Max-Age=0$/);
    browser.cookie = former;
    assert.equal((await browser.call('GET', '/caller')).statusCode, 401);
  });

  it('changes nothing for pages of other sites, of other schemes and ports, and of none', async () => {
    const browser = await operator();
    const count = async () =>
      (await world.api.store.db.selectFrom('invitation').selectAll().execute()).length;
    const body = { name: 'x', role: 'reader' };
    const json = { 'content-type': 'application/json', 'frontdoor-console': '1' };
    const url = '/console/api/invitations';
    const payload = JSON.stringify(body);
    const before = await count();
    for (const headers of [
      {},
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: 'https://127.0.0.1:8081' },
      { origin: 'http://127.0.0.1:9999' },
      { origin: 'http://app.share.localhost:8081' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'none' },
      { origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' },
    ]) {
      const answer = await browser.send({ method: 'POST', url, headers: { ...json, ...headers }, payload });
      assert.equal(answer.statusCode, 403, JSON.stringify(headers));
      for (const [path, fields] of [
        ['/console/log-in', { name: 'ann@example.com', password: 'x' }],
        ['/console/welcome', { code: 'x' }],
        ['/console/log-out', {}],
        ['/console/log-in/second-factor', { code: '123456' }],
        ['/console/second-factor', {}],
      ] as const) {
        const form = new URLSearchParams(fields).toString();
        const type = { 'content-type': 'application/x-www-form-urlencoded' };
        const request = {
          method: 'POST',
          url: path,
          headers: { ...type, ...headers },
          payload: form,
        } as const;
        assert.equal((await browser.send(request)).statusCode, 403, `${path} ${JSON.stringify(headers)}`);
      }
    }
    const simple = { 'content-type': 'text/plain', 'sec-fetch-site': 'same-origin' };
    assert.equal((await browser.send({ method: 'POST', url, headers: simple, payload })).statusCode, 403);
    const text = { ...simple, 'frontdoor-console': '1' };
    assert.equal((await browser.send({ method: 'POST', url, headers: text, payload })).statusCode, 415);
    assert.equal(await count(), before);
    assert.equal((await browser.call('POST', '/invitations', body)).statusCode, 201);
  });

  it('answers under its own name and those of this machine alone', async () => {
    const browser = await operator();
    for (const host of [
      'evil.example',
      'evil.example:8081',
      '127.0.0.1',
      '127.0.0.1:80',
      'localhost.evil.example:8081',
      '',
    ]) {
      for (const url of ['/console/log-in', '/console/api/caller'])
        assert.equal((await browser.get(url, { host })).statusCode, 421, `${host} ${url}`);
    }
    for (const host of ['localhost:8081', '127.0.0.1:8081', '[::1]:8081', 'LOCALHOST:8081'])
      assert.equal((await browser.get('/console/log-in', { host })).statusCode, 200, host);
  });

  it('is the only place where the cookie counts', async () => {
    const browser = await operator();
    const answer = await browser.get('/caller');
    assert.equal(answer.statusCode, 401);
    const bearer = { authorization: `Basic ${world.api.first.accountId}:${world.api.first.apiToken}` };
    const stranger = new TestBrowser(world.app);
    assert.equal((await stranger.call('GET', '/caller', undefined, bearer)).statusCode, 401);
    const twice = await stranger.call('GET', '/caller', undefined, {
      cookie: `${browser.cookie}; ${browser.cookie}`,
    });
    assert.equal(twice.statusCode, 401);
  });

  it('permits its pages nothing but a style, pictures in their own text, and the script of those that have one', async () => {
    const browser = await operator();
    for (const [url, script] of [
      ['/console', false],
      ['/console/log-in', true],
      ['/console/welcome', true],
      ['/console/new-password', true],
      ['/console/password', true],
      ['/console/nothing', false],
    ] as const) {
      const { headers } = await browser.get(url);
      const policy = String(headers['content-security-policy']);
      assert.match(policy, /^default-src 'none'; /);
      assert.equal(policy.includes("script-src 'self'"), script, url);
      assert.match(
        policy,
        /style-src 'nonce-[\w+/=]{24}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
      );
      for (const [name, value] of [
        ['x-content-type-options', 'nosniff'],
        ['referrer-policy', 'no-referrer'],
        ['cross-origin-opener-policy', 'same-origin'],
        ['cache-control', 'no-store'],
      ] as const)
        assert.equal(headers[name], value, url);
    }
  });

  it('has pages in the language that someone chose in the console, else in that of the browser', async () => {
    const browser = new TestBrowser(world.app);
    const german = { 'accept-language': 'de-CH,de;q=0.9,en;q=0.8' };
    const chosen = (language: string) => ({ cookie: `__Host-frontdoor-console-language=${language}` });
    for (const [url, headers, lang, text] of [
      ['/console/log-in', {}, 'en', /<h1>Sign in<\/h1>.*Show password\s*</s],
      ['/console/log-in', german, 'de', /<h1>Anmelden<\/h1>.*Passwort anzeigen\s*</s],
      ['/console/log-in', { ...german, ...chosen('en') }, 'en', /<h1>Sign in<\/h1>/],
      ['/console/log-in', chosen('de'), 'de', /<h1>Anmelden<\/h1>/],
      ['/console/log-in', chosen('<b>'), 'en', /<h1>Sign in<\/h1>/],
      ['/console/welcome', german, 'de', /Geben Sie den Code .* nach <code>#<\/code>/],
      ['/console/new-password', german, 'de', /<h1>Neues Passwort<\/h1>/],
      ['/console/assets/nothing', german, 'de', /<h1>Nicht gefunden<\/h1>/],
    ] as const) {
      const { body, headers: sent } = await browser.get(url, headers);
      assert.match(body, new RegExp(`^<!doctype html>\\s*<html lang="${lang}">`), url);
      assert.match(body, text);
      assert.equal(sent['content-language'], lang);
      assert.match(body, /<link rel="icon" href="data:image\/svg\+xml,/);
    }
    const wrong = await browser.post('/console/log-in', { name: 'x', password: 'y' }, german);
    assert.match(wrong.body, /Die E-Mail-Adresse oder das Passwort ist falsch/);
  });

  it('has pages with the name and logo of the organization', async () => {
    const { organizationId } = world.api.first;
    const browser = await operator();
    const { name } = (await browser.call('GET', `/organizations/${organizationId}`)).json<{ name: string }>();
    assert.match((await browser.get('/console/account')).body, new RegExp(`<strong>${name}</strong>`));
    const page = { title: 'Example & Co', logo: null };
    const set = await browser.call('PUT', `/organizations/${organizationId}/sign-in-page`, page);
    assert.deepEqual([set.statusCode, set.json()], [200, page]);
    const own = `/console/log-in?organization=${organizationId}`;
    const plain = await new TestBrowser(world.app).get(own);
    assert.match(plain.body, /<strong>Example &amp; Co<\/strong>\s*<span>Frontdoor<\/span>/);
    const other = world.api.other.organizationId;
    const ofOther = await new TestBrowser(world.app).get(`/console/log-in?organization=${other}`);
    assert.doesNotMatch(ofOther.body, /Example/);
    await browser.call('PUT', `/organizations/${organizationId}/sign-in-page`, {});
  });

  it('goes nowhere but to its own pages after a log-in', () => {
    const payloads = [
      'https://evil.example',
      '//evil.example',
      '///evil.example',
      '/\\evil.example',
      '\\\\evil.example',
      '/\\/evil.example',
      'http:evil.example',
      'javascript:alert(1)',
      'data:text/html,x',
      ' //evil.example',
      '\t//evil.example',
      '/\t/evil.example',
      '/console/../docs',
      '/console/..//evil.example',
      '/console/%2e%2e/docs',
      '/consoles',
      '/console.evil',
      '/console@evil.example',
      '//console',
      '/docs',
      '',
      '/',
      'console',
      './console',
      '?x',
      '#x',
      '/%2f/evil.example',
      '/\n/evil.example',
      '/\0/evil.example',
      'https:///evil.example',
      'https:evil.example',
      '//evil.example/console',
      '/\\\\evil.example/console',
      'HTTPS://evil.example/console/',
    ];
    for (const payload of payloads)
      assert.equal(ownPathOf(payload, '/console'), '/console', JSON.stringify(payload));
    for (const own of ['/console', '/console/shares?page=2', '/console/a/b'])
      assert.equal(ownPathOf(own, '/console'), own);
    assert.equal(ownPathOf('/base/console/x', '/base/console'), '/base/console/x');
    assert.equal(ownPathOf(undefined, '/console'), '/console');
  });

  it('accepts long passwords of any characters', () => {
    for (const password of [
      'correct violin staple',
      'пароль длинный очень',
      'x7$kQ2!mZ9@w',
      '木木林林森森水火土金日月',
    ])
      assert.equal(passwordProblem(password, ['Ann', 'ann@example.com']), undefined, password);
  });
});
