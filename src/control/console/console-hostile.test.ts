// What attackers try at the console: redirects to elsewhere, sessions that they know beforehand, passwords guessed in
// masses, and clocks that are wrong.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { LightMyRequestResponse } from 'fastify';
import { parseTrustedProxies } from '#domain/proxies';
import { until } from '../../../test/support/deadline.ts';
import { BASE_URL } from '../shares/operations/api-fixture.ts';
import { passwordTurns } from '../credentials/passwords/password-hash.ts';
import { heldPasswordTurns, waitingPasswords } from '../credentials/passwords/password-turns-fixture.ts';
import { openConsoleWorld, TestBrowser, type ConsoleWorld } from './console-fixture.ts';

const HOUR_MS = 3_600_000;
const PASSWORD = 'plum giraffe engine 47';
/** Wrong passwords of one name from one address, and of all names from one address. */
const [OF_NAME, OF_ADDRESS] = [3, 30];

const EVIL = 'evil.example';
const REDIRECTS: readonly string[] = [
  `https://${EVIL}`,
  `http://${EVIL}`,
  `//${EVIL}`,
  `///${EVIL}`,
  `////${EVIL}`,
  `https:${EVIL}`,
  `https:/${EVIL}`,
  `https:///${EVIL}`,
  `HTTPS://${EVIL}`,
  `\\\\${EVIL}`,
  `/\\${EVIL}`,
  `\\/${EVIL}`,
  `/\\/${EVIL}`,
  `//\\${EVIL}`,
  `/\t/${EVIL}`,
  `/\n/${EVIL}`,
  `/\r/${EVIL}`,
  `\t//${EVIL}`,
  ` //${EVIL}`,
  `\u0000//${EVIL}`,
  `/\u0000/${EVIL}`,
  `\u00a0//${EVIL}`,
  `\u3000//${EVIL}`,
  `//${EVIL}/console`,
  `//${EVIL}/%2e%2e`,
  `//${EVIL}\\@127.0.0.1`,
  `//127.0.0.1@${EVIL}`,
  `https://127.0.0.1:8081@${EVIL}`,
  `${BASE_URL}@${EVIL}`,
  `${BASE_URL}.${EVIL}`,
  `//${EVIL}#/console`,
  `//${EVIL}?/console`,
  `https://${EVIL}/console`,
  `javascript:alert(1)`,
  `JavaScript:alert(1)//console`,
  `java\nscript:alert(1)`,
  `data:text/html,<script>alert(1)</script>`,
  `vbscript:x`,
  `file:///etc/passwd`,
  `ftp://${EVIL}`,
  `blob:${BASE_URL}/x`,
  `about:blank`,
  `view-source:${BASE_URL}`,
  `//%65vil.example`,
  `/%2f${EVIL}`,
  `/%5c${EVIL}`,
  `/%09/${EVIL}`,
  `/console/..//${EVIL}`,
  `/console/../../${EVIL}`,
  `/console/%2e%2e/docs`,
  `/console\\..\\docs`,
  `/console/..;/docs`,
  `/consoles`,
  `/console.${EVIL}`,
  `/console@${EVIL}`,
  `/console:80@${EVIL}`,
  `console`,
  `./console`,
  `../console`,
  `?to=//${EVIL}`,
  `#//${EVIL}`,
  `/docs`,
  `/`,
  ``,
  `//`,
  `/oauth/token`,
  `//[::1]:9/console`,
  `//0x7f000001/console`,
  `/Console`,
];

/** Where a browser on a page of the console goes. */
function destinationOf(answer: LightMyRequestResponse): URL {
  assert.equal(answer.statusCode, 303, answer.body);
  return new URL(answer.headers.location!, `${BASE_URL}/console/log-in`);
}

