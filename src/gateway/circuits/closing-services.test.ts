import assert from 'node:assert/strict';
import type { Server } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { GatewayWorld, get } from '../testing/gateway-world.ts';
import { ManualTime } from '../testing/manual-time.ts';
import type { RawClient } from '../testing/raw-client.ts';
import { SeededRandom } from '../../../test/support/seeded-random.ts';
import { TEST_SEED } from '../../../test/support/test-seed.ts';

const KEEP_ALIVE_MS = 5_000;
const RECENT_MS = 1_000;
const REQUESTS = 300;

function post(name: string): string {
  return `POST / HTTP/1.1\r\nHost: ${name}.share.localhost\r\nContent-Length: 2\r\n\r\nhi`;
}

describe('a service that closes idle connections', () => {
  const time = new ManualTime();
  let world: GatewayWorld;

  before(async () => {
    world = await GatewayWorld.start({ time, limits: { circuitAgeMs: Infinity } });
  });
  after(() => world.close());

  /** Sends a request, and returns the status of its answer. */
  async function statusFor(client: RawClient, request: string): Promise<number> {
    const before = client.received.length;
    client.send(request);
    const text = await client.until((received) => received.slice(before).endsWith('done'));
    return Number(/^HTTP\/1\.1 (\d{3})/.exec(text.slice(before))?.[1]);
  }

  async function serve(name: string, keepAliveTimeoutMs: number, isAnnounced: boolean): Promise<Server> {
    const server = await world.serve(name, (request, response) => {
      // Node announces its timeout only when it writes this header itself.
      if (!isAnnounced) response.setHeader('Connection', 'keep-alive');
      request.resume().on('end', () => response.setHeader('Content-Length', 4).end('done'));
    });
    server.keepAliveTimeout = keepAliveTimeoutMs;
    return server;
  }

  async function dialsFor(requests: () => Promise<number>): Promise<number> {
    const { dials } = world.dialer;
    assert.equal(await requests(), 200);
    return world.dialer.dials - dials;
  }

  for (const isAnnounced of [true, false]) {
    it(`never meets a POST with that close, when its timeout is ${isAnnounced ? '' : 'not '}announced`, async () => {
      const random = new SeededRandom(TEST_SEED);
      const name = isAnnounced ? 'announcing' : 'silent';
      const server = await serve(name, KEEP_ALIVE_MS, isAnnounced);
      const client = await world.client();
      assert.equal(await statusFor(client, post(name)), 200);
      let closed = 0;
      for (let i = 0; i < REQUESTS; i += 1) {
        const idleMs = KEEP_ALIVE_MS - RECENT_MS + random.int(2 * RECENT_MS);
        time.advance(idleMs);
        // The request is on its way when the service closes, as it does when its own timer ends now.
        const isClosing = idleMs >= KEEP_ALIVE_MS;
        const isCloseFirst = random.int(2) === 0;
        if (isClosing && isCloseFirst) server.closeIdleConnections();
        const answered = statusFor(client, post(name));
        if (isClosing && !isCloseFirst) server.closeIdleConnections();
        if (isClosing) closed += 1;
        assert.equal(await answered, 200, `request ${i}, after ${idleMs} ms`);
      }
      client.close();
      assert.ok(closed > REQUESTS / 4);
      assert.equal(world.gateway.stats().failures, 0);
    });
  }

  it('gets a POST over a circuit that was used less than a second ago, and a GET over an older one', async () => {
    await serve('recent', KEEP_ALIVE_MS, false);
    const client = await world.client();
    await statusFor(client, post('recent'));
    time.advance(RECENT_MS - 1);
    assert.equal(await dialsFor(() => statusFor(client, post('recent'))), 0);
    time.advance(RECENT_MS);
    assert.equal(await dialsFor(() => statusFor(client, get('recent', '/', ''))), 0);
    time.advance(RECENT_MS);
    assert.equal(await dialsFor(() => statusFor(client, post('recent'))), 1);
    client.close();
  });

  it('gets a POST over a new circuit sooner when it announces a shorter time', async () => {
    await serve('short', 1_000, true);
    const client = await world.client();
    await statusFor(client, post('short'));
    time.advance(200);
    assert.equal(await dialsFor(() => statusFor(client, post('short'))), 0);
    time.advance(500);
    assert.equal(await dialsFor(() => statusFor(client, post('short'))), 1);
    client.close();
  });

  it('gets a POST over a new circuit after the gateway itself stood still', async () => {
    await serve('frozen', KEEP_ALIVE_MS, false);
    const client = await world.client();
    await statusFor(client, post('frozen'));
    time.skip(KEEP_ALIVE_MS);
    assert.equal(await dialsFor(() => statusFor(client, post('frozen'))), 1);
    client.close();
  });

  it('gets a GET again, once, when it closes the circuit that waited for it', async () => {
    const server = await serve('crossing', KEEP_ALIVE_MS, false);
    const client = await world.client();
    const { retries } = world.gateway.stats();
    await statusFor(client, get('crossing', '/', ''));
    for (let i = 1; i <= 20; i += 1) {
      time.advance(KEEP_ALIVE_MS);
      const answered = statusFor(client, get('crossing', '/', ''));
      server.closeIdleConnections();
      assert.equal(await answered, 200);
    }
    assert.ok(world.gateway.stats().retries > retries);
    client.close();
  });
});
