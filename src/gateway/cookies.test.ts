import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { createHash } from 'node:crypto';
import { SESSION_COOKIE } from './access/own-cookies.ts';
import { SITE_SUFFIXES } from './http/site-suffixes.ts';
import { AccessWorld } from './testing/access-world.ts';

describe('an answer', () => {
  let world: AccessWorld;
  let cleared: string[] = [];
  before(async () => {
    world = await AccessWorld.start();
    const customHosts = [{ host: 'app.github.io', authProviderIds: [] }];
    const answer = (_request: unknown, response: ServerResponse): void => {
      response.writeHead(200, ['Set-Cookie', 'a=1', ...cleared.flatMap((line) => ['Clear-Site-Data', line])]);
      response.end();
    };
    await world.world.serve('app', answer, { customHosts });
  });
  after(() => world.close());
  const passed = async (host = 'app.share.localhost') =>
    (await world.ask('app', { host })).headers.get('clear-site-data');

  it('clears what is kept for its own name, and no cookies or storage of the site', async () => {
    const cases: readonly (readonly [given: string[], passed: string | undefined])[] = [
      [['"cookies"'], undefined],
      [['"storage"'], undefined],
      [['"*"'], undefined],
      [['"Cookies" ,"CACHE"'], '"CACHE"'],
      [
        ['"cache", "cookies", "executionContexts", "storage", "*", "clientHints"'],
        '"cache", "executionContexts", "clientHints"',
      ],
      [['"cookies', 'cookies', '"cache"'], '"cache"'],
      [['"newThing"'], undefined],
      [[''], undefined],
    ];
    for (const [given, wanted] of cases) {
      cleared = given;
      assert.equal(await passed(), wanted, given.join());
      assert.deepEqual((await world.ask('app')).setCookies, ['a=1']);
    }
  });

  it('clears all of it where the zone is a public suffix, so that the share is a site of its own', async () => {
    cleared = ['"cookies", "storage"'];
    await SITE_SUFFIXES.loaded();
    assert.equal(await passed('app.github.io'), '"cookies", "storage"');
    assert.equal(await passed(), undefined);
  });
});

