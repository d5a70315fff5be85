import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { GatewayWorld, get, shareOf, statusOf } from './testing/gateway-world.ts';
import { ManualTime } from './testing/manual-time.ts';
import { RawClient } from './testing/raw-client.ts';

const MIB = 1_048_576;
/** The gateway looks at its deadlines at least as often. */
const LOOK_MS = 500;
const STILL_LOOK_MS = 50;
const STILL_LOOKS = 8;

/** Waits until a number has stood still for a while, as what comes through full sockets does. */
async function standsStill(numberOf: () => number): Promise<void> {
  let last = -1;
  for (let same = 0; same < STILL_LOOKS;) {
    await pause(STILL_LOOK_MS);
    const number = numberOf();
    same = number === last && number > 0 ? same + 1 : 0;
    last = number;
  }
}

describe('bounds of the gateway', () => {
  it('cuts 200 clients that never send a byte at the deadline, while others are served', async () => {
    const time = new ManualTime();
    const headTimeoutMs = 3_000;
    const world = await GatewayWorld.start({ limits: { headTimeoutMs }, time });
    await world.serve('app', (_request, response) => response.end('served'));
    const silent = await Promise.all(Array.from({ length: 200 }, () => world.client()));
    await world.eventually(() => world.gateway.stats().connections === silent.length, 'all are admitted');
    time.advance(headTimeoutMs - LOOK_MS);
    assert.equal(statusOf(await world.ask(get('app'))), 200);
    assert.ok(silent.every((client) => client.isOpen));
    time.advance(2 * LOOK_MS);
    for (const client of silent) await client.ended();
    assert.equal(statusOf(await world.ask(get('app'))), 200);
    await world.eventually(() => world.gateway.stats().connections === 0, 'no connection is left');
    assert.equal(
      world.records.filter((record) => record['cause'] === 'no request arrived in time').length,
      200,
    );
    await world.close();
  });

  it('answers 408 to a head that trickles, and closes', async () => {
    const world = await GatewayWorld.start({ limits: { headTimeoutMs: 700 } });
    const client = await world.client();
    const trickle = setInterval(() => client.send('X: y\r\n'), 50);
    client.send('GET / HTTP/1.1\r\n');
    try {
      assert.equal(statusOf(await client.ended()), 408);
    } finally {
      clearInterval(trickle);
      client.close();
      await world.close();
    }
  });

  it('cuts a body that trickles at once when there are too many', async () => {
    const world = await GatewayWorld.start({
      limits: { minBodyBytesPerS: 1_000, bodyRateWindowMs: 600, maxSlowBodies: 0 },
    });
    await world.serve('app', (request, response) => {
      request.on('error', () => {});
      request.on('end', () => response.end('served'));
      request.resume();
    });
    const slow = await world.client();
    slow.send('POST / HTTP/1.1\r\nHost: app.share.localhost\r\nContent-Length: 100000\r\n\r\n');
    const trickle = setInterval(() => slow.send('x'), 50);
    try {
      assert.equal(statusOf(await slow.ended()), 408);
    } finally {
      clearInterval(trickle);
      slow.close();
      await world.close();
    }
  });

  it('does not cut a body that its origin holds up', async () => {
    const time = new ManualTime();
    const bodyRateWindowMs = 1_500;
    const world = await GatewayWorld.start({
      limits: { minBodyBytesPerS: 1_000, bodyRateWindowMs, maxSlowBodies: 0 },
      time,
    });
    let origin: Socket | undefined;
    await world.serveRaw('stuck', (socket) => {
      origin = socket;
      socket.pause();
    });
    const client = await world.client();
    const size = 16 * MIB;
    client.send(
      `POST / HTTP/1.1\r\nHost: stuck.share.localhost\r\nContent-Length: ${size}\r\nConnection: close\r\n\r\n`,
    );
    client.socket.write(Buffer.alloc(size));
    await world.eventually(() => origin !== undefined, 'the circuit is there');
    // Everything between the client and the origin is full.
    await standsStill(() => client.socket.writableLength);
    time.advance(2 * bodyRateWindowMs);
    // The gateway would answer now.
    for (const _turn of [1, 2, 3]) await new Promise(setImmediate);
    assert.equal(client.received, '', 'still waiting for the origin');
    let taken = 0;
    origin!.on('data', (bytes) => {
      taken += bytes.length;
      if (taken > size) origin!.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    });
    origin!.resume();
    assert.equal(statusOf(await client.ended()), 200);
    await world.close();
  });

  it('closes an idle connection after its time, without a page', async () => {
    const world = await GatewayWorld.start({ limits: { idleTimeoutMs: 400 } });
    await world.serve('app', (_request, response) => response.end('served'));
    const client = await world.client();
    client.send(get('app', '/', ''));
    assert.match(await client.ended(), /served(?:\r\n0\r\n\r\n)?$/);
    client.close();
    await world.close();
  });

  it('grows by less than 32 MiB for a slow reader of 64 MiB, whose answer stays intact', async () => {
    const world = await GatewayWorld.start();
    const total = 64 * MIB;
    let produced = 0;
    await world.serveRaw('big', (socket) => {
      socket.once('data', () => {
        const block = Buffer.alloc(65_536, 'x');
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${total}\r\n\r\n`);
        const more = (): void => {
          while (produced < total) {
            produced += block.length;
            if (!socket.write(block)) return;
          }
        };
        socket.on('drain', more);
        more();
      });
    });
    const client = await RawClient.connect(world.port);
    client.socket.removeAllListeners('data');
    client.socket.pause();
    const before = process.memoryUsage();
    client.send(get('big', '/', ''));
    // The producer stands still when everything between it and the reader is full.
    await standsStill(() => produced);
    assert.ok(produced < total, 'the producer was stopped');
    const now = process.memoryUsage();
    assert.ok(now.arrayBuffers + now.external - before.arrayBuffers - before.external < 32 * MIB);
    assert.ok(now.rss - before.rss < 64 * MIB, 'with the origin in this process too');
    let got = 0;
    const all = new Promise<void>((resolve) => {
      client.socket.on('data', (bytes: Buffer) => {
        got += bytes.length;
        if (got >= total) resolve();
      });
    });
    client.socket.resume();
    await all;
    assert.ok(got > total && got < total + 200);
    client.close();
    await world.close();
  });

  it('stops taking requests from a client that does not read its answers', async () => {
    const world = await GatewayWorld.start();
    let served = 0;
    const body = Buffer.alloc(40_000, 'y');
    await world.serve('app', (_request, response) => {
      served += 1;
      response.end(body);
    });
    const client = await RawClient.connect(world.port);
    client.socket.pause();
    const request = get('app', '/', '');
    const count = 2_000;
    for (let i = 0; i < count; i += 1) client.send(request);
    await standsStill(() => served);
    assert.ok(served < count, `served ${served}`);
    client.close();
    await world.close();
  });

  it('admits no more connections of one address than its bound, and more again when some close', async () => {
    const world = await GatewayWorld.start({ limits: { maxConnectionsPerAddress: 3 } });
    await world.serve('app', (_request, response) => response.end('served'));
    const first = await Promise.all([world.client(), world.client(), world.client()]);
    for (let i = 0; i < 2; i += 1) {
      // The reset may come before the client knows that it was connected.
      const refused = await world.client().catch(() => undefined);
      await refused?.ended();
    }
    assert.equal(world.records.filter((record) => record.message === 'connection refused').length, 1);
    first[0].close();
    await world.eventually(() => world.gateway.stats().connections === 2, 'one has left');
    assert.equal(statusOf(await world.ask(get('app'))), 200);
    for (const client of first) client.close();
    await world.close();
  });

  it('dials no more than its bound at once, refuses what waits beyond, and serves the rest', async () => {
    const world = await GatewayWorld.start({ limits: { maxDialsPerShare: 2, maxWaitingPerShare: 5 } });
    await world.serve('app', (_request, response) => response.end('served'));
    const { promise, resolve } = Promise.withResolvers<void>();
    world.dialer.gate = promise;
    const answers = Array.from({ length: 8 }, () => world.ask(get('app')));
    await world.eventually(() => world.gateway.stats().failures === 3, 'three are refused');
    assert.equal(world.dialer.dials, 2);
    resolve();
    const statuses = (await Promise.all(answers)).map(statusOf).sort((a, b) => a - b);
    assert.deepEqual(statuses, [200, 200, 200, 200, 200, 503, 503, 503]);
    await world.close();
  });

  it('gives up a dial that never ends', async () => {
    const world = await GatewayWorld.start({ limits: { dialTimeoutMs: 100 } });
    world.publish(shareOf('app'));
    world.dialer.gate = new Promise(() => {});
    assert.equal(statusOf(await world.ask(get('app'))), 504);
    await world.close();
  });

  it('ends the circuit when its client vanishes', async () => {
    const world = await GatewayWorld.start();
    let closed: Promise<void> | undefined;
    await world.serveRaw('app', (socket) => {
      closed = new Promise((resolve) => socket.once('close', () => resolve()));
      socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\npart'));
    });
    const client = await world.client();
    client.send(get('app', '/', ''));
    await client.until((text) => text.endsWith('part'));
    client.socket.resetAndDestroy();
    await world.eventually(() => world.gateway.stats().openCircuits === 0, 'the circuit is gone');
    await closed;
    await world.close();
  });

  it('drains: finishes what is in the making, closes what is idle, takes nothing new', async () => {
    const world = await GatewayWorld.start();
    let finish: (() => void) | undefined;
    await world.serve('app', (request, response) => {
      if (request.url === '/slow') finish = () => response.end('finished');
      else response.end('served');
    });
    const idle = await world.client();
    idle.send(get('app', '/', ''));
    await idle.until((text) => text.includes('served'));
    const busy = await world.client();
    busy.send(get('app', '/slow', ''));
    await world.eventually(() => finish !== undefined, 'the request arrives');
    const closing = world.gateway.close({ drainMs: 60_000 });
    await idle.ended();
    await assert.rejects(world.client());
    finish!();
    assert.match(await busy.ended(), /Connection: close\r\n\r\n.*finished/s);
    idle.close();
    busy.close();
    await closing;
    assert.equal(world.gateway.stats().openCircuits, 0);
    await world.close();
  });
});
