import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bodyOf, GatewayWorld, get, statusOf } from './testing/gateway-world.ts';
import { usedMemory } from '../../test/support/heap.ts';

const KIB = 1_024;
const MIB = 1_024 * KIB;

/** As single sign-on sends them: many cookies of some thousand bytes. */
function cookies(bytes: number): string {
  const lines = Array.from({ length: Math.floor(bytes / KIB) }, (_, i) => `sso.${i}=`.padEnd(KIB - 2, 'x'));
  return `Cookie: ${lines.join('; ')}\r\n`;
}

describe('large heads', () => {
  it('pass in both directions: 60 KiB of cookies, 190 fields, 60 KiB of Set-Cookie', async (t) => {
    const world = await GatewayWorld.start();
    t.after(() => world.close());
    const server = await world.serve('app', (request, response) => {
      const sent = Array.from({ length: 20 }, (_, i) => `set.${i}=${'y'.repeat(3_000)}`);
      response.setHeader('Set-Cookie', sent);
      response.end(`${request.headers.cookie?.length ?? 0} ${request.rawHeaders.length / 2}`);
    });
    server.maxHeadersCount = 0;
    await world.serveRaw('raw', (socket) => {
      let head = '';
      socket.on('data', (bytes) => {
        head += bytes.toString('latin1');
        if (!head.endsWith('\r\n\r\n')) return;
        const length = String(head.length);
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${length.length}\r\n\r\n${length}`);
      });
    });
    const large = await world.ask(get('raw', '/', `${cookies(60 * KIB)}Connection: close\r\n`));
    assert.equal(statusOf(large), 200);
    assert.ok(Number(bodyOf(large)) > 60 * KIB);
    const fields = Array.from({ length: 190 }, (_, i) => `X-${i}: ${i}\r\n`).join('');
    const answer = await world.ask(get('app', '/', `${fields}Connection: close\r\n`));
    assert.equal(statusOf(answer), 200);
    assert.match(answer, /0 19\d$/);
    assert.equal(answer.match(/\r\nSet-Cookie: set\./g)?.length, 20);
    const tooMany = Array.from({ length: 201 }, (_, i) => `X-${i}: ${i}\r\n`).join('');
    assert.equal(statusOf(await world.ask(get('app', '/', tooMany))), 431);
    assert.equal(statusOf(await world.ask(get('app', '/', cookies(70 * KIB)))), 431);
    assert.equal(world.gateway.stats().headBytes, 0);
  });

  it('of one request after the other, in pieces and pipelined, are each served once', async (t) => {
    const world = await GatewayWorld.start();
    t.after(() => world.close());
    let served = 0;
    const server = await world.serve('app', (_request, response) => {
      served += 1;
      response.end(`<${served}>`);
    });
    server.maxHeadersCount = 0;
    const client = await world.client();
    const requests = Array.from({ length: 10 }, () => get('app', '/', cookies(12 * KIB))).join('');
    for (let at = 0; at < requests.length; at += 5_000) {
      client.send(requests.slice(at, at + 5_000));
      await new Promise(setImmediate);
    }
    const text = await client.until((received) => received.includes('<10>'));
    client.close();
    assert.equal(text.match(/HTTP\/1\.1 200/g)?.length, 10);
  });
});

describe('unfinished heads of many clients', () => {
  const BUDGET = 2 * MIB;
  const CLIENTS = 200;
  const HEAD_BYTES = 60 * KIB;

  it('use their budget together at most: the oldest make room, and others are served', async (t) => {
    const world = await GatewayWorld.start({ limits: { maxHeadsBytes: BUDGET } });
    t.after(() => world.close());
    await world.serve('app', (_request, response) => response.end('served'));
    const clients = await Promise.all(Array.from({ length: CLIENTS }, () => world.client()));
    const before = await usedMemory();
    const head = `GET / HTTP/1.1\r\nHost: raw.share.localhost\r\nX: ${'x'.repeat(HEAD_BYTES)}`;
    for (const client of clients) {
      client.send(head);
      await new Promise(setImmediate);
      assert.ok(world.gateway.stats().headBytes <= BUDGET);
    }
    const kept = Math.floor(BUDGET / (2 * HEAD_BYTES));
    const refused = clients.slice(0, CLIENTS - 2 * kept);
    for (const client of refused) {
      const answer = await client.ended();
      assert.equal(statusOf(answer), 503);
      assert.match(answer, /\r\nRetry-After: /);
    }
    assert.ok((await usedMemory()) - before < 2 * BUDGET);
    assert.equal(statusOf(await world.ask(get('app'))), 200);
    await world.serveRaw('raw', (socket) => {
      let text = '';
      socket.on('data', (bytes) => {
        text += bytes.toString('latin1');
        if (text.endsWith('\r\n\r\n')) socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
      });
    });
    const youngest = clients.at(-1)!;
    youngest.send('\r\nConnection: close\r\n\r\n');
    assert.equal(statusOf(await youngest.ended()), 200);
    for (const client of clients) client.close();
    await world.eventually(() => world.gateway.stats().headBytes === 0, 'no head is left');
  });

  it('leave room for large ones of running requests, of which one client has a part', async (t) => {
    const world = await GatewayWorld.start({ limits: { maxHeadsBytes: BUDGET } });
    t.after(() => world.close());
    const held: (() => void)[] = [];
    await world.serveRaw('slow', (socket) => {
      let text = '';
      socket.on('data', (bytes) => {
        text += bytes.toString('latin1');
        if (!text.endsWith('\r\n\r\n')) return;
        held.push(() => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'));
      });
    });
    // 10 KiB more than a small head, three times, of an eighth of 2 MiB.
    const large = get('slow', '/', `${cookies(26 * KIB)}Connection: close\r\n`);
    const answers = Array.from({ length: 20 }, () => world.ask(large));
    await world.eventually(() => held.length + world.gateway.stats().failures === 20, 'all have arrived');
    for (const answer of held) answer();
    const statuses = (await Promise.all(answers)).map(statusOf);
    const good = statuses.filter((status) => status === 200).length;
    assert.ok(good >= 7 && good <= 9, statuses.join());
    assert.equal(statuses.filter((status) => status === 503).length, 20 - good);
    assert.equal(world.gateway.stats().headBytes, 0);
    assert.equal(
      statusOf(await world.ask(get('slow', '/', 'Connection: close\r\n').replace('slow', 'none'))),
      404,
    );
  });
});
