import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { AccessWorld } from './testing/access-world.ts';

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

  it('that do not fit into a head are cleared by the answer, on TLS with all of the site', async () => {
    lines = [];
    const bomb = Array.from({ length: 60 }, (_, i) => `bomb${i}=${'x'.repeat(1_000)}`).join('; ');
    const answer = await world.ask('app', { lines: [`Cookie: ${bomb}`] });
    assert.equal(answer.status, 431);
    assert.equal(answer.headers.get('clear-site-data'), '"cookies"');
    assert.ok(answer.setCookies.includes('bomb0=; Path=/; Max-Age=0; Secure; Domain=share.localhost'));
    assert.match(answer.body, /cleared/);
    const plain = await world.ask('app', { lines: [`Cookie: ${bomb}`], isPlain: true });
    assert.equal(plain.status, 431);
    assert.equal(plain.headers.get('clear-site-data'), undefined);
    assert.ok(plain.setCookies.includes('bomb1=; Path=/; Max-Age=0'));
  });

  it('are not cleared for a head that something else makes too large, nor at a name that is served by nobody', async () => {
    const big = await world.ask('app', { lines: ['Cookie: a=1', `X-Big: ${'x'.repeat(20_000)}`] });
    assert.deepEqual([big.status, big.headers.get('clear-site-data')], [431, undefined]);
    const lost = { host: 'nobody.share.localhost', lines: [`Cookie: a=${'x'.repeat(20_000)}`] };
    const answer = await world.ask('app', lost);
    assert.deepEqual([answer.status, answer.headers.get('clear-site-data')], [431, undefined]);
  });

  it('that the service itself finds too large are cleared with its answer', async () => {
    status = 431;
    const many = await world.ask('app', { lines: [`Cookie: a=${'x'.repeat(9_000)}`] });
    assert.deepEqual([many.status, many.headers.get('clear-site-data')], [431, '"cookies"']);
    const few = await world.ask('app', { lines: ['Cookie: a=1'] });
    assert.deepEqual([few.status, few.headers.get('clear-site-data')], [431, undefined]);
    status = 200;
  });
});
