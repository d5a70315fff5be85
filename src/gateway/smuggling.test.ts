import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { bodyOf, GatewayWorld, get, shareOf, statusOf } from './testing/gateway-world.ts';

const HOST = 'Host: app.share.localhost\r\n';
const POISON = 'GET /poison HTTP/1.1\r\nHost: app.share.localhost\r\n\r\n';

/** Each: what it is, the request, the statuses that may answer it. */
const REFUSED: readonly (readonly [string, string, readonly number[]])[] = [
  ['a bare LF after the request line', `GET / HTTP/1.1\n${HOST}\r\n`, [400]],
  ['a bare LF after a header', `GET / HTTP/1.1\r\nHost: app.share.localhost\n\r\n`, [400]],
  ['a bare LF as the empty line', `GET / HTTP/1.1\r\n${HOST}\n`, [400]],
  ['a bare CR in a value', `GET / HTTP/1.1\r\n${HOST}X: a\rb\r\n\r\n`, [400]],
  ['a NUL in a value', `GET / HTTP/1.1\r\n${HOST}X: a\0b\r\n\r\n`, [400]],
  ['a control byte in a name', `GET / HTTP/1.1\r\n${HOST}X\x01Y: a\r\n\r\n`, [400]],
  ['DEL in a value', `GET / HTTP/1.1\r\n${HOST}X: a\x7f\r\n\r\n`, [400]],
  ['a folded header', `GET / HTTP/1.1\r\n${HOST}X: a\r\n b\r\n\r\n`, [400]],
  ['a header line that starts with a tab', `GET / HTTP/1.1\r\n\tX: a\r\n${HOST}\r\n`, [400]],
  ['a space before the colon', `GET / HTTP/1.1\r\n${HOST}X : a\r\n\r\n`, [400]],
  ['a name in no form', `GET / HTTP/1.1\r\n${HOST}: a\r\n\r\n`, [400]],
  ['a line without a colon', `GET / HTTP/1.1\r\n${HOST}nonsense\r\n\r\n`, [400]],
  ['a doubled space in the request line', `GET  / HTTP/1.1\r\n${HOST}\r\n`, [400]],
  ['a doubled space before the version', `GET /  HTTP/1.1\r\n${HOST}\r\n`, [400]],
  ['a tab in the request line', `GET\t/ HTTP/1.1\r\n${HOST}\r\n`, [400]],
  ['a space in the target', `GET /a b HTTP/1.1\r\n${HOST}\r\n`, [400]],
  ['an empty line first', `\r\nGET / HTTP/1.1\r\n${HOST}\r\n`, [400]],
  ['no version', `GET /\r\n${HOST}\r\n`, [400]],
  ['a lower-case version', `GET / http/1.1\r\n${HOST}\r\n`, [400]],
  ['HTTP/2.0', `GET / HTTP/2.0\r\n${HOST}\r\n`, [505]],
  ['HTTP/0.9', `GET / HTTP/0.9\r\n${HOST}\r\n`, [505]],
  ['HTTP/1.10', `GET / HTTP/1.10\r\n${HOST}\r\n`, [505]],
  ['the HTTP/2 preface', `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n`, [505]],
  ['TRACE', `TRACE / HTTP/1.1\r\n${HOST}\r\n`, [405]],
  ['CONNECT', `CONNECT app.share.localhost:80 HTTP/1.1\r\n${HOST}\r\n`, [405]],
  ['an empty target', `GET  HTTP/1.1\r\n${HOST}\r\n`, [400]],
  ['a relative target', `GET x HTTP/1.1\r\n${HOST}\r\n`, [400]],
  ['a fragment', `GET /#frag HTTP/1.1\r\n${HOST}\r\n`, [400]],
  ['a network-path target', `GET //evil/x HTTP/1.1\r\n${HOST}\r\n`, [400]],
  ['a backslash path', `GET /\\evil/x HTTP/1.1\r\n${HOST}\r\n`, [400]],
  ['raw bytes in the target', `GET /\xc0\xaf HTTP/1.1\r\n${HOST}\r\n`, [400]],
  ['file: as target', `GET file:///etc/passwd HTTP/1.1\r\n${HOST}\r\n`, [400]],
  ['an asterisk for GET', `GET * HTTP/1.1\r\n${HOST}\r\n`, [400]],
  ['another authority in the target', `GET http://other.share.localhost/ HTTP/1.1\r\n${HOST}\r\n`, [400]],
  ['another port in the target', `GET http://app.share.localhost:81/ HTTP/1.1\r\n${HOST}\r\n`, [400]],
  ['user information in the target', `GET http://a@app.share.localhost/ HTTP/1.1\r\n${HOST}\r\n`, [400]],
  [
    'an absolute target with a doubled slash',
    `GET http://app.share.localhost//evil HTTP/1.1\r\n${HOST}\r\n`,
    [400],
  ],
  ['no Host', `GET / HTTP/1.1\r\nX: a\r\n\r\n`, [400]],
  ['no Host in HTTP/1.0', `GET / HTTP/1.0\r\n\r\n`, [400]],
  ['two equal Hosts', `GET / HTTP/1.1\r\n${HOST}${HOST}\r\n`, [400]],
  ['two different Hosts', `GET / HTTP/1.1\r\n${HOST}Host: other.share.localhost\r\n\r\n`, [400]],
  ['an empty Host', `GET / HTTP/1.1\r\nHost:\r\n\r\n`, [400]],
  ['a Host list', `GET / HTTP/1.1\r\nHost: app.share.localhost, other\r\n\r\n`, [400]],
  ['a Host with user information', `GET / HTTP/1.1\r\nHost: a@app.share.localhost\r\n\r\n`, [400]],
  ['a Host with a path', `GET / HTTP/1.1\r\nHost: app.share.localhost/x\r\n\r\n`, [400]],
  ['a Host with a space', `GET / HTTP/1.1\r\nHost: app.share localhost\r\n\r\n`, [400]],
  ['a Host with a trailing dot', `GET / HTTP/1.1\r\nHost: app.share.localhost.\r\n\r\n`, [400]],
  ['a Host with an empty label', `GET / HTTP/1.1\r\nHost: app..localhost\r\n\r\n`, [400]],
  ['a Host with a bad port', `GET / HTTP/1.1\r\nHost: app.share.localhost:x\r\n\r\n`, [400]],
  ['a Host with a huge port', `GET / HTTP/1.1\r\nHost: app.share.localhost:99999\r\n\r\n`, [400]],
  ['a Host with an empty port', `GET / HTTP/1.1\r\nHost: app.share.localhost:\r\n\r\n`, [400]],
  [
    'two equal Content-Lengths',
    `POST / HTTP/1.1\r\n${HOST}Content-Length: 1\r\nContent-Length: 1\r\n\r\nx`,
    [400],
  ],
  ['two Content-Lengths', `POST / HTTP/1.1\r\n${HOST}Content-Length: 1\r\nContent-Length: 2\r\n\r\nx`, [400]],
  ['a Content-Length list', `POST / HTTP/1.1\r\n${HOST}Content-Length: 1, 1\r\n\r\nx`, [400]],
  ['a signed Content-Length', `POST / HTTP/1.1\r\n${HOST}Content-Length: +1\r\n\r\nx`, [400]],
  ['a negative Content-Length', `POST / HTTP/1.1\r\n${HOST}Content-Length: -1\r\n\r\nx`, [400]],
  ['a hexadecimal Content-Length', `POST / HTTP/1.1\r\n${HOST}Content-Length: 0x1\r\n\r\nx`, [400]],
  ['an empty Content-Length', `POST / HTTP/1.1\r\n${HOST}Content-Length:\r\n\r\nx`, [400]],
  [
    'a Content-Length beyond all numbers',
    `POST / HTTP/1.1\r\n${HOST}Content-Length: 99999999999999999999\r\n\r\nx`,
    [400],
  ],
  [
    'Content-Length and chunked',
    `POST / HTTP/1.1\r\n${HOST}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    [400],
  ],
  [
    'chunked and Content-Length',
    `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n`,
    [400],
  ],
  [
    'chunked twice',
    `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    [400, 501],
  ],
  [
    'a list of codings',
    `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
    [400, 501],
  ],
  ['identity', `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: identity\r\n\r\n`, [400, 501]],
  ['a quoted coding', `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: "chunked"\r\n\r\n0\r\n\r\n`, [400, 501]],
  [
    'a coding with a control byte',
    `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n`,
    [400, 501],
  ],
  ['chunked in HTTP/1.0', `POST / HTTP/1.0\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, [400]],
  ['Transfer_Encoding', `POST / HTTP/1.1\r\n${HOST}Transfer_Encoding: chunked\r\n\r\n0\r\n\r\n`, [400]],
  ['Content_Length', `POST / HTTP/1.1\r\n${HOST}Content_Length: 1\r\n\r\nx`, [400]],
  ['KEEP_ALIVE', `GET / HTTP/1.1\r\n${HOST}KEEP_ALIVE: 1\r\n\r\n`, [400]],
  [
    'a space after a chunk size',
    `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n1 \r\nx\r\n0\r\n\r\n`,
    [400],
  ],
  [
    'a chunk size with 0x',
    `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n0x1\r\nx\r\n0\r\n\r\n`,
    [400],
  ],
  [
    'a bare LF after a chunk size',
    `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n1\nx\r\n0\r\n\r\n`,
    [400],
  ],
  [
    'a bare LF in a chunk extension',
    `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n1;a\nb\r\nx\r\n0\r\n\r\n`,
    [400],
  ],
  [
    'no CRLF after the chunk data',
    `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n1\r\nxx\r\n0\r\n\r\n`,
    [400],
  ],
  [
    'a chunk size beyond all numbers',
    `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nx\r\n0\r\n\r\n`,
    [400],
  ],
  ['a malformed Connection', `GET / HTTP/1.1\r\n${HOST}Connection: a b\r\n\r\n`, [400]],
  ['an unknown expectation', `GET / HTTP/1.1\r\n${HOST}Expect: the unexpected\r\n\r\n`, [417]],
  ['a target that is too long', `GET /${'a'.repeat(9_000)} HTTP/1.1\r\n${HOST}\r\n`, [414]],
  ['a head that is too large', `GET / HTTP/1.1\r\n${HOST}X: ${'a'.repeat(17_000)}\r\n\r\n`, [431]],
  ['too many headers', `GET / HTTP/1.1\r\n${HOST}${'A: b\r\n'.repeat(101)}\r\n`, [431]],
  ['a TLS hello on the plain port', '\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03', [400]],
];

