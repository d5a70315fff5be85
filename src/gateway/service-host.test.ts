// A service that knows itself by another host than its share: addresses in heads change in both directions.
import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { GatewayWorld, shareOf } from './testing/gateway-world.ts';

const HOST = { scheme: 'http', authority: 'localhost:5173', aliases: ['127.0.0.1:5173'] } as const;

describe('a share whose service knows itself by another host', () => {
  let world: GatewayWorld;
  let seen: IncomingMessage;
  let answered: readonly string[] = [];
  before(async () => {
    world = await GatewayWorld.start();
    const answer = (request: IncomingMessage, response: ServerResponse): void => {
      seen = request;
      response.writeHead(200, [...answered]);
      response.end('ok');
    };
    await world.serve('app', answer, { upstream: { host: HOST } });
  });
  after(() => world.close());

  const ask = async (lines: readonly string[] = [], method = 'GET') => {
    const client = await world.client();
    const head = [`${method} /a?b HTTP/1.1`, 'Host: app.share.localhost:8080', ...lines, 'Connection: close'];
    client.send(`${head.join('\r\n')}\r\n\r\n`);
    const text = await client.ended();
    return text.slice(0, text.indexOf('\r\n\r\n')).split('\r\n');
  };
  const valueOf = (head: readonly string[], name: string) =>
    head.filter((line) => line.startsWith(`${name}: `)).map((line) => line.slice(name.length + 2));

  it('gets its own host, and the requested one beside it', async () => {
    await ask();
    assert.equal(seen.headers.host, 'localhost:5173');
    assert.equal(seen.headers['x-forwarded-host'], 'app.share.localhost:8080');
    assert.equal(seen.url, '/a?b');
  });

  it("gets its own address where the client sends the share's, and no other changed", async () => {
    const own = ['http://app.share.localhost:8080', 'https://APP.share.localhost:8080'];
    const foreign = [
      'null',
      'http://app.share.localhost',
      'https://evil.example',
      'http://app.share.localhost:8080.evil.example',
    ];
    for (const origin of own) {
      await ask([`Origin: ${origin}`, `Referer: ${origin}/x?y`, `Destination: ${origin}/z`], 'MOVE');
      const { origin: o, referer, destination } = seen.headers;
      assert.deepEqual(
        [o, referer, destination],
        ['http://localhost:5173', 'http://localhost:5173/x?y', 'http://localhost:5173/z'],
      );
    }
    for (const origin of foreign) {
      await ask([`Origin: ${origin}`, `Referer: ${origin}/x`]);
      assert.deepEqual([seen.headers.origin, seen.headers.referer], [origin, `${origin}/x`]);
    }
  });

  it('answers with the address of the share wherever it names its own', async () => {
    const share = 'http://app.share.localhost:8080';
    const cases: readonly (readonly [name: string, given: string, expected: string])[] = [
      ['Location', 'http://localhost:5173/login?next=/', `${share}/login?next=/`],
      ['Location', 'HTTPS://LOCALHOST:5173', share],
      ['Location', '//127.0.0.1:5173/x', `${share}/x`],
      ['Location', '/login', '/login'],
      ['Location', 'http://localhost:51730/x', 'http://localhost:51730/x'],
      ['Location', 'http://localhost:5173@evil.example/', 'http://localhost:5173@evil.example/'],
      ['Content-Location', 'http://localhost:5173/1', `${share}/1`],
      ['Refresh', '5; url=http://localhost:5173/a', `5; url=${share}/a`],
      ['Refresh', '0;URL="http://localhost:5173/a"', `0;URL="${share}/a"`],
      ['Refresh', '5', '5'],
      [
        'Link',
        '<http://localhost:5173/?page=2>; rel="next", <https://cdn.example/a.css>; rel=preload',
        `<${share}/?page=2>; rel="next", <https://cdn.example/a.css>; rel=preload`,
      ],
      ['Access-Control-Allow-Origin', 'http://localhost:5173', share],
      ['Access-Control-Allow-Origin', '*', '*'],
    ];
    for (const [name, given, expected] of cases) {
      answered = [name, given];
      assert.deepEqual(valueOf(await ask(), name), [expected], given);
    }
  });

  it('sets cookies for the host that the client requested', async () => {
    answered = ['Set-Cookie', 'a=1; Domain=localhost; Path=/; HttpOnly', 'Set-Cookie', 'b=2'];
    assert.deepEqual(valueOf(await ask(), 'Set-Cookie'), ['a=1; Path=/; HttpOnly', 'b=2']);
    answered = [];
  });

  it('is asked by its own host for an upgrade, too', async () => {
    await world.serveRaw(
      'hmr',
      (socket) => {
        socket.once('data', (bytes: Buffer) => {
          const text = bytes.toString('latin1');
          const isOwn =
            /^Host: localhost:5173\r$/m.test(text) && /^Origin: http:\/\/localhost:5173\r$/m.test(text);
          const line = isOwn
            ? '101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket'
            : '403 Forbidden';
          socket.write(`HTTP/1.1 ${line}\r\n\r\nhello`);
        });
      },
      { upstream: { host: HOST } },
    );
    const client = await world.client();
    client.send(
      'GET / HTTP/1.1\r\nHost: hmr.share.localhost\r\nOrigin: http://hmr.share.localhost\r\n' +
        'Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    );
    assert.match(await client.until((text) => text.endsWith('hello')), /^HTTP\/1\.1 101 /);
  });

  it('is asked by the new host from the next request on, also on a connection that is open', async () => {
    const client = await world.client();
    const next = async (ends: number) => {
      client.send('GET / HTTP/1.1\r\nHost: app.share.localhost\r\n\r\n');
      await client.until((text) => text.split('\r\nok\r\n').length > ends || text.split('ok').length > ends);
      return seen.headers.host;
    };
    assert.equal(await next(1), 'localhost:5173');
    const port = world.dialer.ports.get('id-app')!;
    world.publish(
      shareOf('app', { upstream: { host: { ...HOST, authority: 'app.test', aliases: [] } } }),
      port,
    );
    assert.equal(await next(2), 'app.test');
    world.publish(shareOf('app'), port);
    assert.equal(await next(3), 'app.share.localhost');
  });
});
