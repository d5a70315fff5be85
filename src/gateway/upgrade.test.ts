import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { WebSocket, WebSocketServer } from 'ws';
import { GatewayWorld, get, once, shareOf, statusOf } from './testing/gateway-world.ts';
import { within } from '../../test/support/deadline.ts';

const UPGRADE = 'Connection: Upgrade\r\nUpgrade: websocket\r\n';
const SWITCHED = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';

describe('upgrades through the gateway', () => {
  let world: GatewayWorld;
  before(async () => {
    world = await GatewayWorld.start();
  });
  after(() => world.close());

  it('echoes 10,000 WebSocket frames in order', async () => {
    const server = createServer();
    const echo = new WebSocketServer({ server });
    echo.on('connection', (socket) =>
      socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary })),
    );
    const listening = once(server, 'listening');
    server.listen(0, '127.0.0.1');
    await listening;
    world.publish(shareOf('ws'), (server.address() as AddressInfo).port);
    const client = new WebSocket(`ws://127.0.0.1:${world.port}/`, {
      headers: { Host: 'ws.share.localhost' },
    });
    await once(client, 'open');
    let next = 0;
    const all = new Promise<void>((resolve, reject) => {
      client.on('message', (data) => {
        const text = (data as Buffer).toString();
        if (text !== `frame ${next}`) reject(new Error(`got "${text}" for frame ${next}`));
        next += 1;
        if (next === 10_000) resolve();
      });
    });
    for (let i = 0; i < 10_000; i += 1) client.send(`frame ${i}`);
    await within(() => `all frames; ${next} came back`, all);
    const closed = once(client, 'close');
    client.close();
    await closed;
    await world.eventually(() => world.gateway.stats().openCircuits === 0, 'the circuit is not kept');
    echo.close();
    server.close();
  });

  it('holds bytes that follow the request until the origin has switched', async () => {
    let before101 = '';
    let after101 = '';
    let answer: (() => void) | undefined;
    await world.serveRaw('held', (socket) => {
      socket.on('data', (bytes) => {
        if (answer === undefined) {
          before101 += bytes.toString();
          answer = () => socket.write(SWITCHED);
        } else after101 += bytes.toString();
      });
    });
    const client = await world.client();
    client.send(`${get('held', '/', UPGRADE)}EARLY`);
    await world.eventually(() => answer !== undefined, 'the request arrives');
    assert.doesNotMatch(before101, /EARLY/);
    answer!();
    await client.until((text) => text.startsWith(SWITCHED));
    await world.eventually(() => after101 === 'EARLY', 'held bytes follow');
    client.socket.resetAndDestroy();
  });

  it('gives bytes that follow to nobody when the origin does not switch', async () => {
    let seen = '';
    await world.serveRaw('refusing', (socket) => {
      socket.on('data', (bytes) => {
        seen += bytes.toString();
        socket.write('HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno');
      });
    });
    const answer = await world.ask(
      `${get('refusing', '/', UPGRADE)}GET /poison HTTP/1.1\r\nHost: refusing.share.localhost\r\n\r\n`,
    );
    assert.equal(statusOf(answer), 403);
    assert.match(answer, /Connection: close\r\n\r\nno$/);
    assert.doesNotMatch(seen, /poison/);
    assert.equal(world.gateway.stats().idleCircuits, 0);
  });

  it('never passes h2c, nor an upgrade that Connection does not name', async () => {
    let seen = '';
    await world.serveRaw('plain', (socket) => {
      socket.on('data', (bytes) => {
        seen += bytes.toString();
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
      });
    });
    for (const lines of [
      'Connection: close, Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n',
      'Connection: close, Upgrade\r\nUpgrade: websocket, h2c\r\n',
      'Connection: close, Upgrade\r\nUpgrade: H2C\r\n',
      'Connection: close, upgrade\r\nUpgrade: TLS/1.0\r\n',
      'Connection: close\r\nUpgrade: websocket\r\n',
    ]) {
      assert.equal(statusOf(await world.ask(get('plain', '/', lines))), 200);
    }
    assert.doesNotMatch(seen, /upgrade|http2-settings/i);
  });

  it('ends each direction by itself', async () => {
    let origin = '';
    await world.serveRaw('half', (socket) => {
      socket.once('data', () => {
        socket.write(SWITCHED);
        socket.on('data', (bytes) => {
          origin += bytes.toString();
        });
        socket.on('end', () => socket.end('after your end'));
      });
    });
    const client = await world.client();
    client.send(get('half', '/', UPGRADE));
    await client.until((text) => text.endsWith('\r\n\r\n'));
    client.socket.end('last words');
    assert.match(await client.ended(), /after your end$/);
    assert.equal(origin, 'last words');
    await world.eventually(() => {
      const { openCircuits, idleCircuits } = world.gateway.stats();
      return openCircuits === idleCircuits;
    }, 'the circuit is closed');
  });

  it('resets the client when the origin resets', async () => {
    await world.serveRaw('reset', (socket) => {
      socket.once('data', () => {
        socket.write(SWITCHED);
        socket.once('data', () => socket.resetAndDestroy());
      });
    });
    const client = await world.client();
    client.send(get('reset', '/', UPGRADE));
    await client.until((text) => text.endsWith('\r\n\r\n'));
    client.send('x');
    await client.ended();
    assert.ok(client.wasReset);
  });

  it('refuses 500 headers on an upgrade', async () => {
    assert.equal(statusOf(await world.ask(get('ws', '/', `${UPGRADE}${'X: y\r\n'.repeat(500)}`))), 431);
  });
});
