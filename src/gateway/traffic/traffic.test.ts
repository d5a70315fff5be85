import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { latencyBucketOf, NO_LATENCIES } from '#domain';
import type { TrafficSample } from '#domain/gateway-shapes';
import { CircuitError } from '#sdk';
import { GatewayWorld, get, shareOf, statusOf } from '../testing/gateway-world.ts';
import { TrafficLedger } from './traffic-ledger.ts';

const SPAN = 1_700_000_000_000;

interface Counted {
  readonly requests: number;
  readonly errors: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** Requests with a latency. */
  readonly timed: number;
}

describe('the traffic of a share', () => {
  let world: GatewayWorld;
  let all: TrafficSample[];
  beforeEach(async () => {
    world = await GatewayWorld.start();
    all = [];
  });
  afterEach(() => world.close());

  /** Since the start of the test. */
  function traffic(name: string): Counted {
    all.push(...world.gateway.traffic.take(SPAN));
    const ledger = new TrafficLedger();
    ledger.add(all.filter(({ shareId }) => shareId === `id-${name}`));
    const sum = ledger.take(2);
    assert.ok(sum.length <= 1);
    const { requests = 0, errors = 0, bytesIn = 0, bytesOut = 0, latency = NO_LATENCIES } = sum[0] ?? {};
    const timed = latency.reduce((count, n, i) => (i % 2 === 1 ? count + n : count), 0);
    return { requests, errors, bytesIn, bytesOut, timed };
  }

  const eventually = (name: string, wanted: Counted): Promise<void> =>
    world.eventually(
      () => {
        try {
          assert.deepEqual(traffic(name), wanted);
          return true;
        } catch {
          return false;
        }
      },
      `traffic of ${name} is ${JSON.stringify(wanted)}, not ${JSON.stringify(traffic(name))}`,
    );

  it('is what was asked and answered, named by share, environment and frontdoor', async () => {
    await world.serve('app', (request, response) => {
      response.statusCode = Number(request.url!.slice(1));
      response.end('12345');
    });
    const client = await world.client();
    for (const [i, status] of [200, 404, 499, 500, 503, 200].entries()) {
      client.send(get('app', `/${status}`, ''));
      await client.until((text) => text.split('12345').length === i + 2);
    }
    client.close();
    assert.deepEqual(traffic('app'), { requests: 6, errors: 2, bytesIn: 0, bytesOut: 30, timed: 6 });
    assert.deepEqual(all[0]!.byClass, [2, 0, 2, 2]);
    const { startsAt, shareId, environmentId, frontdoorId } = all[0]!;
    assert.deepEqual(
      [startsAt, shareId, environmentId, frontdoorId],
      [SPAN, 'id-app', 'environment', 'frontdoor'],
    );
    assert.deepEqual(world.gateway.traffic.take(SPAN), [], 'what was taken is not counted again');
  });

  it("takes bytes of bodies alone, whatever their framing, and none of a HEAD's", async () => {
    await world.serve('body', (request, response) => {
      request.resume();
      request.on('end', () => {
        if (request.url === '/chunked') response.write('abc');
        response.end('defg');
      });
    });
    const post = (path: string, lines: string, body: string): string =>
      `POST ${path} HTTP/1.1\r\nHost: body.share.localhost\r\n${lines}Connection: close\r\n\r\n${body}`;
    assert.equal(statusOf(await world.ask(post('/', 'Content-Length: 10\r\n', '0123456789'))), 200);
    const chunks = '5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n';
    assert.equal(statusOf(await world.ask(post('/chunked', 'Transfer-Encoding: chunked\r\n', chunks))), 200);
    assert.equal(statusOf(await world.ask(get('body').replace('GET', 'HEAD'))), 200);
    assert.deepEqual(traffic('body'), { requests: 3, errors: 0, bytesIn: 21, bytesOut: 11, timed: 3 });
  });

  it('takes as latency the time from the head to the last byte of the answer', async () => {
    let answer: (() => void) | undefined;
    await world.serve('slow', (_request, response) => {
      response.write('begun');
      answer = () => response.end();
    });
    const client = await world.client();
    const startedMs = performance.now();
    client.send(get('slow'));
    await client.until((text) => text.includes('begun'));
    await world.eventually(() => performance.now() - startedMs > 60, 'time passes');
    answer!();
    await client.ended();
    const tookMs = performance.now() - startedMs;
    const [sample] = world.gateway.traffic.take(SPAN);
    const bucket = sample!.latency[0]!;
    // From before the request to after its answer it took a little longer, never less.
    assert.ok(
      bucket <= latencyBucketOf(tookMs) && bucket >= latencyBucketOf(50),
      `${bucket} for ${tookMs} ms`,
    );
  });

  it("counts the gateway's own pages by their status", async () => {
    await world.close();
    world = await GatewayWorld.start({ limits: { answerTimeoutMs: 500 } });
    world.publish(shareOf('nobody'));
    assert.equal(statusOf(await world.ask(get('nobody'))), 503);
    world.publish(shareOf('refused'));
    world.dialer.refuse = new CircuitError('service-refused', 'service', 'connection refused');
    assert.equal(statusOf(await world.ask(get('refused'))), 502);
    world.dialer.refuse = undefined;
    world.publish(shareOf('guarded', { authProviderIds: ['someone'] }));
    assert.equal(statusOf(await world.ask(get('guarded'))), 503);
    await world.serveRaw('silent', (socket) => socket.resume());
    assert.equal(statusOf(await world.ask(get('silent'))), 504);
    for (const name of ['nobody', 'refused', 'guarded', 'silent']) {
      assert.deepEqual(traffic(name), { requests: 1, errors: 1, bytesIn: 0, bytesOut: 0, timed: 1 }, name);
    }
    const chunk = 'Transfer-Encoding: chunked\r\nConnection: close\r\n';
    await world.serveRaw('picky', (socket) => socket.resume());
    assert.equal(statusOf(await world.ask(`${get('picky', '/', chunk)}zzz\r\n`)), 400);
    assert.deepEqual(traffic('picky'), { requests: 1, errors: 0, bytesIn: 0, bytesOut: 0, timed: 1 });
  });

  it('has no part in requests that lead to no share', async () => {
    assert.equal(statusOf(await world.ask(get('unknown'))), 404);
    assert.equal(statusOf(await world.ask('GET / HTTP/1.1\r\n\r\n')), 400);
    assert.deepEqual(world.gateway.traffic.take(SPAN), []);
  });

  it('counts a request that got no whole answer as an error, without a latency', async () => {
    await world.serveRaw('broken', (socket) => {
      socket.on('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf'));
    });
    const client = await world.client();
    client.send(get('broken'));
    await client.ended();
    await eventually('broken', { requests: 1, errors: 1, bytesIn: 0, bytesOut: 4, timed: 0 });
  });

  it('counts a request that its client gave up, before its answer or in it, as no error', async () => {
    let reached = 0;
    await world.serveRaw('given-up', (socket) => {
      socket.on('data', (bytes) => {
        reached += 1;
        if (bytes.includes('/begin')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf');
      });
    });
    const before = await world.client();
    before.send(get('given-up', '/never'));
    await world.eventually(() => reached === 1, 'the request arrives');
    before.socket.resetAndDestroy();
    await eventually('given-up', { requests: 1, errors: 0, bytesIn: 0, bytesOut: 0, timed: 0 });
    const within = await world.client();
    within.send(get('given-up', '/begin'));
    await within.until((text) => text.endsWith('half'));
    within.socket.resetAndDestroy();
    await eventually('given-up', { requests: 2, errors: 0, bytesIn: 0, bytesOut: 4, timed: 0 });
  });

  it('counts a request that the gateway cuts off when it closes as an error', async () => {
    let reached = false;
    await world.serveRaw('cut', (socket) => socket.on('data', () => (reached = true)));
    const client = await world.client();
    client.send(get('cut'));
    await world.eventually(() => reached, 'the request arrives');
    await world.gateway.close();
    await client.ended();
    assert.deepEqual(traffic('cut'), { requests: 1, errors: 1, bytesIn: 0, bytesOut: 0, timed: 0 });
  });

  it('takes bytes as they flow, and the request when it ends', async () => {
    let origin: Socket | undefined;
    await world.serveRaw('long', (socket) => {
      origin = socket;
      socket.on('data', (bytes) => {
        if (bytes.includes('POST'))
          socket.write('HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhalf', 'latin1');
      });
    });
    const client = await world.client();
    client.send('POST / HTTP/1.1\r\nHost: long.share.localhost\r\nContent-Length: 6\r\n\r\nabc');
    await client.until((text) => text.endsWith('half'));
    assert.deepEqual(traffic('long'), { requests: 0, errors: 0, bytesIn: 3, bytesOut: 4, timed: 0 });
    client.send('def');
    await eventually('long', { requests: 0, errors: 0, bytesIn: 6, bytesOut: 4, timed: 0 });
    origin!.write('rest');
    await client.until((text) => text.endsWith('halfrest'));
    assert.deepEqual(traffic('long'), { requests: 1, errors: 0, bytesIn: 6, bytesOut: 8, timed: 1 });
    client.close();
  });

  it('counts an upgrade once, and what flows after it as it flows', async () => {
    await world.serveRaw('upgraded', (socket) => {
      let switched = false;
      socket.on('data', (bytes) => {
        if (switched) socket.write(bytes);
        else socket.write('HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nhi');
        switched = true;
      });
    });
    const client = await world.client();
    client.send(get('upgraded', '/', 'Connection: Upgrade\r\nUpgrade: echo\r\n'));
    await client.until((text) => text.endsWith('\r\n\r\nhi'));
    assert.deepEqual(traffic('upgraded'), { requests: 1, errors: 0, bytesIn: 0, bytesOut: 2, timed: 1 });
    client.send('hello');
    await client.until((text) => text.endsWith('hihello'));
    assert.deepEqual(traffic('upgraded'), { requests: 1, errors: 0, bytesIn: 5, bytesOut: 7, timed: 1 });
    client.socket.resetAndDestroy();
    await world.eventually(() => world.gateway.stats().connections === 0, 'the client is gone');
    assert.deepEqual(traffic('upgraded'), { requests: 1, errors: 0, bytesIn: 5, bytesOut: 7, timed: 1 });
  });

  it('continues under its name when the share is changed or withdrawn in the meantime', async () => {
    let answer: (() => void) | undefined;
    await world.serve('moving', (_request, response) => {
      answer = () => response.end('12345');
    });
    const client = await world.client();
    client.send(get('moving'));
    await world.eventually(() => answer !== undefined, 'the request arrives');
    world.publish(shareOf('moving', { updatedAtMs: 2 }));
    answer!();
    await client.ended();
    assert.deepEqual(traffic('moving'), { requests: 1, errors: 0, bytesIn: 0, bytesOut: 5, timed: 1 });
    answer = undefined;
    const withdrawn = await world.client();
    withdrawn.send(get('moving'));
    await world.eventually(() => answer !== undefined, 'the request arrives');
    world.gateway.table.change([], ['id-moving']);
    assert.equal(statusOf(await withdrawn.ended()), 503);
    assert.deepEqual(traffic('moving'), { requests: 2, errors: 1, bytesIn: 0, bytesOut: 5, timed: 2 });
  });

  it('counts a request once that is sent again because its circuit had just closed', async () => {
    let requests = 0;
    await world.serveRaw('again', (socket) => {
      socket.on('data', () => {
        requests += 1;
        if (requests === 2) socket.destroy();
        else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
      });
    });
    const client = await world.client();
    for (const answers of [1, 2]) {
      client.send(get('again', '/', ''));
      await client.until((text) => text.split('\r\n\r\nok').length === answers + 1);
    }
    client.close();
    assert.equal(requests, 3);
    assert.deepEqual(traffic('again'), { requests: 2, errors: 0, bytesIn: 0, bytesOut: 4, timed: 2 });
  });
});
