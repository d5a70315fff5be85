import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { GatewayWorld, get, statusOf } from './testing/gateway-world.ts';
import { ManualTime } from './testing/manual-time.ts';

const WINDOW_MS = 3_000;
const PAUSE_MS = 3_500;

describe('a gateway that stood still', () => {
  const time = new ManualTime();
  let world: GatewayWorld;

  before(async () => {
    world = await GatewayWorld.start({
      limits: { headTimeoutMs: WINDOW_MS, minBodyBytesPerS: 1_000, bodyRateWindowMs: WINDOW_MS },
      time,
    });
    await world.serve('app', (request, response) => {
      request.on('end', () => response.end('served'));
      request.resume();
    });
  });
  after(() => world.close());

  it('does not blame its clients for that: half a head and half a body are waited for as before', async () => {
    const [head, body] = await Promise.all([world.client(), world.client()]);
    const request = get('app');
    head.send(request.slice(0, 20));
    body.send(
      'POST / HTTP/1.1\r\nHost: app.share.localhost\r\nConnection: close\r\nContent-Length: 4\r\n\r\nha',
    );
    await world.eventually(() => world.gateway.stats().openCircuits === 1, 'the body is on its way');
    // The sweep, which is due, comes before anything more is read.
    time.skip(PAUSE_MS);
    head.send(request.slice(20));
    body.send('lf');
    assert.equal(statusOf(await head.ended()), 200);
    assert.equal(statusOf(await body.ended()), 200);
    head.close();
    body.close();
  });
});