describe('cookies of origins', () => {
  let world: AccessWorld;
  let lines: readonly string[] = [];
  let status = 200;
  before(async () => {
    world = await AccessWorld.start();
    const custom = { host: 'app.apps.example.test', authProviderIds: [] };
    await world.world.serve(
      'app',
      (_request, response) => {
        response.writeHead(status, [...lines.flatMap((line) => ['Set-Cookie', line])]);
        response.end();
      },
      { customHosts: [custom] },
    );
  });
  after(() => world.close());

  const CUT: readonly (readonly [given: string, passed: string])[] = [
    ['a=1; Domain=share.localhost; Path=/', 'a=1; Path=/'],
    ['a=1; Path=/;domain=.Share.Localhost', 'a=1; Path=/'],
    ['a=1; Domain = share.localhost ;Secure', 'a=1;Secure'],
    ['a=1; Domain=localhost', 'a=1'],
    ['a=1; Domain=%73hare.localhost', 'a=1'],
    ['a=1; Domain="share.localhost"', 'a=1'],
    ['a=1; Domain=share.localhost.', 'a=1'],
    ['a=1; Domain', 'a=1'],
    ['a=1; Domain=app.share.localhost; Domain=share.localhost', 'a=1; Domain=app.share.localhost'],
    ['a=1; Domain=App.share.localhost', 'a=1; Domain=App.share.localhost'],
    ['domain=share.localhost; Path=/', 'domain=share.localhost; Path=/'],
    ['a=x;y Domain=share.localhost', 'a=x;y Domain=share.localhost'],
  ];

  it('reach no other share: a Domain beyond the own name is cut off, everything else stays as it is', async () => {
    for (const [given, passed] of CUT) {
      lines = [given];
      assert.deepEqual((await world.ask('app')).setCookies, [passed], given);
    }
  });

  it('keep their order, and those that are the gateway’s own are left out', async () => {
    lines = ['a=1', 'b=2; Domain=share.localhost', '__Host-frontdoor-session=x', 'a=3; Max-Age=0'];
    assert.deepEqual((await world.ask('app')).setCookies, ['a=1', 'b=2', 'a=3; Max-Age=0']);
  });

  it('are held to the name of a custom host alike', async () => {
    lines = ['a=1; Domain=apps.example.test', 'b=1; Domain=app.apps.example.test'];
    const { setCookies } = await world.ask('app', { host: 'app.apps.example.test' });
    assert.deepEqual(setCookies, ['a=1', 'b=1; Domain=app.apps.example.test']);
  });

  it('that do not fit into a head are cleared by the answer and by its script, and no other cookies of the site', async () => {
    lines = [];
    const session = `${SESSION_COOKIE}=${'x'.repeat(43)}`;
    const bomb = [session, ...Array.from({ length: 80 }, (_, i) => `bomb${i}=${'x'.repeat(1_000)}`)].join(
      '; ',
    );
    const answer = await world.ask('app', { lines: [`Cookie: ${bomb}`] });
    assert.equal(answer.status, 431);
    assert.equal(answer.headers.get('clear-site-data'), undefined);
    const [, code = ''] = /<script>(.*)<\/script>/.exec(answer.body) ?? [];
    const hash = createHash('sha256').update(code).digest('base64');
    assert.ok(answer.headers.get('content-security-policy')!.includes(`script-src 'sha256-${hash}'`));
    assert.ok(answer.setCookies.includes('bomb0=; Path=/; Max-Age=0; Secure; Domain=share.localhost'));
    assert.ok(
      !answer.setCookies.some((line) => line.startsWith(SESSION_COOKIE)),
      'the person stays logged in',
    );
    assert.match(answer.body, /cleared/);
    const plain = await world.ask('app', { lines: [`Cookie: ${bomb}`], isPlain: true });
    assert.equal(plain.status, 431);
    assert.equal(plain.headers.get('clear-site-data'), undefined);
    assert.ok(plain.setCookies.includes('bomb1=; Path=/; Max-Age=0'));
  });

  it('are not cleared for a head that something else makes too large, nor at a name that is served by nobody', async () => {
    const big = await world.ask('app', { lines: ['Cookie: a=1', `X-Big: ${'x'.repeat(70_000)}`] });
    assert.deepEqual([big.status, big.headers.get('clear-site-data')], [431, undefined]);
    const lost = { host: 'nobody.share.localhost', lines: [`Cookie: a=${'x'.repeat(70_000)}`] };
    const answer = await world.ask('app', lost);
    assert.deepEqual([answer.status, answer.headers.get('clear-site-data')], [431, undefined]);
  });

  it('that the service itself finds too large are cleared with its answer', async () => {
    status = 431;
    const session = `${SESSION_COOKIE}=${'x'.repeat(43)}`;
    const many = await world.ask('app', { lines: [`Cookie: ${session}; a=${'x'.repeat(9_000)}; b=1`] });
    assert.deepEqual([many.status, many.headers.get('clear-site-data')], [431, undefined]);
    assert.deepEqual(
      many.setCookies,
      ['a', 'b'].flatMap((name) => {
        const line = `${name}=; Path=/; Max-Age=0; Secure`;
        return [line, `${line}; Domain=share.localhost`];
      }),
    );
    const few = await world.ask('app', { lines: ['Cookie: a=1'] });
    assert.deepEqual([few.status, few.setCookies], [431, []]);
    // Such as nginx answers.
    status = 400;
    const tooMany = await world.ask('app', { lines: [`Cookie: a=${'x'.repeat(17_000)}`] });
    assert.deepEqual([tooMany.status, tooMany.setCookies.length], [400, 2]);
    const other = await world.ask('app', { lines: [`Cookie: a=${'x'.repeat(9_000)}`] });
    assert.deepEqual([other.status, other.setCookies], [400, []]);
    status = 200;
  });
});
