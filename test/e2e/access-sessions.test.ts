// Sessions and credentials of people and programs at shares: they are valid at the share that issued them, for the
// configured time, and not for anybody who planted, copied or took one from another share.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { callAgent } from '#cli';
import { until } from '../support/deadline.ts';
import { DEFAULT_CLIENT } from '../support/identity-provider.ts';
import { goThroughProvider } from '../support/login-browser.ts';
import { ACCESS_LOG, CUSTOM_ZONE, OWN_DOMAIN, type IdentityWorld } from '../support/identity-world.ts';
import { releaseWorld, sharedIdentityWorld } from '../support/shared-world.ts';
import { startSecondOrganization, type SecondOrganization } from '../support/second-organization.ts';
import { LOGIN_COOKIE, SESSION_COOKIE, type Visitor, type VisitorAnswer } from '../support/visitor.ts';

const FLAGS = ['Path=/', 'Secure', 'HttpOnly', 'SameSite=Lax'];
const TOKEN = /^[A-Za-z0-9_-]{43}$/;
/** How long the control plane waits for a provider; gateways wait longer for the control plane. */
const PATIENCE_MS = 5_000;

let world: IdentityWorld;
let oidc: string;
before(async () => {
  world = await sharedIdentityWorld();
  oidc = await world.addProvider('OIDC', 'staff');
});
after(releaseWorld);

const token = (): string => randomBytes(32).toString('base64url');

/** A request of a program that shows this cookie and nothing else. */
async function statusWith(host: string, session: string, path = '/'): Promise<number> {
  const headers = { cookie: `${SESSION_COOKIE}=${session}` };
  return (await world.visitor().ask(host, path, { headers, navigates: false })).status;
}

/**
 * Returns a visitor whose session was accepted a moment ago. One whose session became idle because the machine stood
 * still logs in again.
 */
async function inside(host: string): Promise<Visitor> {
  const { value } = await until(
    `someone inside ${host}`,
    async () => {
      const visitor = world.visitor();
      await visitor.logIn(host, '/', 'ann');
      return { visitor, status: await statusWith(host, visitor.cookie(host)!) };
    },
    ({ status }) => status === 200,
  );
  return value.visitor;
}

/**
 * Undefined for a visitor that was asked to try again, which happens only after the deadline of a call between
 * programs.
 */
async function unlessLate<T>(act: () => Promise<T>): Promise<T | undefined> {
  const startedMs = performance.now();
  try {
    return await act();
  } catch (error) {
    const isLate = performance.now() - startedMs >= PATIENCE_MS;
    if (isLate && /50[23] (?:Bad Gateway|Service Unavailable)/.test(String(error))) return undefined;
    throw error;
  }
}