describe('attacks on the console', () => {
  let world: ConsoleWorld;
  before(async () => {
    world = await openConsoleWorld({ limits: { failedLogins: { perSecond: 1, burst: OF_NAME } } });
  });
  after(() => world.close());

  function isInside(url: URL): boolean {
    const { origin, pathname } = url;
    return origin === BASE_URL && (pathname === '/console' || pathname.startsWith('/console/'));
  }

  it(`do not lead elsewhere: ${REDIRECTS.length} redirects, in the log-in page, its form and after it`, async () => {
    const { accountId, apiToken } = world.api.first;
    assert.ok(REDIRECTS.length >= 60);
    const browser = new TestBrowser(world.app);
    for (const to of REDIRECTS) {
      const what = JSON.stringify(to);
      const query = `?to=${encodeURIComponent(to)}`;
      const page = await new TestBrowser(world.app).get(`/console/log-in${query}`);
      assert.match(page.body, /name="to" value="\/console(?:\/[^"]*)?"/, what);
      const begun = destinationOf(await browser.logIn(accountId, apiToken, to));
      assert.equal(begun.pathname, '/console/logged-in', what);
      const kept = new URL(begun.searchParams.get('to')!, BASE_URL);
      assert.ok(isInside(kept), `${what}: ${kept.href}`);
      const end = destinationOf(await browser.get(`/console/logged-in${query}`));
      assert.ok(isInside(end), `${what}: ${end.href}`);
    }
  });

  it('do not fix a session: a log-in ends the one that the browser had, and takes over none', async () => {
    const attacker = await world.person('reader', 'attacker@example.com');
    const planted = attacker.cookie!;
    await world.person('editor', 'victim@example.com');
    const victim = new TestBrowser(world.app);
    victim.cookie = planted;
    assert.equal((await victim.logIn('victim@example.com')).statusCode, 303);
    assert.notEqual(victim.cookie, planted);
    assert.equal((await attacker.call('GET', '/caller')).statusCode, 401);
    const guessed = `__Host-frontdoor-console=${'A'.repeat(43)}`;
    victim.cookie = guessed;
    assert.equal((await victim.logIn('victim@example.com')).statusCode, 303);
    assert.notEqual(victim.cookie, guessed);
    const thief = new TestBrowser(world.app);
    thief.cookie = guessed;
    assert.equal((await thief.call('GET', '/caller')).statusCode, 401);
    const invited = new TestBrowser(world.app);
    invited.cookie = victim.cookie;
    const form = { name: 'New', email: 'new@example.com', password: PASSWORD };
    const code = await world.invite('reader');
    assert.equal((await invited.post('/console/welcome', { code, ...form })).statusCode, 303);
    assert.notEqual(invited.cookie, victim.cookie);
    assert.equal((await victim.call('GET', '/caller')).statusCode, 401);
  });

  it('guess few passwords of one name, also at once, and the right one among them is of no use', async () => {
    await world.person('reader', 'guessed@example.com');
    const guesses = Array.from({ length: 1_000 }, (_, at) => `wrong password ${at}`);
    const answers = await Promise.all(guesses.map((guess) => guessOf('guessed@example.com', guess)));
    assert.deepEqual(countOf(answers), { judged: OF_NAME, refused: guesses.length - OF_NAME });
    assert.match(
      String(answers.find(({ statusCode }) => statusCode === 429)!.headers['retry-after']),
      /^\d+$/,
    );
    // From other addresses, until the password is locked.
    const more = await Promise.all(
      Array.from({ length: 20 }, (_, at) => {
        const password = at === 15 ? PASSWORD : `another guess ${at}`;
        return guessOf('guessed@example.com', password, `198.51.100.${at}`);
      }),
    );
    assert.deepEqual(countOf(more), { judged: 20, refused: 0 });
  });

  it('guess few passwords from one address with any names, and others log in in the meantime', async () => {
    await world.person('reader', 'calm@example.com');
    const calm = new TestBrowser(world.app);
    const guesses = Array.from({ length: 1_000 }, (_, at) =>
      guessOf(`name${at}@example.com`, 'wrong password', '203.0.113.9'),
    );
    const answer = await guessOf('calm@example.com', PASSWORD, '198.51.100.77');
    assert.equal(answer.statusCode, 303);
    assert.equal((await calm.logIn('calm@example.com')).statusCode, 303);
    const counts = countOf(await Promise.all(guesses));
    assert.deepEqual(counts, { judged: OF_ADDRESS, refused: 1_000 - OF_ADDRESS });
    world.api.clock.advance(HOUR_MS);
    assert.equal((await guessOf('name1@example.com', 'wrong', '203.0.113.9')).statusCode, 403);
  });

  it('do not lock a password by attempts that nobody judged, because too many waited', async () => {
    await world.person('reader', 'crowded@example.com');
    const release = heldPasswordTurns(passwordTurns);
    const attempts = Array.from({ length: 12 }, (_, at) =>
      guessOf('crowded@example.com', 'wrong password', `203.0.113.${100 + at}`),
    );
    const refused = await Promise.all(attempts);
    await release();
    for (const { statusCode, headers } of refused)
      assert.deepEqual([statusCode, headers['retry-after']], [429, '15']);
    const answer = await guessOf('crowded@example.com', PASSWORD, '203.0.113.100');
    assert.equal(answer.statusCode, 303);
  });

  it('do not keep a person out who comes from elsewhere, however many wait', async () => {
    await world.person('reader', 'elsewhere@example.com');
    const networks = Array.from({ length: 30 }, (_, at) => `100.64.${at}.1`);
    const guessFrom = (address: string) => guessOf(`of${address}@example.com`, 'wrong password', address);
    await Promise.all(networks.map(guessFrom));
    const answered: string[] = [];
    const note = (who: string) => (answer: LightMyRequestResponse) => {
      answered.push(who);
      return answer.statusCode;
    };
    const { waiting, release } = waitingPasswords(passwordTurns);
    const guesses = networks.map((address) => guessFrom(address).then(note('guess')));
    const person = guessOf('elsewhere@example.com', PASSWORD, '192.0.0.90').then(note('person'));
    await until('all wait', waiting, (count) => count === networks.length + 1).finally(release);
    assert.equal(await person, 303);
    await Promise.all(guesses);
    assert.ok(answered.indexOf('person') < 10, `${answered.indexOf('person')} were before`);
  });

  it('count no log-in that succeeds', async () => {
    await world.person('reader', 'often@example.com');
    for (let at = 0; at < OF_NAME + 2; at += 1) {
      const answer = await guessOf('often@example.com', PASSWORD, '198.51.100.200');
      assert.equal(answer.statusCode, 303);
    }
  });

  it('lock nobody out longer by a clock that was an hour off', async () => {
    await world.person('reader', 'set-back@example.com');
    const { clock } = world.api;
    clock.advance(HOUR_MS);
    for (let at = 0; at < 10; at += 1)
      assert.equal((await guessOf('set-back@example.com', `guess ${at}`, `192.0.3.${at}`)).statusCode, 403);
    const right = () => guessOf('set-back@example.com', PASSWORD, '192.0.3.200');
    assert.equal((await right()).statusCode, 403);
    clock.advance(-HOUR_MS);
    assert.equal((await right()).statusCode, 303);
    clock.advance(HOUR_MS);
  });

  it('are distinguished by the header of a trusted proxy, which nobody else may send', async () => {
    const proxied = await openConsoleWorld({
      limits: { failedLogins: { perSecond: 1, burst: OF_NAME } },
      trustedProxies: parseTrustedProxies('10.0.0.0/8'),
    });
    const { app } = proxied;
    try {
      await proxied.person('reader', 'calm@example.com');
      const from = (remoteAddress: string, forwarded: string, name: string, password: string) =>
        guessOf(name, password, remoteAddress, { 'x-forwarded-for': forwarded }, app);
      // The first address is what the client has sent itself.
      const guesses = Array.from({ length: 100 }, (_, at) =>
        from('10.0.0.1', `198.51.100.${at}, 203.0.113.9`, `name${at}@example.com`, 'wrong password'),
      );
      assert.deepEqual(countOf(await Promise.all(guesses)), { judged: OF_ADDRESS, refused: 70 });
      const calm = await from('10.0.0.1', '192.0.2.8', 'calm@example.com', PASSWORD);
      assert.equal(calm.statusCode, 303);
      // Two proxies in a row, and a client that claims to be behind one.
      assert.equal((await from('10.0.0.1', '203.0.113.9, 10.2.0.1', 'x', 'wrong')).statusCode, 429);
      assert.equal((await from('203.0.113.9', '192.0.2.8', 'x', 'wrong')).statusCode, 429);
      // Some proxies append the port, which is another one for each connection.
      for (const forwarded of ['203.0.113.9:52001', 'unknown, 203.0.113.9:52002'])
        assert.equal((await from('10.0.0.1', forwarded, 'x', 'wrong')).statusCode, 429, forwarded);
    } finally {
      await proxied.close();
    }
  });

  it('gain nothing from a clock that is an hour off', async () => {
    const person = await world.person('operator', 'clock@example.com');
    const create = () => person.call('POST', '/invitations', { name: 'x', role: 'reader' });
    assert.equal((await create()).statusCode, 201);
    world.api.clock.advance(HOUR_MS);
    assert.equal((await create()).statusCode, 403);
    assert.equal((await person.call('GET', '/caller')).statusCode, 200);
    const code = await world.invite('reader');
    assert.equal((await person.logIn('clock@example.com')).statusCode, 303);
    assert.equal((await create()).statusCode, 201);
    // The clock is set back: nobody knows how old the log-in is.
    world.api.clock.advance(-HOUR_MS);
    assert.equal((await person.call('GET', '/caller')).statusCode, 200);
    assert.equal((await create()).statusCode, 403);
    assert.equal((await person.logIn('clock@example.com')).statusCode, 303);
    assert.equal((await create()).statusCode, 201);
    world.api.clock.advance(3 * HOUR_MS);
    const late = await new TestBrowser(world.app).post('/console/welcome', { code });
    assert.equal(late.statusCode, 403);
  });

  function guessOf(
    name: string,
    password: string,
    remoteAddress = '192.0.2.1',
    more: Readonly<Record<string, string>> = {},
    app = world.app,
  ): Promise<LightMyRequestResponse> {
    const headers = {
      ...more,
      'content-type': 'application/x-www-form-urlencoded',
      'sec-fetch-site': 'same-origin',
    };
    const payload = new URLSearchParams({ name, password }).toString();
    const request = { method: 'POST', url: '/console/log-in', headers, payload, remoteAddress } as const;
    return new TestBrowser(app).send(request);
  }
});

/** Passwords that were judged, and wrong; and attempts that were refused before: too many, or too many forms at once. */
function countOf(answers: readonly LightMyRequestResponse[]): { judged: number; refused: number } {
  const having = (...codes: number[]) =>
    answers.filter(({ statusCode }) => codes.includes(statusCode)).length;
  return { judged: having(403), refused: having(429, 503) };
}