describe('ambiguous and malformed requests', () => {
  let world: GatewayWorld;
  const seen: string[] = [];
  before(async () => {
    world = await GatewayWorld.start();
    await world.serve('app', (request, response) => {
      seen.push(`${request.method} ${request.url}`);
      request.resume();
      request.on('end', () => response.end('SERVED'));
      request.on('error', () => {});
    });
    world.publish(shareOf('other'));
  });
  after(() => world.close());

  for (const [name, request, statuses] of REFUSED) {
    it(`refuses ${name} and closes, with nothing after it served`, async () => {
      seen.length = 0;
      const answer = await world.ask(request + POISON);
      assert.ok(statuses.includes(statusOf(answer)), answer.slice(0, 200));
      assert.match(answer, /\r\nConnection: close\r\n/);
      assert.equal(answer.split('HTTP/1.1 ').length, 2, 'one answer only');
      assert.doesNotMatch(answer, /SERVED/);
      assert.ok(!seen.includes('GET /poison'));
      const errorId = /Frontdoor-Error-Id: (\S+)/.exec(answer)?.[1] ?? '';
      const record = world.recordOf(errorId);
      assert.equal(record['hop'], 'client');
      assert.ok(statuses.includes(record['status'] as number));
    });
  }

  it('refuses the same behind a good request on one connection', async () => {
    for (const [name, request, statuses] of REFUSED) {
      const answer = await world.ask(get('app', '/first', '') + request + POISON);
      assert.equal(statusOf(answer), 200, name);
      const second = /SERVED(?:\r\n0\r\n\r\n)?HTTP\/1\.1 (\d+)/.exec(answer)?.[1];
      assert.ok(statuses.includes(Number(second)), `${name}: ${answer.slice(-300)}`);
    }
    assert.ok(!seen.includes('GET /poison'));
  });

  it('serves well-formed variants: absolute form, port, upper-case Host, OPTIONS *, equal default port', async () => {
    for (const request of [
      `GET http://app.share.localhost/x HTTP/1.1\r\n${HOST}`,
      `GET HTTP://APP.share.localhost:80?q HTTP/1.1\r\n${HOST}`,
      `GET / HTTP/1.1\r\nHost: APP.Share.LOCALHOST:8080\r\n`,
      `OPTIONS * HTTP/1.1\r\n${HOST}`,
      `GET /a/../b;c=%2f%5c%00?x=\\|{}" HTTP/1.1\r\n${HOST}`,
      `GET / HTTP/1.1\r\nhost:app.share.localhost\t \r\n`,
    ]) {
      const answer = await world.ask(`${request}Connection: close\r\n\r\n`);
      assert.equal(statusOf(answer), 200, request);
    }
    assert.deepEqual(seen.slice(-6), [
      'GET /x',
      'GET /?q',
      'GET /',
      'OPTIONS *',
      'GET /a/../b;c=%2f%5c%00?x=\\|{}"',
      'GET /',
    ]);
  });

  it('answers 404 to a well-formed host that no share has, literals included, and keeps the connection', async () => {
    for (const host of [
      'nobody.share.localhost',
      '127.0.0.1',
      '[::1]:8080',
      'share.localhost',
      'xapp.share.localhost',
    ]) {
      const client = await world.client();
      for (let i = 1; i <= 2; i += 1) {
        client.send(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
        await client.until(
          (text) => text.split('HTTP/1.1 404').length === i + 1 && text.endsWith('</html>\n'),
        );
      }
      client.close();
    }
  });

  it('never sends framing of the client to the origin, but its own', async () => {
    let raw = '';
    await world.serveRaw('framing', (socket) => {
      socket.on('data', (bytes) => {
        raw += bytes.toString('latin1');
        if (raw.endsWith('0\r\n\r\n') || raw.endsWith('abc'))
          socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
      });
    });
    await world.ask(
      'POST / HTTP/1.1\r\nHost: framing.share.localhost\r\ntransfer-encoding:   chunked\r\nTrailer: zrok-auth-email\r\n' +
        'Connection: close\r\n\r\n003;x=y\r\nabc\r\n0\r\nzrok-auth-email: evil\r\n\r\n',
    );
    assert.ok(raw.endsWith('\r\n\r\n3\r\nabc\r\n0\r\n\r\n'), raw);
    assert.match(raw, /\r\nTransfer-Encoding: chunked\r\n/);
    assert.doesNotMatch(raw, /evil|Trailer|Connection/i);
    raw = '';
    await world.ask(
      'POST / HTTP/1.1\r\nHost: framing.share.localhost\r\nContent-length:  003\r\nConnection: close\r\n\r\nabc',
    );
    assert.match(raw, /\r\nContent-Length: 3\r\n.*\r\n\r\nabc$/s);
    assert.equal(raw.match(/content-length/gi)?.length, 1);
  });

  it('removes every spelling of reserved and hop-by-hop headers, and sets its own exactly once', async () => {
    let rawHeaders: string[] = [];
    await world.serve('headers', (request, response) => {
      ({ rawHeaders } = request);
      response.end();
    });
    const forged = [
      'zrok-auth-email',
      'Zrok_Auth_Email',
      'ZROK-AUTH_groups',
      'x-forwarded-for',
      'X_Forwarded_For',
      'X-FORWARDED-PROTO',
    ];
    forged.push(
      'x_forwarded-host',
      'X_Forwarded_User',
      'Forwarded',
      'FORWARDED',
      'Proxy-Authorization',
      'Proxy-Connection',
      'TE',
    );
    const lines = forged.map((name) => `${name}: evil\r\n`).join('');
    for (const listed of [
      'close, zrok-auth-email, x-forwarded-for',
      'CLOSE, X-Forwarded-For, X-Forwarded-Proto',
      'close,host,X-Listed',
    ]) {
      await world.ask(
        get('headers', '/', `${lines}Connection: ${listed}\r\nX-Listed: evil\r\nX_Other: fine\r\n`).replace(
          'X-Listed: evil\r\n',
          listed.includes('X-Listed') ? 'X-Listed: evil\r\n' : '',
        ),
      );
      assert.deepEqual(rawHeaders, [
        'Host',
        'headers.share.localhost',
        'X_Other',
        'fine',
        'X-Forwarded-For',
        '127.0.0.1',
        'X-Forwarded-Proto',
        'http',
        'X-Forwarded-Host',
        'headers.share.localhost',
      ]);
    }
  });

  it('keeps order and spelling of everything else', async () => {
    let rawHeaders: string[] = [];
    await world.serve('order', (request, response) => {
      ({ rawHeaders } = request);
      response.setHeader('X-ThIrD', ['1', '2']);
      response.end('x');
    });
    const answer = await world.ask(
      get('order', '/', 'X-B: 2\r\nx-a: 1\r\nX-B: 3\r\nConnection: close\r\n__proto__: x\r\nCookie: a=b\r\n'),
    );
    assert.deepEqual(rawHeaders.slice(2, 12), [
      'X-B',
      '2',
      'x-a',
      '1',
      'X-B',
      '3',
      '__proto__',
      'x',
      'Cookie',
      'a=b',
    ]);
    assert.match(answer, /X-ThIrD: 1\r\nX-ThIrD: 2\r\n/);
    assert.equal(bodyOf(answer), 'x');
  });
});