describe('a session', () => {
  it('is a new one at each log-in, also when a cookie was planted before', async () => {
    const host = await world.share('planted', [oidc]);
    const ann = world.visitor();
    const planted = token();
    ann.setCookie(host, SESSION_COOKIE, planted);
    await ann.logIn(host, '/', 'ann');
    const first = ann.cookie(host)!;
    assert.notEqual(first, planted);
    assert.equal(await statusWith(host, first), 200);
    assert.equal(await statusWith(host, planted), 401);
    ann.cookies.clear();
    await ann.logIn(host, '/', 'ann');
    assert.notEqual(ann.cookie(host), first);
  });

  it('is given once, only to the browser that began the log-in, and only at that share', async () => {
    const host = await world.share('bound', [oidc]);
    const other = await world.share('unbound', [oidc]);
    const refusals: readonly [string, (url: URL, visitor: Visitor) => Promise<VisitorAnswer>][] = [
      ['another browser', ({ pathname, search }) => world.visitor().ask(host, pathname + search)],
      [
        'a browser with another binding',
        ({ pathname, search }, visitor) => {
          visitor.setCookie(host, LOGIN_COOKIE, token());
          return visitor.ask(host, pathname + search);
        },
      ],
      [
        'another share',
        ({ pathname, search }, visitor) => {
          visitor.setCookie(other, LOGIN_COOKIE, visitor.cookie(host, LOGIN_COOKIE)!);
          return visitor.ask(other, pathname + search);
        },
      ],
      [
        'the same browser, twice',
        async ({ pathname, search }, visitor) => {
          await visitor.ask(host, pathname + search);
          return visitor.ask(host, pathname + search);
        },
      ],
    ];
    for (const [name, redeem] of refusals) {
      const visitor = world.visitor();
      const answer = await redeem(await visitor.comeBack(host, '/', 'ann'), visitor);
      assert.equal(answer.status, 400, `${name}: ${answer.text}`);
      assert.deepEqual(answer.setCookies, [], name);
    }
  });

  it('is never begun by a state of another browser’s log-in that comes back twice', async () => {
    const host = await world.share('states', [oidc]);
    const ann = world.visitor();
    const back = await ann.provenAt(host, '/', 'ann');
    assert.equal((await ann.ask(back.hostname, back.pathname + back.search)).status, 302);
    const again = await world.visitor().ask(back.hostname, back.pathname + back.search);
    assert.equal(again.status, 400);
    back.searchParams.set('state', token());
    assert.equal((await ann.ask(back.hostname, back.pathname + back.search)).status, 400);
  });

  it('is of one name: a domain of a share has its own, which ends with the domain', async () => {
    const host = await world.share('with-domain', [oidc], { emails: ['ann@example.com'] });
    const domains = '/shares/with-domain/domains';
    const serve = async (): Promise<void> => {
      await world.call('POST', domains, { hostname: OWN_DOMAIN });
      await world.parts.grantHostname(OWN_DOMAIN);
      await becomes('', 401);
    };
    const becomes = (session: string, status: number) =>
      until(
        `${OWN_DOMAIN} answers ${status}`,
        () => statusWith(OWN_DOMAIN, session),
        (seen) => seen === status,
      );
    await serve();
    const ann = await inside(OWN_DOMAIN);
    const atDomain = ann.cookie(OWN_DOMAIN)!;
    const atZone = (await inside(host)).cookie(host)!;
    assert.match((await ann.ask(OWN_DOMAIN, '/')).text, /"frontdoor-identity"/);
    assert.equal(await statusWith(host, atDomain), 401, 'a session of the domain is none of the zone');
    assert.equal(await statusWith(OWN_DOMAIN, atZone), 401, 'and the other way round');
    const bob = world.visitor();
    await bob.logIn(OWN_DOMAIN, '/', 'bob');
    assert.equal((await bob.ask(OWN_DOMAIN, '/')).status, 403, 'the policy of the share applies');

    await ann.ask(OWN_DOMAIN, '/.frontdoor/logout');
    assert.equal(await statusWith(OWN_DOMAIN, atDomain), 401);
    assert.equal(await statusWith(host, atZone), 200, 'signing out is of one name, too');
    const later = (await inside(OWN_DOMAIN)).cookie(OWN_DOMAIN)!;
    await world.call('DELETE', `${domains}/${OWN_DOMAIN}`);
    await becomes(later, 404);
    await serve();
    assert.equal(await statusWith(OWN_DOMAIN, later), 401, 'the name is back, and the session is not');
    await world.call('DELETE', `${domains}/${OWN_DOMAIN}`);
  });

  it('is in a cookie that no script, no other host and no plain connection gets', async () => {
    const host = await world.share('flags', [oidc]);
    const ann = world.visitor();
    const started = await ann.ask(host, '/');
    const done = await ann.logIn(host, '/', 'ann');
    const lines = [
      [started, LOGIN_COOKIE, 600],
      [done, SESSION_COOKIE, 7 * 86_400],
    ] as const;
    for (const [answer, name, maxAge] of lines) {
      assert.equal(answer.setCookies.length, 1);
      const [pair = '', ...flags] = answer.setCookies[0]!.split('; ');
      assert.equal(pair.slice(0, pair.indexOf('=')), name);
      assert.match(pair.slice(pair.indexOf('=') + 1), TOKEN);
      assert.deepEqual(flags, [...FLAGS, `Max-Age=${maxAge}`]);
      assert.equal(answer.headers['cache-control'], 'no-store');
    }
    const out = await ann.ask(host, '/.frontdoor/logout');
    assert.deepEqual(out.setCookies, [`${SESSION_COOKIE}=; ${FLAGS.join('; ')}; Max-Age=0`]);
  });

  it('ends when it was idle for the idle time, and at its maximum age even when it is used', async () => {
    const host = await world.share('idle', [oidc], { session: { idle: 'PT5S', absolute: 'PT1H' } });
    const idle = (await inside(host)).cookie(host)!;
    const usedMs = performance.now();
    await until(
      'the idle time to pass',
      () => performance.now() - usedMs,
      (ms) => ms > 5_200,
    );
    assert.equal(await statusWith(host, idle), 401);

    await world.call('PUT', '/shares/idle/policy', { session: { idle: 'PT5S', absolute: 'PT9S' } });
    // One that is left alone for five seconds, since the machine stood still, ends as an idle one: then another is used.
    const { value: over } = await until(
      'a session that is used to outlast the idle time, and to end',
      async () => {
        const ann = await inside(host);
        const madeMs = performance.now();
        await until(
          'the session to be over',
          () => statusWith(host, ann.cookie(host)!),
          (status) => status === 401,
        );
        return { lastedMs: performance.now() - madeMs, next: (await ann.ask(host, '/')).status };
      },
      ({ lastedMs }) => lastedMs > 5_500,
    );
    assert.equal(over.next, 302);
  });

  it('ends with its log-out, which no other site can ask for', async () => {
    const host = await world.share('log-out', [oidc]);
    const ann = world.visitor();
    await ann.logIn(host, '/', 'ann');
    const session = ann.cookie(host)!;
    const foreign = await ann.ask(host, '/.frontdoor/logout', {
      headers: { 'sec-fetch-site': 'cross-site' },
    });
    assert.equal(foreign.status, 403);
    assert.equal(await statusWith(host, session), 200);
    const out = await ann.ask(host, '/.frontdoor/logout', { method: 'POST' });
    assert.equal(out.status, 200);
    assert.equal(await statusWith(host, session), 401);
  });

  it('ends at its identity provider too where that is asked for, and leads to the one page registered there', async () => {
    const host = await world.share('log-out-there', [oidc]);
    const ann = world.visitor();
    const cookies = new Map<string, string>();
    const started = await ann.ask(host, '/');
    const back = await goThroughProvider(started.location, { user: 'ann', cookies });
    const returned = await ann.ask(back.hostname, back.pathname + back.search);
    const code = new URL(returned.location);
    await ann.ask(code.hostname, code.pathname + code.search);
    const session = ann.cookie(host)!;
    assert.equal(await statusWith(host, session), 200);

    const out = await ann.ask(host, '/.frontdoor/logout?provider=true');
    assert.equal(out.status, 303, out.text);
    assert.equal(await statusWith(host, session), 401);
    const asked = new URL(out.location);
    assert.equal(asked.origin, world.provider.issuer);
    const page = `https://oauth.share.localhost:${world.securePort}/${oidc}/auth/logged-out`;
    assert.deepEqual(Object.fromEntries(asked.searchParams), {
      client_id: DEFAULT_CLIENT.id,
      post_logout_redirect_uri: page,
    });
    const knowsAnn = async (): Promise<boolean> => {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const { searchParams, origin, pathname } = asked;
      const query = new URLSearchParams({ client_id: searchParams.get('client_id')! });
      // A user with a session at the provider is asked to confirm first.
      return (
        await (await fetch(`${origin}${pathname}?${query.toString()}`, { headers: { cookie } })).text()
      ).includes('op.logoutForm');
    };
    assert.equal(await knowsAnn(), true);
    await assert.rejects(
      goThroughProvider(out.location, { cookies, logsOut: true }),
      /400/,
      'not registered',
    );
    world.provider.allowLogouts([page]);
    const end = await goThroughProvider(out.location, { cookies, logsOut: true });
    assert.equal(end.href, page);
    assert.equal(await knowsAnn(), false);
    const shown = await ann.ask(end.hostname, end.pathname + end.search);
    assert.deepEqual([shown.status, /You are signed out/.test(shown.text)], [200, true]);
  });

  it('works for each of a hundred people who log in at once', async () => {
    const host = await world.share('hundred', [oidc]);
    const logIn = async (i: number): Promise<string> => {
      const visitor = world.visitor();
      const path = `/page/${i}?of=${i}`;
      const done = await visitor.logIn(host, path, i % 2 === 0 ? 'ann' : 'bob');
      assert.deepEqual([done.status, done.location], [303, path], done.text);
      const answer = await visitor.ask(host, path);
      assert.equal(answer.status, 200, answer.text);
      const { url, headers } = JSON.parse(answer.text) as { url: string; headers: Record<string, string> };
      assert.equal(url, path);
      assert.equal(headers['zrok-auth-email'], i % 2 === 0 ? 'ann@example.com' : 'bob@elsewhere.test');
      return visitor.cookie(host)!;
    };
    const tried = await Promise.allSettled(Array.from({ length: 100 }, (_, i) => unlessLate(() => logIn(i))));
    const sessions = new Set<string>();
    for (const [i, outcome] of tried.entries()) {
      if (outcome.status === 'rejected') throw outcome.reason;
      // A machine that is too busy for a hundred at once has time for each alone.
      sessions.add(outcome.value ?? (await logIn(i)));
    }
    assert.equal(sessions.size, 100);
  });
});

