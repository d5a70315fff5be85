// The second factor of people with a password: at log-ins, in sessions, and where an organization demands it.
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import type { PersonAnswer, SecondFactorAnswer } from '#contract/schemas';
import { describeEachStore } from '../store/engine/each-store-suite.ts';
import { findPersonPasswords } from '../credentials/people/mod.ts';
import { bytesOfBase32 } from '../credentials/totp/base32-fixture.ts';
import { codeAt, TOTP_STEP_MS } from '../credentials/totp/totp-code.ts';
import { openConsoleWorld, TestBrowser, type ConsoleWorld } from './console-fixture.ts';

const MINUTE_MS = 60_000;
const STEP = '/console/log-in/second-factor';
const OWN = '/caller/second-factor';

describeEachStore('the second factor of people', (open) => {
  let world: ConsoleWorld;
  before(async () => (world = await openConsoleWorld({ open })));
  after(() => world.close());

  /** Each code counts once, so each call of the app comes a step later. */
  const codeOf = (secret: Uint8Array): string => {
    world.api.clock.advance(TOTP_STEP_MS);
    return codeAt(secret, world.api.clock.nowMs());
  };
  const post = async <T>(browser: TestBrowser, path: string, body?: object): Promise<T> => {
    const answer = await browser.call('POST', path, body);
    assert.equal(answer.statusCode, 200, answer.body);
    return answer.json<T>();
  };
  const idOf = async (email: string): Promise<string> =>
    (await findPersonPasswords(world.api.store.db, email))[0]!.personId;
  const stateOf = async (browser: TestBrowser): Promise<SecondFactorAnswer> =>
    (await browser.call('GET', OWN)).json<SecondFactorAnswer>();
  const isLoggedIn = async (browser: TestBrowser): Promise<boolean> =>
    (await browser.call('GET', '/caller')).statusCode === 200;

  /** Enrolls the person of a session. */
  async function enroll(browser: TestBrowser) {
    const begun = await post<{ secret: string; url: string; picture: string }>(browser, OWN);
    const secret = bytesOfBase32(begun.secret);
    const { recoveryCodes } = await post<{ recoveryCodes: string[] }>(browser, `${OWN}/confirmation`, {
      code: codeOf(secret),
    });
    return { ...begun, secret, recoveryCodes };
  }

  /** Gives the password, and returns a browser that is asked for a code. */
  async function atStep(email: string, app = world.app): Promise<TestBrowser> {
    const browser = new TestBrowser(app);
    const answer = await browser.logIn(email, undefined, '/console/shares');
    assert.deepEqual([answer.statusCode, answer.headers.location], [303, `${STEP}?to=%2Fconsole%2Fshares`]);
    assert.equal(await isLoggedIn(browser), false);
    return browser;
  }

  const give = async (browser: TestBrowser, code: string): Promise<number> =>
    (await browser.post(STEP, { code, to: '/console' })).statusCode;

  async function demand(secondFactor: boolean, organizationId = world.api.first.organizationId) {
    const path = `/organizations/${organizationId}/settings`;
    const answer = await world.api.call('PATCH', path, { body: { secondFactor } });
    assert.deepEqual(
      [answer.status, (answer.body as { secondFactor: boolean }).secondFactor],
      [200, secondFactor],
    );
  }

  it('is enrolled in a session, and asked for after the password', async () => {
    const email = 'ann@example.com';
    const ann = await world.person('reader', email);
    assert.deepEqual(await stateOf(ann), {
      available: true,
      enrolled: false,
      demanded: false,
      recoveryCodesLeft: 0,
      enrolledAt: null,
    });
    const { secret, url, picture, recoveryCodes } = await enroll(ann);
    assert.match(url, /^otpauth:\/\/totp\/Frontdoor:ann%40example\.com\?/);
    assert.match(picture, /^data:image\/png;base64,iVBOR/);
    assert.equal(recoveryCodes.length, 20);
    const { enrolled, recoveryCodesLeft } = await stateOf(ann);
    assert.deepEqual([enrolled, recoveryCodesLeft], [true, 20]);
    const browser = await atStep(email);
    const page = await browser.get(`${STEP}?to=%2Fconsole`);
    assert.match(page.body, /autocomplete="one-time-code"/);
    assert.equal(await give(browser, '000000'), 403);
    assert.equal(await isLoggedIn(browser), false);
    const code = codeOf(secret);
    const done = await browser.post(STEP, {
      code: `${code.slice(0, 3)} ${code.slice(3)}`,
      to: '/console/shares',
    });
    assert.deepEqual(
      [done.statusCode, done.headers.location],
      [303, '/console/logged-in?to=%2Fconsole%2Fshares'],
    );
    assert.equal(await isLoggedIn(browser), true);
    const listed = await world.api.call('GET', `/people/${await idOf(email)}`);
    assert.equal((listed.body as PersonAnswer).secondFactor, true);
    const log = world.api.logLines.join('\n');
    const rows = await world.api.store.db.selectFrom('person_totp').selectAll().execute();
    const events = await world.api.store.db.selectFrom('audit_event').selectAll().execute();
    assert.ok(events.some(({ action }) => action === 'confirmSecondFactor'));
    const kept = JSON.stringify([rows, events]) + log;
    const plain = Buffer.from(secret).toString('base64');
    for (const text of [plain, new URL(url).searchParams.get('secret')!, code, ...recoveryCodes])
      assert.ok(!kept.includes(text), 'no secret is stored as it is');
  });

  it('takes a code once, at whichever control plane, and one of many at once', async () => {
    const email = 'bob@example.com';
    const { secret } = await enroll(await world.person('reader', email));
    const another = await world.openAnother();
    try {
      const code = codeOf(secret);
      const browsers = [await atStep(email), await atStep(email, another), await atStep(email)];
      const statuses = await Promise.all(browsers.map((browser) => give(browser, code)));
      assert.deepEqual(
        statuses.toSorted((a, b) => a - b),
        [303, 403, 403],
      );
      assert.equal(await give(await atStep(email, another), code), 403);
      assert.equal(await give(await atStep(email, another), codeOf(secret)), 303);
    } finally {
      await another.close();
    }
  });

  it('is locked after five wrong codes in a row, for longer each time, at all control planes', async () => {
    const email = 'cat@example.com';
    const { secret } = await enroll(await world.person('reader', email));
    const another = await world.openAnother();
    try {
      for (const minutes of [15, 30]) {
        const guess = async (app = world.app) => give(await atStep(email, app), '000000');
        for (let at = 0; at < 5; at += 1) assert.equal(await guess(at % 2 === 0 ? another : world.app), 403);
        const locked = await (await atStep(email)).post(STEP, { code: codeOf(secret), to: '/console' });
        assert.equal(locked.statusCode, 429);
        assert.ok(Number(locked.headers['retry-after']) <= minutes * 60);
        world.api.clock.advance((minutes - 2) * MINUTE_MS);
        assert.equal(await give(await atStep(email, another), codeOf(secret)), 429);
        world.api.clock.advance(2 * MINUTE_MS);
      }
      assert.equal(await give(await atStep(email), codeOf(secret)), 303);
    } finally {
      await another.close();
    }
  });

  it('survives a clock that is an hour off: codes of the right time fail, a recovery code is right, no lock outlasts it', async () => {
    const email = 'clock@example.com';
    const { clock } = world.api;
    const { secret, recoveryCodes } = await enroll(await world.person('reader', email));
    clock.advance(60 * MINUTE_MS);
    const ofApp = () => codeAt(secret, clock.nowMs() - 60 * MINUTE_MS);
    assert.equal(await give(await atStep(email), ofApp()), 403);
    assert.equal(await give(await atStep(email), recoveryCodes[0]!), 303);
    for (let at = 0; at < 5; at += 1) assert.equal(await give(await atStep(email), ofApp()), 403);
    assert.equal(await give(await atStep(email), recoveryCodes[1]!), 429);
    clock.advance(-60 * MINUTE_MS);
    assert.equal(await give(await atStep(email), codeOf(secret)), 303);
    clock.advance(60 * MINUTE_MS);
  });

  it('is replaced by a recovery code once, and the codes are renewed', async () => {
    const email = 'dan@example.com';
    const dan = await world.person('reader', email);
    const { secret, recoveryCodes } = await enroll(dan);
    const [first, second] = recoveryCodes as [string, string];
    const browser = await atStep(email);
    assert.match((await browser.get(`${STEP}?recovery=1`)).body, /Recovery code/);
    assert.equal(await give(browser, `${first.slice(0, 5)}-${first.slice(5).toLowerCase()}`), 303);
    assert.equal(await give(await atStep(email), first), 403);
    assert.equal((await stateOf(browser)).recoveryCodesLeft, 19);
    const renewed = await post<{ recoveryCodes: string[] }>(browser, `${OWN}/recovery-codes`);
    assert.equal(await give(await atStep(email), second), 403);
    assert.equal(await give(await atStep(email), renewed.recoveryCodes[0]!), 303);
    assert.equal(await give(await atStep(email), codeOf(secret)), 303);
  });

  it('is replaced by another app only with its first code, and removed by oneself with a recent log-in', async () => {
    const email = 'eva@example.com';
    const eva = await world.person('reader', email);
    const old = await enroll(eva);
    const begun = await post<{ secret: string }>(eva, OWN);
    const fresh = bytesOfBase32(begun.secret);
    const refused = await eva.call('POST', `${OWN}/confirmation`, { code: codeOf(old.secret) });
    assert.equal(refused.statusCode, 400);
    assert.equal(await give(await atStep(email), codeOf(fresh)), 403);
    const confirmed = await post<{ recoveryCodes: string[] }>(eva, `${OWN}/confirmation`, {
      code: codeOf(fresh),
    });
    assert.equal(await give(await atStep(email), codeOf(old.secret)), 403);
    assert.equal(await give(await atStep(email), old.recoveryCodes[0]!), 403);
    assert.equal(await give(await atStep(email), confirmed.recoveryCodes[0]!), 303);
    assert.equal((await eva.call('POST', `${OWN}/confirmation`, { code: codeOf(fresh) })).statusCode, 409);
    world.api.clock.advance(15 * MINUTE_MS);
    for (const [method, path] of [
      ['POST', OWN],
      ['POST', `${OWN}/recovery-codes`],
      ['DELETE', OWN],
    ] as const)
      assert.equal((await eva.call(method, path)).json<{ error: string }>().error, 'log_in_too_old', path);
    assert.equal((await eva.post('/console/second-factor', {})).statusCode, 403);
    const again = await atStep(email);
    assert.equal(await give(again, codeOf(fresh)), 303);
    assert.equal((await again.call('DELETE', OWN)).statusCode, 204);
    assert.equal((await again.call('DELETE', OWN)).statusCode, 404);
    assert.equal(
      (await new TestBrowser(world.app).logIn(email)).headers.location,
      '/console/logged-in?to=%2Fconsole',
    );
  });

  it('is set up on plain pages, too, which show its secret to nobody else', async () => {
    const email = 'fay@example.com';
    const fay = await world.person('reader', email);
    assert.match((await fay.get('/console/account')).body, /Set up a second factor/);
    const begun = await fay.post('/console/second-factor', {});
    assert.equal(begun.headers.location, STEP);
    const page = await fay.get(STEP);
    assert.match(String(page.headers['content-security-policy']), /^default-src 'none'; img-src data:; /);
    assert.match(page.body, /<img class="qr" src="data:image\/png;base64,/);
    const text = /<code id="secret">([^<]*)</.exec(page.body)![1]!;
    assert.equal((await fay.post(STEP, { code: '000000', to: '/console' })).statusCode, 403);
    const code = codeOf(bytesOfBase32(text.replaceAll(' ', '')));
    const done = await fay.post(STEP, { code, to: '/console' });
    assert.equal(done.statusCode, 200);
    assert.equal(done.body.match(/<li><code>[A-Z2-7]{10}<\/code><\/li>/g)?.length, 20);
    assert.equal((await stateOf(fay)).enrolled, true);
    assert.equal((await fay.get(STEP)).statusCode, 403);
    assert.equal((await new TestBrowser(world.app).get(STEP)).statusCode, 403);
  });

  it('has its recovery codes renewed on a plain page, with a recent log-in', async () => {
    const email = 'rae@example.com';
    const rae = await world.person('reader', email);
    const form = 'action="/console/second-factor/recovery-codes"';
    const renew = () => rae.post('/console/second-factor/recovery-codes', {});
    assert.ok(!(await rae.get('/console/account')).body.includes(form));
    assert.equal((await renew()).statusCode, 409);
    const { recoveryCodes } = await enroll(rae);
    assert.ok((await rae.get('/console/account')).body.includes(form));
    const page = await renew();
    assert.equal(page.statusCode, 200, page.body);
    const renewed = [...page.body.matchAll(/<li><code>([^<]+)</g)].map(([, code]) => code!);
    assert.equal(renewed.length, recoveryCodes.length);
    assert.equal(await give(await atStep(email), recoveryCodes[0]!), 403);
    assert.equal(await give(await atStep(email), renewed[0]!), 303);
    world.api.clock.advance(16 * MINUTE_MS);
    assert.equal((await renew()).statusCode, 403);
    const events = await world.api.store.db.selectFrom('audit_event').select('action').execute();
    assert.ok(events.some(({ action }) => action === 'renewRecoveryCodes'));
  });

  it('opens nothing with a step that is old, damaged or of a person who is gone', async () => {
    const email = 'gus@example.com';
    const { secret } = await enroll(await world.person('reader', email));
    const old = await atStep(email);
    world.api.clock.advance(10 * MINUTE_MS);
    assert.equal(await give(old, codeOf(secret)), 403);
    const removed = await atStep(email);
    const path = `/people/${await idOf(email)}`;
    assert.equal((await world.api.call('DELETE', path)).status, 204);
    assert.equal(await give(removed, codeOf(secret)), 403);
    const forged = new TestBrowser(world.app);
    const sealed = world.api.secrets.seal(JSON.stringify({ need: 'code', personId: '', expiresAtMs: 1e15 }));
    for (const value of ['x', sealed]) {
      const cookie = `__Host-frontdoor-console-step=${value}`;
      assert.equal((await forged.get(STEP, { cookie })).statusCode, 403);
    }
  });

  it('is removed by an administrator who may have the role of the person', async () => {
    const email = 'hal@example.com';
    const hal = await world.person('operator', email);
    await enroll(hal);
    const path = `/people/${await idOf(email)}/second-factor`;
    const scopes = 'frontdoor.read frontdoor.write frontdoor.organization';
    const { authorization } = await world.api.addAccount(world.api.first.organizationId, scopes);
    assert.equal((await world.api.call('DELETE', path, { authorization })).status, 403);
    assert.equal((await hal.call('DELETE', path)).statusCode, 409);
    assert.equal((await world.api.call('DELETE', path)).status, 204);
    assert.equal((await world.api.call('DELETE', path)).status, 404);
    assert.equal(await isLoggedIn(hal), false, 'the second factor opened the session');
    assert.equal(
      (await new TestBrowser(world.app).logIn(email)).headers.location,
      '/console/logged-in?to=%2Fconsole',
    );
  });

  it('is for people with a password alone', async () => {
    const { accountId, apiToken } = world.api.first;
    const account = new TestBrowser(world.app);
    await account.logIn(accountId, apiToken);
    assert.equal((await stateOf(account)).available, false);
    for (const path of [OWN, `${OWN}/recovery-codes`])
      assert.equal((await account.call('POST', path)).statusCode, 409, path);
    assert.equal((await account.post('/console/second-factor', {})).statusCode, 409);
  });

  it('is demanded by an organization: nothing opens before the enrollment', async () => {
    const email = 'ida@example.com';
    const ida = await world.person('administrator', email);
    const withFactor = await world.person('reader', 'jon@example.com');
    await enroll(withFactor);
    const { accountId, apiToken } = world.api.first;
    await demand(true);
    try {
      assert.equal(await isLoggedIn(ida), false);
      assert.equal(await isLoggedIn(withFactor), true);
      const code = await world.invite('reader', 'Kim');
      const kim = new TestBrowser(world.app);
      const form = { code, name: 'Kim', email: 'kim@example.com', password: 'plum giraffe engine 47' };
      const made = await kim.post('/console/welcome', form);
      assert.deepEqual([made.statusCode, made.headers.location], [303, `${STEP}?to=%2Fconsole`]);
      const account = new TestBrowser(world.app);
      await account.logIn(accountId, apiToken);
      assert.equal(await isLoggedIn(account), true);
      for (const [browser, person] of [
        [await atStep(email), email],
        [kim, 'kim@example.com'],
      ] as const) {
        assert.equal(await isLoggedIn(browser), false);
        for (const path of [OWN, `${OWN}/confirmation`])
          assert.equal((await browser.call('POST', path, { code: '1' })).statusCode, 401, path);
        const text = /<code id="secret">([^<]*)</.exec((await browser.get(STEP)).body)![1]!;
        const secret = bytesOfBase32(text.replaceAll(' ', ''));
        const done = await browser.post(STEP, { code: codeOf(secret), to: '/console' });
        assert.equal(done.statusCode, 200, done.body);
        assert.equal(await isLoggedIn(browser), true);
        assert.equal((await browser.call('DELETE', OWN)).statusCode, 409);
        assert.equal(await give(await atStep(person), codeOf(secret)), 303);
      }
      const path = `/people/${await idOf('kim@example.com')}/second-factor`;
      assert.equal((await world.api.call('DELETE', path)).status, 204);
      assert.equal(await isLoggedIn(kim), false);
    } finally {
      await demand(false);
    }
    assert.equal(await isLoggedIn(ida), false);
  });

  it('begins an enrollment again with each log-in, so that an earlier secret ends', async () => {
    const email = 'leo@example.com';
    await world.person('reader', email);
    await demand(true);
    try {
      const secretAt = async (browser: TestBrowser) => {
        const text = /<code id="secret">([^<]*)</.exec((await browser.get(STEP)).body)![1]!;
        return bytesOfBase32(text.replaceAll(' ', ''));
      };
      const thief = await atStep(email);
      const known = await secretAt(thief);
      const leo = await atStep(email);
      const own = await secretAt(leo);
      assert.equal(await give(thief, codeOf(known)), 403);
      assert.equal(await give(leo, codeOf(own)), 200);
      assert.equal(await give(thief, codeOf(known)), 403);
      assert.equal(await give(thief, codeOf(own)), 403);
    } finally {
      await demand(false);
    }
  });
});
