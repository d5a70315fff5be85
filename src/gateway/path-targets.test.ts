// A share with several services by path: the longest path counts, and each keeps its own circuits.
import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { GatewayPathTarget } from '#domain/upstream';
import { GatewayWorld, shareOf } from './testing/gateway-world.ts';

const SHARE = 'http://app.share.localhost';
const ROUTES: readonly GatewayPathTarget[] = [
  { path: '/api' },
  { path: '/api/v2', isStripped: true },
  {
    path: '/docs',
    isStripped: true,
    servicePath: '/manual',
    host: { scheme: 'http', authority: 'docs.test', aliases: [] },
  },
];

describe('a share with services by path', () => {
  let world: GatewayWorld;
  let seen: [service: string, url: string | undefined, host: string | undefined][] = [];
  let answered: readonly string[] = [];
  before(async () => {
    world = await GatewayWorld.start();
    const answer =
      (name: string) =>
      (request: IncomingMessage, response: ServerResponse): void => {
        seen.push([name, request.url, request.headers.host]);
        response.writeHead(200, [...answered]);
        response.end(name);
      };
    const upstream = { routes: [...ROUTES] };
    for (const [name, path] of [
      ['one', '/api'],
      ['two', '/api/v2'],
      ['docs', '/docs'],
    ] as const) {
      await world.serve(name, answer(name));
      world.dialer.ports.set(`id-app${path}`, world.dialer.ports.get(`id-${name}`)!);
    }
    await world.serve('app', answer('app'), { upstream });
  });
  after(() => world.close());
  beforeEach(() => {
    seen = [];
    answered = [];
  });

  const ask = async (target: string, lines: readonly string[] = []) => {
    const client = await world.client();
    const head = [`GET ${target} HTTP/1.1`, 'Host: app.share.localhost', ...lines, 'Connection: close'];
    client.send(`${head.join('\r\n')}\r\n\r\n`);
    return await client.ended();
  };

  it('sends each request to that of the longest path, with or without the path', async () => {
    const cases: readonly (readonly [target: string, service: string, url: string])[] = [
      ['/', 'app', '/'],
      ['/apis', 'app', '/apis'],
      ['/api', 'one', '/api'],
      ['/api/x?y', 'one', '/api/x?y'],
      ['/%61pi/x', 'one', '/%61pi/x'],
      ['/api/v2', 'two', '/'],
      ['/api/v2?z', 'two', '/?z'],
      ['/api/v2/x/y', 'two', '/x/y'],
      ['/api/%762/x', 'two', '/x'],
      ['/api/v22', 'one', '/api/v22'],
      ['/docs/a', 'docs', '/manual/a'],
      ['/api/a%2Fb', 'one', '/api/a%2Fb'],
      ['/@a%2fb', 'app', '/@a%2fb'],
    ];
    for (const [target, service, url] of cases) {
      await ask(target);
      assert.deepEqual(seen.splice(0), [
        [service, url, service === 'docs' ? 'docs.test' : 'app.share.localhost'],
      ]);
    }
  });

  it('refuses paths that lead to different services, or out of one', async () => {
    for (const target of [
      '/x/../api',
      '/api/../x',
      '/api/%2e%2e/x',
      '/api%2fx',
      '/api/v2%2fx',
      '/x;/api/../y',
      '/api;a/x',
      '/docs/..%2fsecret',
      '/api/v2//evil.example',
      '/api/v2/%2fevil.example',
    ])
      assert.match(await ask(target), /^HTTP\/1\.1 400 /, target);
    assert.deepEqual(seen, []);
  });

  it('answers with addresses and cookies of the share', async () => {
    const cases: readonly (readonly [target: string, given: string, expected: string])[] = [
      ['/api/v2/x', '/login', '/api/v2/login'],
      ['/api/v2/x', '/', '/api/v2/'],
      ['/api/v2/x', `${SHARE}/login`, `${SHARE}/api/v2/login`],
      ['/api/v2/x', 'https://other.example/login', 'https://other.example/login'],
      ['/api/x', '/login', '/login'],
      ['/docs/x', 'http://docs.test/manual/b', `${SHARE}/docs/b`],
      ['/docs/x', '/manual', '/docs'],
    ];
    for (const [target, given, expected] of cases) {
      answered = ['Location', given];
      assert.ok((await ask(target)).includes(`\r\nLocation: ${expected}\r\n`), given);
    }
    answered = ['Set-Cookie', 'a=1; Path=/', 'Set-Cookie', '__Host-b=2; Path=/; Secure'];
    const text = await ask('/api/v2/x');
    assert.match(text, /\r\nSet-Cookie: a=1; Path=\/api\/v2\r\n/);
    assert.match(text, /\r\nSet-Cookie: __Host-b=2; Path=\/; Secure\r\n/);
  });

  it('keeps circuits apart, and ends them when the routes change', async () => {
    const client = await world.client();
    const before = world.dialer.dials;
    for (const [at, target] of ['/api', '/', '/api', '/'].entries()) {
      client.send(`GET ${target} HTTP/1.1\r\nHost: app.share.localhost\r\n\r\n`);
      await client.until(
        (text) => text.split('HTTP/1.1 200').length === at + 2 && /(?:app|one)(?:\r\n0\r\n\r\n)?$/.test(text),
      );
    }
    assert.ok(world.dialer.dials - before <= 2);
    assert.deepEqual(
      seen.map(([name]) => name),
      ['one', 'app', 'one', 'app'],
    );
    world.gateway.table.change([shareOf('app', { updatedAtMs: 2 })], []);
    await ask('/api');
    assert.equal(seen.at(-1)![0], 'app');
  });
});
