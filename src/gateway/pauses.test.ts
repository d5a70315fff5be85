import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { GatewayWorld, get, statusOf } from './testing/gateway-world.ts';
import { ManualTime } from './testing/manual-time.ts';
import type { RawClient } from './testing/raw-client.ts';

const WINDOW_MS = 3_000;
const PAUSE_MS = 3_500;

describe('a body that pauses', () => {
  const time = new ManualTime();
  let world: GatewayWorld;
  let response: ServerResponse | undefined;
  let arrived = 0;

  before(async () => {
    world = await GatewayWorld.start({ limits: { maxSlowBodiesPerAddress: 2 }, time });
    await world.serve('app', (request, answer) => {
      response = answer;
      arrived += 1;
      request.on('error', () => {});
      request.on('end', () => answer.end('served'));
      request.resume();
    });
  });
  after(() => world.close());

  const upload = async (body = 'ha'): Promise<RawClient> => {
    const client = world.own(await world.client());
    const before = arrived;
    client.send(
      `POST / HTTP/1.1\r\nHost: app.share.localhost\r\nConnection: close\r\nContent-Length: 5000\r\n\r\n${body}`,
    );
    await world.eventually(() => arrived > before, 'the request at the service');
    return client;
  };

  it('for a minute is served', async () => {
    const client = await upload();
    time.advance(60_000);
    assert.equal(world.gateway.stats().slowBodies, 1);
    client.send('l'.repeat(4_998));
    assert.equal(statusOf(await client.ended()), 200);
    await world.eventually(() => world.gateway.stats().slowBodies === 0, 'it counts no longer');
  });

  it('for much longer is cut, with a page', async () => {
    const client = await upload();
    time.advance(95_000);
    const answer = await client.ended();
    assert.equal(statusOf(answer), 408);
    assert.match(answer, /did not arrive in time/);
    assert.equal(world.gateway.stats().slowBodies, 0);
  });

  it('is cut sooner when its address has too many, unless it was fast before', async () => {
    const honest = await upload('x'.repeat(4_000));
    time.advance(11_000);
    const [first, second] = [await upload(), await upload()];
    time.advance(11_000);
    assert.equal(statusOf(await first.ended()), 408);
    assert.equal(statusOf(await second.ended()), 408);
    const late = await upload();
    time.advance(11_000);
    assert.equal(statusOf(await late.ended()), 408, 'while the pressure lasts');
    assert.equal(world.gateway.stats().cutSlowBodies, 3);
    honest.send('x'.repeat(1_000));
    assert.equal(statusOf(await honest.ended()), 200);
  });

  it('of a response is waited for, whether the service pauses or the client', async () => {
    const client = world.own(await world.client());
    response = undefined;
    client.send(
      'POST / HTTP/1.1\r\nHost: app.share.localhost\r\nConnection: close\r\nContent-Length: 1\r\n\r\n',
    );
    await world.eventually(() => response !== undefined, 'the request');
    response!.write('half');
    await client.until((received) => received.includes('half'));
    time.advance(60_000);
    client.send('x');
    assert.match(await client.ended(), /served/);
  });
});

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
