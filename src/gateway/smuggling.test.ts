import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { REFUSED_REQUESTS } from '../../test/support/framing-case-table.ts';
import { bodyOf, GatewayWorld, get, shareOf, statusOf } from './testing/gateway-world.ts';

const HOST = 'Host: app.share.localhost\r\n';
const POISON = 'GET /poison HTTP/1.1\r\nHost: app.share.localhost\r\n\r\n';

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

  for (const [name, request, statuses] of REFUSED_REQUESTS) {
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
    for (const [name, request, statuses] of REFUSED_REQUESTS) {
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
        client.send(`GET / HTTP/1.1\r\nHost: ${host}\r\nAccept: text/html\r\n\r\n`);
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

  it('names a TLS handshake at the plain port as such, for the log and the record', async () => {
    const hello = Buffer.from('16030100c8010000c4030300', 'hex').toString('latin1');
    assert.match(await world.ask(hello), /^HTTP\/1\.1 400 [^]*the request began with a TLS handshake/);
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
      'frontdoor-identity',
      'Frontdoor_Request_Id',
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
      ...['Proxy', 'X-Real-IP', 'x_real_ip', 'True-Client-IP', 'True_Client_Ip', 'CF-Connecting-IP'],
      ...['X-Client-IP', 'X-Cluster-Client-IP', 'X-Envoy-External-Address', 'X-Original-Forwarded-For'],
      ...['X-Original-URL', 'X_Rewrite_Url'],
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
        'Frontdoor-Request-Id',
        rawHeaders.at(-3),
        'X-Forwarded-Host',
        'headers.share.localhost',
      ]);
    }
  });

  it('writes the Host once, without the white space around it', async () => {
    let rawHeaders: string[] = [];
    let raw = '';
    await world.serve('spaced', (request, response) => {
      ({ rawHeaders } = request);
      response.end('x');
    });
    await world.serveRaw('spaced-raw', (socket) => {
      socket.on('data', (bytes) => {
        raw += bytes.toString('latin1');
        socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
      });
    });
    await world.ask(
      'GET / HTTP/1.1\r\nX: y\r\nhOST: \t spaced.share.localhost \t\r\nConnection: close\r\n\r\n',
    );
    assert.deepEqual(rawHeaders.slice(0, 4), ['Host', 'spaced.share.localhost', 'X', 'y']);
    await world.ask('GET / HTTP/1.1\r\nhost:\tspaced-raw.share.localhost\t\r\nConnection: close\r\n\r\n');
    assert.ok(raw.startsWith('GET / HTTP/1.1\r\nHost: spaced-raw.share.localhost\r\nX-Forwarded-For'), raw);
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
