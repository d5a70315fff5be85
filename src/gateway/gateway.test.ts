import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { request, type IncomingMessage, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { CircuitError } from '#sdk';
import { bodyOf, GatewayWorld, get, once, statusOf } from './testing/gateway-world.ts';

describe('requests through the gateway', () => {
  let world: GatewayWorld;
  before(async () => {
    world = await GatewayWorld.start();
  });
  after(() => world.close());

  it('reaches the share that the Host names, with the address of the client', async () => {
    await world.serve('app', (request, response) => {
      response.end(JSON.stringify({ url: request.url, headers: request.rawHeaders }));
    });
    const answer = await world.ask(get('app', '/a/b?c=%2f'));
    assert.equal(statusOf(answer), 200);
    const seen = JSON.parse(bodyOf(answer)) as { url: string; headers: string[] };
    assert.equal(seen.url, '/a/b?c=%2f');
    assert.deepEqual(seen.headers, [
      'Host',
      'app.share.localhost',
      'X-Forwarded-For',
      '127.0.0.1',
      'X-Forwarded-Proto',
      'http',
      'Frontdoor-Request-Id',
      seen.headers.at(-3),
      'X-Forwarded-Host',
      'app.share.localhost',
    ]);
  });

  it('serves many requests of one client over one circuit', async () => {
    let served = 0;
    await world.serve('reuse', (_request, response) => {
      served += 1;
      response.end(`answer ${served}`);
    });
    const dialsBefore = world.dialer.dials;
    const client = await world.client();
    for (let i = 1; i <= 20; i += 1) {
      client.send(get('reuse', `/${i}`, ''));
      await client.until((text) => text.includes(`answer ${i}`));
    }
    client.close();
    assert.equal(world.dialer.dials - dialsBefore, 1);
    const again = await world.ask(get('reuse'));
    assert.match(again, /answer 21$/);
    assert.equal(world.dialer.dials - dialsBefore, 1, 'another client takes the idle circuit');
  });

  it('answers pipelined requests in order, one after the other', async () => {
    let active = 0;
    let most = 0;
    await world.serve('pipe', (request, response) => {
      active += 1;
      most = Math.max(most, active);
      setImmediate(() => {
        active -= 1;
        response.end(`<${request.url}>`);
      });
    });
    const client = await world.client();
    const paths = Array.from({ length: 50 }, (_, i) => `/p${i}`);
    client.send(paths.map((path) => get('pipe', path, '')).join(''));
    const text = await client.until((received) => received.includes('</p49>'));
    client.close();
    assert.deepEqual(
      [...text.matchAll(/<(\/p\d+)>/g)].map((match) => match[1]),
      paths,
    );
    assert.equal(most, 1);
  });

  it('takes a request in any cuts, byte by byte too', async () => {
    await world.serve('cuts', async (incoming, response) => {
      let body = '';
      for await (const chunk of incoming) body += String(chunk);
      response.end(`got ${body}`);
    });
    const request =
      'POST /x HTTP/1.1\r\nHost: cuts.share.localhost\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n' +
      '5;name=value\r\nhello\r\n6\r\n world\r\n0\r\nTrailer: gone\r\n\r\n';
    const client = await world.client();
    for (const character of request) {
      client.send(character);
      await new Promise<void>((resolve) => {
        setImmediate(resolve);
      });
    }
    assert.match(await client.ended(), /got hello world/);
    client.close();
  });

  it('carries large bodies intact both ways, by length and in chunks', async () => {
    await world.serve('echo', (request, response) => {
      const length = request.headers['content-length'];
      if (length !== undefined) response.setHeader('Content-Length', length);
      request.pipe(response);
    });
    const body = Buffer.alloc(5_000_000, 'The quick brown fox. ');
    const hash = createHash('sha256').update(body).digest('hex');
    for (const isChunked of [false, true]) {
      const asked = request({
        port: world.port,
        host: '127.0.0.1',
        agent: false,
        method: 'POST',
        headers: { Host: 'echo.share.localhost', ...(isChunked ? {} : { 'Content-Length': body.length }) },
      });
      asked.write(body);
      asked.end();
      const response = (await once(asked, 'response')) as IncomingMessage;
      assert.equal(response.statusCode, 200);
      assert.equal(response.headers['transfer-encoding'], isChunked ? 'chunked' : undefined);
      const back = createHash('sha256');
      for await (const chunk of response) back.update(chunk as Buffer);
      assert.equal(back.digest('hex'), hash);
    }
  });

  it('hands on each event of a stream as it comes', async () => {
    let send: ((text: string) => void) | undefined;
    await world.serve('events', (_request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      send = (text) => response.write(text);
      response.flushHeaders();
    });
    const client = await world.client();
    client.send(get('events', '/', ''));
    await client.until((text) => text.includes('\r\n\r\n'));
    for (let i = 0; i < 5; i += 1) {
      send!(`data: event ${i}\n\n`);
      await client.until((text) => text.includes(`data: event ${i}\n\n`));
    }
    client.close();
  });

  it('passes 100 Continue on, and the body only after the origin asked for it', async () => {
    await world.serve('expect', () => {});
    const server: Server = await world.serve(
      'expect',
      async (incoming, response) => {
        let size = 0;
        for await (const chunk of incoming) size += (chunk as Buffer).length;
        response.end(`size ${size}`);
      },
      { updatedAtMs: 2 },
    );
    server.on('checkContinue', (request, response) => {
      response.writeContinue();
      server.emit('request', request, response);
    });
    const client = await world.client();
    client.send(
      'PUT / HTTP/1.1\r\nHost: expect.share.localhost\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n',
    );
    await client.until((text) => text === 'HTTP/1.1 100 Continue\r\n\r\n');
    client.send('body');
    await client.until((text) => text.endsWith('size 4'));
    client.close();
  });

  it('closes the connection when the origin answers without wanting the body', async () => {
    const server = await world.serve('early', () => {});
    server.on('checkContinue', (_request, response) => {
      response.writeHead(401, { 'Content-Length': '2' });
      response.end('no');
    });
    const answer = await world.ask(
      'PUT / HTTP/1.1\r\nHost: early.share.localhost\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n',
    );
    assert.equal(statusOf(answer), 401);
    assert.match(answer, /\r\nConnection: close\r\n/);
  });

  it('handles the answers without a body: HEAD, 204 and 304', async () => {
    await world.serve('bodiless', (request, response) => {
      if (request.url === '/204') response.writeHead(204).end();
      else if (request.url === '/304') response.writeHead(304, { 'Content-Length': '99', ETag: '"x"' }).end();
      else response.writeHead(200, { 'Content-Length': '1000' }).end();
    });
    const client = await world.client();
    client.send('HEAD / HTTP/1.1\r\nHost: bodiless.share.localhost\r\n\r\n');
    client.send(get('bodiless', '/204', '') + get('bodiless', '/304', '') + get('bodiless', '/204'));
    const text = await client.ended();
    client.close();
    assert.deepEqual(
      [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => match[1]),
      ['200', '204', '304', '204'],
    );
    assert.match(text, /Content-Length: 1000\r\n/);
    assert.match(text, /Content-Length: 99\r\n/);
  });

  it('turns an answer that ends with its connection into chunks, or ends the connection of an HTTP/1.0 client', async () => {
    await world.serveRaw('until-end', (socket: Socket) => {
      socket.once('data', () => socket.end('HTTP/1.0 200 OK\r\nX-A: b\r\n\r\nall of it'));
    });
    const modern = await world.ask(get('until-end'));
    assert.match(
      modern,
      /Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n9\r\nall of it\r\n0\r\n\r\n$/,
    );
    const old = await world.ask('GET / HTTP/1.0\r\nHost: until-end.share.localhost\r\n\r\n');
    assert.match(old, /^HTTP\/1\.1 200 OK\r\nX-A: b\r\nConnection: close\r\n\r\nall of it$/);
  });

  it('answers a client that half-closes after its request', async () => {
    await world.serve('half', (_request, response) => {
      setImmediate(() => response.end('still here'));
    });
    const client = await world.client();
    client.socket.end(get('half', '/', ''));
    assert.match(await client.ended(), /still here/);
    client.close();
  });

  it('sends a repeatable request once more when its idle circuit closes under it', async () => {
    let connections = 0;
    await world.serveRaw('crossing', (socket) => {
      connections += 1;
      const isFirst = connections === 1;
      let requests = 0;
      socket.on('data', () => {
        requests += 1;
        if (isFirst && requests === 2) socket.destroy();
        else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
      });
    });
    const client = await world.client();
    for (let i = 1; i <= 2; i += 1) {
      client.send(get('crossing', '/', ''));
      await client.until((text) => text.split('\r\n\r\nok').length === i + 1);
    }
    client.close();
    assert.equal(connections, 2);
    assert.equal(world.gateway.stats().retries, 1);
  });

  it('sends a repeatable request once more when the overlay takes a new circuit back before the agent has it', async (t) => {
    await world.serve('taken', (_request, response) => response.setHeader('connection', 'close').end('here'));
    const { dialer } = world;
    const { retries } = world.gateway.stats();
    const dial = dialer.dial.bind(dialer);
    let isDelivered = false;
    t.mock.method(dialer, 'dial', async (serviceId: string) => {
      const circuit = await dial(serviceId);
      if (dialer.dials % 2 === 0) return circuit;
      const unrouted = new CircuitError('circuit-closed', 'router', 'xgress unrouted');
      const write = (): boolean => {
        setImmediate(() => circuit.onClose(unrouted));
        return true;
      };
      return Object.assign(circuit, { isDelivered, write });
    });
    dialer.dials = 0;
    assert.equal(statusOf(await world.ask(get('taken'))), 200);
    assert.equal(world.gateway.stats().retries, retries + 1);
    isDelivered = true;
    dialer.dials = 0;
    assert.equal(statusOf(await world.ask(get('taken'))), 502);
    assert.equal(world.gateway.stats().retries, retries + 1);
  });

  it('never sends a request with a body twice', async () => {
    let posts = 0;
    await world.serveRaw('once', (socket) => {
      socket.on('data', (bytes) => {
        const isPost = bytes.toString().startsWith('POST');
        if (isPost) posts += 1;
        if (isPost) socket.destroy();
        else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
      });
    });
    const client = await world.client();
    client.send(get('once', '/', ''));
    await client.until((text) => text.endsWith('ok'));
    client.send('POST / HTTP/1.1\r\nHost: once.share.localhost\r\nContent-Length: 1\r\n\r\nx');
    await client.until((text) => text.includes('HTTP/1.1 502'));
    client.close();
    assert.equal(posts, 1);
  });

  it('closes the circuit when the origin announces that it closes', async () => {
    await world.serve('closing', (_request, response) => {
      response.setHeader('Connection', 'close');
      response.end('bye');
    });
    const dialsBefore = world.dialer.dials;
    const client = await world.client();
    for (let i = 1; i <= 3; i += 1) {
      client.send(get('closing', '/', ''));
      const text = await client.until((received) => received.split('bye').length === i + 1);
      assert.doesNotMatch(text, /Connection/);
    }
    client.close();
    assert.equal(world.dialer.dials - dialsBefore, 3);
  });
});
