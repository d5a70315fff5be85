// A share whose target has a path: requests reach the service below it, and addresses in responses come back without it.
import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { GatewayWorld } from './testing/gateway-world.ts';

const HOST = { scheme: 'http', authority: '127.0.0.1:3000', aliases: [] } as const;
const SHARE = 'http://app.share.localhost';

describe('a share whose target has a path', () => {
  let world: GatewayWorld;
  let seen: IncomingMessage | undefined;
  let answered: readonly string[] = [];
  before(async () => {
    world = await GatewayWorld.start();
    const answer = (request: IncomingMessage, response: ServerResponse): void => {
      seen = request;
      response.writeHead(200, [...answered]);
      response.end('ok');
    };
    await world.serve('app', answer, { upstream: { path: '/app' } });
    await world.serve('hosted', answer, { upstream: { path: '/app', host: HOST } });
  });
  after(() => world.close());

  const ask = async (target: string, lines: readonly string[] = [], name = 'app', method = 'GET') => {
    seen = undefined;
    const client = await world.client();
    const head = [
      `${method} ${target} HTTP/1.1`,
      `Host: ${name}.share.localhost`,
      ...lines,
      'Connection: close',
    ];
    client.send(`${head.join('\r\n')}\r\n\r\n`);
    const text = await client.ended();
    return text.slice(0, text.indexOf('\r\n\r\n')).split('\r\n');
  };
  const valueOf = (head: readonly string[], name: string) =>
    head.filter((line) => line.startsWith(`${name}: `)).map((line) => line.slice(name.length + 2));

  it('gets every request below the path', async () => {
    const cases: readonly (readonly [string, string])[] = [
      ['/', '/app/'],
      ['/x/y?z=/../w', '/app/x/y?z=/../w'],
      ['/x//y', '/app/x//y'],
      ['/a%2Fb', '/app/a%2Fb'],
    ];
    for (const [target, expected] of cases) {
      await ask(target);
      assert.equal(seen?.url, expected);
    }
  });

  it('gets no request whose path could lead out of it', async () => {
    for (const target of [
      '/..',
      '/../secret',
      '/x/../../secret',
      '/%2e%2e/secret',
      '/..%2fsecret',
      '/x%2f..%2f..%2fsecret',
      '/%252e%252e/secret',
      '/..;/secret',
      '/%5c..%5csecret',
      '/./x',
    ]) {
      const [status] = await ask(target);
      assert.equal(status, 'HTTP/1.1 400 Bad Request', target);
      assert.equal(seen, undefined, target);
    }
  });

  it('gets addresses of the share with the path, and no Destination elsewhere', async () => {
    await ask('/', [`Referer: ${SHARE}/x?y`, `Origin: ${SHARE}`, `Destination: ${SHARE}/z`], 'app', 'MOVE');
    const { referer, origin, destination } = seen!.headers;
    assert.deepEqual([referer, origin, destination], [`${SHARE}/app/x?y`, SHARE, `${SHARE}/app/z`]);
    await ask('/', [`Referer: ${SHARE}/x`, 'Destination: /z'], 'hosted', 'MOVE');
    assert.equal(seen!.headers['destination'], '/app/z');
    for (const outside of [
      'http://127.0.0.1:3000/secret',
      `${SHARE}/../secret`,
      '/%2e%2e/secret',
      '//127.0.0.1:3000/secret',
      'secret',
    ]) {
      await ask('/', [`Destination: ${outside}`], 'app', 'COPY');
      assert.equal(seen!.headers['destination'], undefined, outside);
    }
  });

  it('answers with addresses without the path', async () => {
    const cases: readonly (readonly [name: string, given: string, expected: string])[] = [
      ['Location', '/app/login?next=/app/', '/login?next=/app/'],
      ['Location', '/app', '/'],
      ['Location', '/app?x', '/?x'],
      ['Location', `${SHARE}/app/x`, `${SHARE}/x`],
      ['Location', '//app.share.localhost/app/x', `${SHARE}/x`],
      ['Location', 'x', 'x'],
      ['Location', '/application', '/application'],
      ['Location', '/other', '/other'],
      ['Location', 'https://evil.example/app/x', 'https://evil.example/app/x'],
      // Without the path it would be an address of another host.
      ['Location', '/app//evil.example', `${SHARE}//evil.example`],
      ['Location', '/app/\\evil.example', `${SHARE}/\\evil.example`],
      ['Content-Location', '/app/1', '/1'],
      ['Refresh', '5; url=/app/a', '5; url=/a'],
      ['Link', '</app/?page=2>; rel="next", </x>; rel=up', '</?page=2>; rel="next", </x>; rel=up'],
    ];
    for (const [name, given, expected] of cases) {
      answered = [name, given];
      assert.deepEqual(valueOf(await ask('/'), name), [expected], given);
    }
  });

  it('and another host answers with addresses of the share', async () => {
    const share = 'http://hosted.share.localhost';
    const cases: readonly (readonly [given: string, expected: string])[] = [
      ['http://127.0.0.1:3000/app/x', `${share}/x`],
      ['http://127.0.0.1:3000/other', `${share}/other`],
      [`${share}/app/x`, `${share}/x`],
      ['/app/x', '/x'],
    ];
    for (const [given, expected] of cases) {
      answered = ['Location', given];
      assert.deepEqual(valueOf(await ask('/', [], 'hosted'), 'Location'), [expected], given);
    }
  });

  it('sets cookies for the paths of the share', async () => {
    answered = [
      ...['Set-Cookie', 'a=1; Path=/app; HttpOnly', 'Set-Cookie', 'b=2; path=/app/x; Domain=evil.example'],
      ...['Set-Cookie', 'c=3; Path=/', 'Set-Cookie', 'd=4', 'Set-Cookie', '__Host-e=5; Path=/; Secure'],
      ...['Set-Cookie', 'f=/app; Path=/application'],
    ];
    assert.deepEqual(valueOf(await ask('/'), 'Set-Cookie'), [
      'a=1; Path=/; HttpOnly',
      'b=2; path=/x',
      'c=3; Path=/',
      'd=4',
      '__Host-e=5; Path=/; Secure',
      'f=/app; Path=/application',
    ]);
    answered = [];
  });

  it('gets upgrades below the path, too', async () => {
    await world.serveRaw(
      'hmr',
      (socket) => {
        socket.once('data', (bytes: Buffer) => {
          const isBelow = bytes.toString('latin1').startsWith('GET /app/ws HTTP/1.1\r\n');
          const line = isBelow
            ? '101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket'
            : '403 Forbidden';
          socket.write(`HTTP/1.1 ${line}\r\n\r\nhello`);
        });
      },
      { upstream: { path: '/app' } },
    );
    const client = await world.client();
    client.send(
      'GET /ws HTTP/1.1\r\nHost: hmr.share.localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    );
    assert.match(await client.until((text) => text.endsWith('hello')), /^HTTP\/1\.1 101 /);
  });
});