describe('a credential of one share', () => {
  let second: SecondOrganization;
  let first: string;
  /** Credentials that are valid at the first share. */
  let credentials: readonly (readonly [name: string, headers: Record<string, string>])[];
  const elsewhere = new Map<string, string>();

  const key = (name: string) => ({
    placement: 'header',
    name: 'X-Api-Key',
    keys: [{ name, key: `key-of-the-${name}` }],
  });

  before(async () => {
    second = await startSecondOrganization(world.parts);
    const keys = await world.addProvider('API_KEY', 'first keys', key('first-caller'));
    first = await world.share('first', [oidc, keys]);
    const ann = world.visitor();
    await ann.logIn(first, '/', 'ann');
    const jwt = await world.provider.signToken({
      sub: 'machine',
      email: 'ann@example.com',
      email_verified: true,
    });
    credentials = [
      ['a session', { cookie: `${SESSION_COOKIE}=${ann.cookie(first)}` }],
      ['a JWT', { authorization: `Bearer ${jwt}` }],
      ['an API key', { 'x-api-key': 'key-of-the-first-caller' }],
    ];

    const otherClient = { client_id: 'another-client', client_secret: 'its-secret' };
    const other = {
      oidc: await world.addProvider('OIDC', 'other staff', otherClient),
      keys: await world.addProvider('API_KEY', 'other keys', key('other-caller')),
    };
    elsewhere.set('a sibling', await world.share('sibling', [other.oidc, other.keys]));

    // The same share below a name of its own: there the session is another one.
    const frontends = await world.call<{ id: string }[]>('GET', '/frontends');
    const made = await world.call<{ id: string }>('POST', '/custom-frontends', {
      hostname: CUSTOM_ZONE,
      frontendId: frontends[0]!.id,
      authProviderIds: [other.oidc],
    });
    await world.parts.grantHostname(made.id);
    await world.share('bare', []);
    elsewhere.set('a custom domain', `bare.${CUSTOM_ZONE}`);

    const issuer = world.provider.issuer;
    const foreign = [
      await second.call<{ id: string }>('POST', '/auth-providers', {
        name: 'their staff',
        type: 'OIDC',
        data: { issuer, ...otherClient },
      }),
      await second.call<{ id: string }>('POST', '/auth-providers', {
        name: 'their keys',
        type: 'API_KEY',
        data: key('their-caller'),
      }),
    ];
    const share = { op: 'share', mode: 'public', target: world.origin.target, grants: [] } as const;
    await callAgent(second.agentSocket, { ...share, name: 'theirs' }, 20_000);
    await second.call('PATCH', '/shares/theirs', { authProviderIds: foreign.map(({ id }) => id) });
    elsewhere.set('another organization', 'theirs.share.localhost');
    for (const host of elsewhere.values()) {
      await until(
        `${host} is guarded`,
        async () => (await world.visitor().ask(host, '/ready', { navigates: false })).status,
        (status) => status === 401,
      );
    }
  });
  after(() => second?.close());

  it('is accepted there, for each kind of credential', async () => {
    for (const [name, headers] of credentials) {
      const answer = await world.visitor().ask(first, '/', { headers, navigates: false });
      assert.equal(answer.status, 200, `${name}: ${answer.text}`);
    }
  });

  it('is refused at siblings, custom domains and shares of other organizations, whose services get no request', async () => {
    let checks = 0;
    for (const [where, host] of elsewhere) {
      const hits = world.origin.hits(host);
      for (const [name, headers] of credentials) {
        const asProgram = await world.visitor().ask(host, '/', { headers, navigates: false });
        assert.equal(asProgram.status, 401, `${name} at ${where}: ${asProgram.text}`);
        const asBrowser = await world.visitor().ask(host, '/', { headers });
        assert.ok([401, 302].includes(asBrowser.status), `${name} at ${where}: ${asBrowser.status}`);
        checks += 2;
      }
      assert.equal(world.origin.hits(host), hits, where);
    }
    assert.equal(checks, 18);
  });

  it('is, for a session, refused at a sibling with the same provider, and at another name of the same share', async () => {
    const [, session] = credentials[0]!;
    for (const host of [await world.share('same-provider', [oidc]), `first.${CUSTOM_ZONE}`]) {
      const hits = world.origin.hits(host);
      const answer = await world.visitor().ask(host, '/', { headers: session, navigates: false });
      assert.equal(answer.status, 401, host);
      assert.equal(world.origin.hits(host), hits, host);
      const ann = world.visitor();
      assert.equal((await ann.logIn(host, '/', 'ann')).status, 303);
      assert.equal((await ann.ask(host, '/')).status, 200);
    }
  });

  it('never reaches a service, neither a valid one nor one at an open share', async () => {
    await world.share('open-one', []);
    for (const host of [first, 'open-one.share.localhost']) {
      for (const [name, headers] of credentials) {
        const cookie = headers['cookie'] === undefined ? 'mine=1' : `mine=1; ${headers['cookie']}; yours=2`;
        await world.visitor().ask(host, '/', { headers: { ...headers, cookie }, navigates: false });
        const seen = world.origin.last(host).headers;
        assert.match(seen['cookie'] ?? '', /^mine=1/, name);
        assert.doesNotMatch(JSON.stringify(seen), /__Host-frontdoor/, name);
        if (host === first) {
          assert.equal(seen['x-api-key'], undefined, name);
          assert.equal(seen['authorization'], undefined, name);
        }
      }
    }
  });
});

