// People replace their password: with the one that they have, or with a link of an administrator.
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import type { LightMyRequestResponse } from 'fastify';
import { LoginFailures } from '../credentials/oauth/mod.ts';
import { describeEachStore } from '../store/engine/each-store-suite.ts';
import { CallerDirectory } from '../credentials/accounts/mod.ts';
import { findPersonPasswords } from '../credentials/people/mod.ts';
import { bytesOfBase32 } from '../credentials/totp/base32-fixture.ts';
import { codeAt, TOTP_STEP_MS } from '../credentials/totp/totp-code.ts';
import { openConsoleWorld, TestBrowser, type ConsoleWorld } from './console-fixture.ts';
import { ConsoleLogIn } from './console-log-in.ts';
import { ConsoleSessions } from './console-sessions.ts';
import { SecondFactorLogIn } from './second-factor-log-in.ts';

const MINUTE_MS = 60_000;
/** That of the fixture's people. */
const FORMER = 'plum giraffe engine 47';
const NEW = 'seven small harbours';
const CHANGE = '/console/password';
const LINK = '/console/new-password';
const STEP = '/console/log-in/second-factor';

describeEachStore('the password of a person', (open) => {
  let world: ConsoleWorld;
  before(async () => (world = await openConsoleWorld({ open })));
  after(() => world.close());

  const idOf = async (email: string): Promise<string> =>
    (await findPersonPasswords(world.api.store.db, email))[0]!.personId;
  const isLoggedIn = async (browser: TestBrowser): Promise<boolean> =>
    (await browser.call('GET', '/caller')).statusCode === 200;
  const logIn = async (email: string, password: string): Promise<number> =>
    (await new TestBrowser(world.app).logIn(email, password)).statusCode;
  const change = (browser: TestBrowser, current = FORMER, password = NEW) =>
    browser.post(CHANGE, { current, password });

  async function loggedIn(email: string, app = world.app): Promise<TestBrowser> {
    const browser = new TestBrowser(app);
    assert.equal((await browser.logIn(email)).statusCode, 303);
    assert.equal(await isLoggedIn(browser), true);
    return browser;
  }

  /** Returns the code of a link that an administrator has made. */
  async function linkFor(email: string): Promise<string> {
    const answer = await world.api.call('POST', `/people/${await idOf(email)}/password-link`);
    assert.equal(answer.status, 200, answer.text);
    return (answer.body as { link: string }).link.split('#')[1]!;
  }

  const use = (code: string, browser = new TestBrowser(world.app), password = NEW) =>
    browser.post(LINK, { code, password });

  /** Gives the person a second factor, and returns its secret. */
  async function enroll(browser: TestBrowser): Promise<Uint8Array> {
    const begun = await browser.call('POST', '/caller/second-factor');
    const secret = bytesOfBase32(begun.json<{ secret: string }>().secret);
    const body = { code: codeOf(secret) };
    assert.equal((await browser.call('POST', '/caller/second-factor/confirmation', body)).statusCode, 200);
    return secret;
  }

  /** Each code counts once, so each call of the app comes a step later. */
  function codeOf(secret: Uint8Array): string {
    world.api.clock.advance(TOTP_STEP_MS);
    return codeAt(secret, world.api.clock.nowMs());
  }

  async function assertNoTrace(action: string, ...secrets: readonly string[]): Promise<void> {
    const { db } = world.api.store;
    const events = await db.selectFrom('audit_event').selectAll().execute();
    assert.ok(events.some((event) => event.action === action));
    const rows = await db.selectFrom('person_password').selectAll().execute();
    const kept = JSON.stringify([events, rows]) + world.api.logLines.join('\n');
    for (const secret of secrets) assert.ok(!kept.includes(secret), 'no secret is stored as it is');
  }

  it('is changed with the one that it was, which ends the other sessions and renews the own one', async () => {
    const email = 'ann@example.com';
    const ann = await world.person('reader', email);
    const other = await loggedIn(email);
    const stranger = await world.person('reader', 'stranger@example.com');
    assert.match((await ann.get('/console/account')).body, /href="\/console\/password"/);
    const page = (await ann.get(CHANGE)).body;
    for (const kind of ['current-password', 'new-password', 'username'])
      assert.ok(page.includes(`autocomplete="${kind}"`), kind);
    assert.ok(page.includes(`value="${email}"`));
    const former = ann.copy();
    const changed = await change(ann);
    assert.deepEqual([changed.statusCode, changed.headers.location], [303, '/console/account']);
    assert.deepEqual(await Promise.all([ann, stranger, former, other].map(isLoggedIn)), [
      true,
      true,
      false,
      false,
    ]);
    assert.deepEqual([await logIn(email, FORMER), await logIn(email, NEW)], [403, 303]);
    await assertNoTrace('changePassword', FORMER, NEW, ann.cookie!.split('=')[1]!);
  });

  it('is not changed to one that the rules refuse, nor to the same', async () => {
    const ben = await world.person('reader', 'ben@example.com');
    for (const [password, text] of [
      ['short', /at least 12 characters/],
      ['x'.repeat(257), /at most 256 characters/],
      ['password12345678', /others guess/],
      ['ben@example.com1', /others guess/],
      [FORMER, /the one that you have/],
      ['', /at least 12 characters/],
    ] as const) {
      const answer = await change(ben, FORMER, password);
      assert.equal(answer.statusCode, 400, password);
      assert.match(answer.body, text);
    }
    assert.equal(await logIn('ben@example.com', FORMER), 303);
  });

  it('is locked by ten wrong ones in a row, of log-ins and of changes together', async () => {
    const email = 'cat@example.com';
    const cat = await world.person('reader', email);
    const guess = (browser: TestBrowser, at: number, url: string, fields: Readonly<Record<string, string>>) =>
      browser.send({
        method: 'POST',
        url,
        payload: new URLSearchParams(fields).toString(),
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          'sec-fetch-site': 'same-origin',
        },
        remoteAddress: `192.0.2.${at}`,
      });
    for (let at = 0; at < 5; at += 1) {
      const wrong = `wrong password ${at}`;
      const asked = [
        await guess(cat, at, CHANGE, { current: wrong, password: NEW }),
        await guess(new TestBrowser(world.app), at, '/console/log-in', { name: email, password: wrong }),
      ];
      assert.deepEqual(
        asked.map(({ statusCode }) => statusCode),
        [403, 403],
      );
    }
    assert.equal((await change(cat)).statusCode, 403);
    assert.equal(await logIn(email, FORMER), 403);
    assert.equal(await isLoggedIn(cat), true);
    world.api.clock.advance(15 * MINUTE_MS + 1);
    assert.equal((await cat.logIn(email)).statusCode, 303);
    assert.equal((await change(cat)).statusCode, 303);
  });

  it('is guessed from one address no more often than a log-in permits', async () => {
    const limited = await openConsoleWorld({ open, limits: { failedLogins: { perSecond: 1, burst: 3 } } });
    try {
      const dan = await limited.person('reader', 'dan@example.com');
      const answers: LightMyRequestResponse[] = [];
      for (let at = 0; at < 5; at += 1) answers.push(await change(dan, `wrong password ${at}`));
      assert.deepEqual(
        answers.map(({ statusCode }) => statusCode),
        [403, 403, 403, 429, 429],
      );
      assert.match(String(answers.at(-1)!.headers['retry-after']), /^\d+$/);
      assert.equal((await new TestBrowser(limited.app).logIn('dan@example.com')).statusCode, 429);
    } finally {
      await limited.close();
    }
  });

  it('is changed in a session whose log-in is fresh, and by nobody without one', async () => {
    const email = 'eva@example.com';
    const eva = await world.person('reader', email);
    const again = '/console/log-in?to=%2Fconsole%2Fpassword';
    world.api.clock.advance(16 * MINUTE_MS);
    for (const answer of [await eva.get(CHANGE), await change(eva)]) {
      assert.equal(answer.statusCode, 403);
      assert.ok(answer.body.includes(`href="${again}"`));
    }
    const nobody = new TestBrowser(world.app);
    for (const answer of [await nobody.get(CHANGE), await change(nobody)])
      assert.deepEqual([answer.statusCode, answer.headers.location], [303, again]);
    const account = new TestBrowser(world.app);
    await account.logIn(world.api.first.accountId, world.api.first.apiToken);
    for (const answer of [await account.get(CHANGE), await change(account)])
      assert.equal(answer.statusCode, 409);
    assert.equal(await logIn(email, FORMER), 303);
  });

  it('is changed once by two who change it at the same time', async () => {
    const fay = await world.person('reader', 'fay@example.com');
    const passwords = ['seven small harbours', 'eight large harbours'];
    const answers = await Promise.all(passwords.map((password) => change(fay.copy(), FORMER, password)));
    const statuses = answers.map(({ statusCode }) => statusCode);
    assert.deepEqual(
      statuses.toSorted((a, b) => a - b),
      [303, 403],
    );
    const rights = await Promise.all(passwords.map((password) => logIn('fay@example.com', password)));
    assert.deepEqual(rights, statuses);
  });

  it('opens nothing when it is changed while a log-in with it continues', async () => {
    const email = 'gil@example.com';
    const gil = await world.person('reader', email);
    const { store, secrets, clock } = world.api;
    const parts = { store, secrets, clock, refusals: { record: () => {} } };
    const sessions = new ConsoleSessions(parts);
    const secondFactor = new SecondFactorLogIn({ ...parts, sessions });
    const failures = new LoginFailures({ perSecond: 1, burst: 20 }, clock);
    const access = new CallerDirectory(store);
    const rule = () => ({ scopesOfIssuer: () => undefined, nowMs: clock.nowMs() });
    const logInParts = new ConsoleLogIn({ ...parts, access, failures, sessions, secondFactor, rule });
    const client = { address: '192.0.2.1', browser: 'a browser' };
    const proven = await logInParts.prove({ name: email, password: FORMER }, client);
    assert.ok('owner' in proven);
    assert.equal((await change(gil)).statusCode, 303);
    assert.deepEqual(await logInParts.begin(proven, client, undefined), { problem: 'wrong' });
    const later = await logInParts.prove({ name: email, password: NEW }, client);
    assert.ok('owner' in later && 'token' in (await logInParts.begin(later, client, undefined)));
  });

  it('ends log-ins that wait for the second factor when it is replaced', async () => {
    const email = 'hal@example.com';
    const hal = await world.person('reader', email);
    const secret = await enroll(hal);
    const thief = new TestBrowser(world.app);
    assert.equal((await thief.logIn(email)).headers.location, `${STEP}?to=%2Fconsole`);
    world.api.clock.advance(1);
    assert.equal((await change(hal)).statusCode, 303);
    assert.equal((await thief.post(STEP, { code: codeOf(secret), to: '/console' })).statusCode, 403);
    assert.equal(await isLoggedIn(thief), false);
    assert.equal(await isLoggedIn(hal), true);
  });

  it('is set by a link of an administrator, once, which ends the sessions and unlocks it', async () => {
    const email = 'ida@example.com';
    const ida = await world.person('reader', email);
    const other = await loggedIn(email);
    for (let at = 0; at < 10; at += 1) assert.equal(await logIn(email, `wrong password ${at}`), 403);
    assert.equal(await logIn(email, FORMER), 403);
    const code = await linkFor(email);
    assert.match((await new TestBrowser(world.app).get(LINK)).body, /page\.js/);
    const browser = new TestBrowser(world.app);
    const page = await browser.post(LINK, { code });
    assert.equal(page.statusCode, 200);
    assert.ok(page.body.includes(`value="${email}"`) && page.body.includes('autocomplete="new-password"'));
    const unfit = await use(code, browser, 'ida@example.com1');
    assert.deepEqual([unfit.statusCode, /others guess/.test(unfit.body)], [400, true]);
    assert.deepEqual(await Promise.all([ida, other].map(isLoggedIn)), [true, true]);
    const set = await use(code, browser);
    assert.deepEqual([set.statusCode, set.headers.location], [303, '/console/logged-in?to=%2Fconsole']);
    assert.deepEqual(await Promise.all([browser, ida, other].map(isLoggedIn)), [true, false, false]);
    for (const again of [await use(code), await new TestBrowser(world.app).post(LINK, { code })])
      assert.deepEqual([again.statusCode, /already been used/.test(again.body)], [403, true]);
    assert.deepEqual([await logIn(email, FORMER), await logIn(email, NEW)], [403, 303]);
    await assertNoTrace('createPasswordLink', code, NEW);
    await assertNoTrace('usePasswordLink', code, NEW);
  });

  it('is set by one of a hundred who use a link at once', async () => {
    const email = 'jon@example.com';
    await world.person('reader', email);
    const code = await linkFor(email);
    const passwords = Array.from({ length: 100 }, (_, at) => `seven small harbours ${at}`);
    const answers = await Promise.all(
      passwords.map((password) => use(code, new TestBrowser(world.app), password)),
    );
    const winners = passwords.filter((_, at) => answers[at]!.statusCode === 303);
    assert.equal(winners.length, 1);
    assert.equal(answers.filter(({ statusCode }) => statusCode === 403).length, answers.length - 1);
    assert.equal(await logIn(email, winners[0]!), 303);
  });

  it('is set by no link that is older than an hour, or was replaced, or whose person changed', async () => {
    const email = 'kim@example.com';
    const kim = await world.person('reader', email);
    const path = `/people/${await idOf(email)}`;
    const old = await linkFor(email);
    world.api.clock.advance(60 * MINUTE_MS);
    assert.equal((await use(old)).statusCode, 403);
    const replaced = await linkFor(email);
    const newer = await linkFor(email);
    assert.equal((await use(replaced)).statusCode, 403);
    // An administrator who made the link may not make one for an operator.
    assert.equal((await world.api.call('PATCH', path, { body: { name: 'Kim' } })).status, 200);
    assert.equal((await new TestBrowser(world.app).post(LINK, { code: newer })).statusCode, 200);
    assert.equal((await world.api.call('PATCH', path, { body: { role: 'operator' } })).status, 200);
    assert.equal((await use(newer)).statusCode, 403);
    const beforeChange = await linkFor(email);
    assert.equal((await kim.logIn(email)).statusCode, 303);
    assert.equal((await change(kim)).statusCode, 303);
    assert.equal((await use(beforeChange)).statusCode, 403);
    const last = await linkFor(email);
    assert.equal((await world.api.call('DELETE', path)).status, 204);
    assert.equal((await use(last)).statusCode, 403);
  });

  it('does not replace the second factor: a link leads to its step', async () => {
    const email = 'leo@example.com';
    const secret = await enroll(await world.person('reader', email));
    const browser = new TestBrowser(world.app);
    const set = await use(await linkFor(email), browser);
    assert.deepEqual([set.statusCode, set.headers.location], [303, `${STEP}?to=%2Fconsole`]);
    assert.equal(await isLoggedIn(browser), false);
    assert.equal((await browser.post(STEP, { code: '000000', to: '/console' })).statusCode, 403);
    assert.equal((await browser.post(STEP, { code: codeOf(secret), to: '/console' })).statusCode, 303);
    assert.equal(await isLoggedIn(browser), true);
  });

  it('leads by a link to the second factor that the organization demands, before it opens anything', async () => {
    const email = 'mia@example.com';
    await world.person('reader', email);
    const code = await linkFor(email);
    const path = `/organizations/${world.api.first.organizationId}/settings`;
    const demand = (secondFactor: boolean) => world.api.call('PATCH', path, { body: { secondFactor } });
    assert.equal((await demand(true)).status, 200);
    try {
      const browser = new TestBrowser(world.app);
      assert.equal((await use(code, browser)).headers.location, `${STEP}?to=%2Fconsole`);
      assert.equal(await isLoggedIn(browser), false);
      assert.match((await browser.get(STEP)).body, /<code id="secret">/);
    } finally {
      await demand(false);
    }
  });

  it('has refusals of codes and current passwords in the audit trail, without what was typed', async () => {
    const email = 'ned@example.com';
    const ned = await world.person('reader', email);
    const another = await world.openAnother();
    const typed = 'typed-by-mistake-8642';
    const browser = new TestBrowser(another);
    browser.cookie = ned.cookie;
    assert.equal((await change(browser, typed)).statusCode, 403);
    assert.equal((await use(typed, new TestBrowser(another))).statusCode, 403);
    // It writes what is left of its refusals when it is closed.
    await another.close();
    const events = await world.api.store.db
      .selectFrom('audit_event')
      .selectAll()
      .where('result', '=', 'refused')
      .where('action', 'in', ['changePassword', 'usePasswordLink'])
      .execute();
    const has = (action: string, reason: string, target: string | null) =>
      events.some((each) => each.action === action && each.reason === reason && each.target_id === target);
    assert.ok(has('changePassword', 'wrong_credentials', await idOf(email)));
    assert.ok(has('usePasswordLink', 'unknown_code', null));
    assert.ok(!(JSON.stringify(events) + world.api.logLines.join('\n')).includes(typed));
  });
});