describe('a credential', () => {
  it('is in no log, and in no file of any part in a form that could be used', async () => {
    const key = `a-key-that-nobody-logs-${token()}`;
    const keys = { placement: 'query', name: 'key', keys: [{ name: 'curl', key }] };
    const host = await world.share('silent', [oidc, await world.addProvider('API_KEY', 'silent', keys)]);
    const logLines: string[] = [];
    const { control, router, gateway, agent } = world.parts;
    const stops = [control, router, gateway, agent].map((part) => part.watch((line) => logLines.push(line)));
    const secrets = new Map<string, string>([['API key', key]]);
    const ann = world.visitor();
    const back = await ann.provenAt(host, '/', 'ann');
    secrets.set('binding', ann.cookie(host, LOGIN_COOKIE)!);
    secrets.set('state', back.searchParams.get('state')!);
    secrets.set('code of the provider', back.searchParams.get('code')!);
    const returned = await ann.ask(back.hostname, back.pathname + back.search);
    const code = new URL(returned.location);
    secrets.set('code', code.searchParams.get('code')!);
    assert.equal((await ann.ask(code.hostname, code.pathname + code.search)).status, 303);
    secrets.set('session', ann.cookie(host)!);
    const refused = [await ann.ask(code.hostname, code.pathname + code.search)];
    refused.push(await ann.ask(back.hostname, back.pathname + back.search));
    assert.equal((await ann.ask(host, '/page')).status, 200);
    const program = world.visitor();
    assert.equal((await program.ask(host, `/page?key=${key}`, { navigates: false })).status, 200);
    refused.push(await program.ask(host, `/page?key=${key}-wrong`, { navigates: false }));
    const log = join(world.parts.folder, ACCESS_LOG);
    const pages = ['/.frontdoor/login', '/auth/callback', '"/page"'];
    await until(
      'the access log has the pages, without their queries',
      () => readFileSync(log, 'utf8'),
      (text) => text.split(host).length > 6 && pages.every((page) => text.includes(page)),
    );
    for (const stop of stops) stop();

    const places = new Map<string, Buffer>([
      ['the logs', Buffer.from(logLines.join('\n'))],
      ...refused.map(({ status, text }, i) => [`page ${i} (${status})`, Buffer.from(text)] as const),
    ]);
    for (const entry of readdirSync(world.parts.folder, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      if (!entry.isFile()) continue;
      try {
        places.set(path, readFileSync(path));
      } catch (error) {
        // A file that was being written has been renamed by now.
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      }
    }
    for (const [name, secret] of secrets) {
      assert.ok(secret.length >= 16, name);
      const found = [...places].filter(([, bytes]) => bytes.includes(secret)).map(([place]) => place);
      assert.deepEqual(found, [], name);
    }
  });
});
