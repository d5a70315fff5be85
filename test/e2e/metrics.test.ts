// The metrics match the traffic through the gateway exactly, even when parts of the product stop in the meantime.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createServer, request as httpRequest, type IncomingMessage, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { within } from '../support/deadline.ts';
import { startSeparate, type Separate } from '../support/separate.ts';
import { eventually, openWorld, type World } from '../support/world.ts';

/** After traffic has stopped. */
const EXACT_MS = 15_000;
const STEP_MS = 10_000;

interface Counts {
  readonly requests: number;
  readonly errors: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
}

interface Call {
  call(method: 'GET', path: string): Promise<{ readonly json: unknown }>;
}

/** `/status/N` ten bytes, `/hang` nothing, uploads are counted, upgrades echo. */
async function startService(): Promise<{ readonly server: Server; readonly port: number; hanging: number }> {
  const server = createServer((request, response) => {
    if (request.url === '/hang') {
      service.hanging += 1;
      return;
    }
    request.resume();
    request.on('end', () => {
      response.statusCode = Number(/^\/status\/(\d+)/.exec(request.url!)?.[1] ?? 200);
      response.end('0123456789');
    });
  });
  server.on('upgrade', (_request, socket: Socket) => {
    socket.on('error', () => {});
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
    socket.pipe(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const service = { server, port: (server.address() as AddressInfo).port, hanging: 0 };
  return service;
}

async function ask(port: number, host: string, path: string, body?: Buffer): Promise<number> {
  const sent = httpRequest({
    host: '127.0.0.1',
    port,
    path,
    headers: { host },
    agent: false,
    method: body === undefined ? 'GET' : 'POST',
  });
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.resume();
  await once(response, 'end');
  return response.statusCode ?? 0;
}

async function countsOf(api: Call, path = ''): Promise<Counts> {
  const { json } = await api.call('GET', `${path}/metrics?duration=PT1H`);
  const { totals, samples } = json as {
    totals: Counts & { latencyMs: unknown };
    samples: readonly Counts[];
  };
  assert.equal(
    samples.reduce((sum, { requests }) => sum + requests, 0),
    totals.requests,
  );
  const { requests, errors, bytesIn, bytesOut } = totals;
  return { requests, errors, bytesIn, bytesOut };
}

/** Waits for exactly these, and fails with what there was. */
async function exactly(api: Call, wanted: Counts, path = ''): Promise<void> {
  await eventually(
    () => countsOf(api, path),
    (counts) => JSON.stringify(counts) === JSON.stringify(wanted),
    EXACT_MS,
  );
}

describe('metrics of a gateway in the same process', () => {
  let service: Awaited<ReturnType<typeof startService>>;
  let world: World;
  before(async () => {
    service = await startService();
    world = await openWorld();
  });
  after(async () => {
    await world?.close();
    service.server.closeAllConnections();
    service.server.close();
  });

  it('equal what was sent within 15 s: answers, errors, uploads, aborted requests, an upgrade', async () => {
    const one = await world.startAgent('one');
    const two = await world.startAgent('two');
    const target = `http://127.0.0.1:${service.port}`;
    await one.share(target, { name: 'app' });
    await two.share(target, { name: 'other' });
    // Nobody asks this one but the controller's probe, which is no traffic.
    await two.share(target, { name: 'probed' });
    const host = 'app.share.localhost';
    const port = world.up.httpPort;

    for (let i = 0; i < 40; i += 1) assert.equal(await ask(port, host, '/status/200'), 200);
    for (const status of [404, 500, 502, 503])
      assert.equal(await ask(port, host, `/status/${status}`), status);
    for (const size of [1, 1_000, 300_000]) assert.equal(await ask(port, host, '/', Buffer.alloc(size)), 200);
    const aborted = 3;
    for (let i = 0; i < aborted; i += 1) {
      const socket = connect(port, '127.0.0.1');
      socket.write(`GET /hang HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      const wanted = service.hanging + 1;
      await eventually(
        () => Promise.resolve(service.hanging),
        (hanging) => hanging === wanted,
      );
      socket.resetAndDestroy();
    }
    const upgraded = connect(port, '127.0.0.1');
    let echoed = '';
    upgraded.on('data', (bytes) => (echoed += bytes.toString('latin1')));
    upgraded.write(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n`);
    await eventually(
      () => Promise.resolve(echoed),
      (text) => text.endsWith('\r\n\r\n'),
    );
    upgraded.write('x'.repeat(500));
    await eventually(
      () => Promise.resolve(echoed),
      (text) => text.endsWith('x'.repeat(500)),
    );
    for (let i = 0; i < 5; i += 1) await ask(port, 'other.share.localhost', '/');

    // The upgraded connection is still open: what it carried counts all the same.
    const app: Counts = {
      requests: 40 + 4 + 3 + aborted + 1,
      errors: 3,
      bytesIn: 301_001 + 500,
      bytesOut: 10 * 47 + 500,
    };
    const other: Counts = { requests: 5, errors: 0, bytesIn: 0, bytesOut: 50 };
    const sum = (a: Counts, b: Counts): Counts => ({
      requests: a.requests + b.requests,
      errors: a.errors + b.errors,
      bytesIn: a.bytesIn + b.bytesIn,
      bytesOut: a.bytesOut + b.bytesOut,
    });
    await exactly(world, sum(app, other));
    await exactly(world, app, `/environments/${one.environmentId}`);
    await exactly(world, other, `/environments/${two.environmentId}`);
    upgraded.destroy();

    const { json } = await world.call('GET', '/sparklines?duration=PT5M');
    const { sparklines } = json as { sparklines: { name: string; requests: number[]; errors: number[] }[] };
    const total = (numbers: number[]): number => numbers.reduce((a, b) => a + b, 0);
    assert.deepEqual(
      sparklines.slice(1).map(({ name, requests, errors }) => [name, total(requests), total(errors)]),
      [
        ['one', app.requests, 3],
        ['two', 5, 0],
      ],
    );
  });
});

describe('metrics of parts on machines of their own', () => {
  let service: Awaited<ReturnType<typeof startService>>;
  let parts: Separate;
  /** What the clients saw; while circuits come back after an outage that may be errors. */
  let seen: Counts = { requests: 0, errors: 0, bytesIn: 0, bytesOut: 0 };
  before(async () => {
    service = await startService();
    parts = await startSeparate();
    await parts.share('public', `http://127.0.0.1:${service.port}`, 'app');
  });
  // A test that failed half-way leaves the next one a whole product.
  beforeEach(async () => {
    for (const part of [parts.control, parts.gateway]) if (!part.isRunning) await part.start();
    await eventually(send, (status) => status === 200);
  });
  after(async () => {
    await parts?.stop();
    service.server.closeAllConnections();
    service.server.close();
  });

  async function send(): Promise<number> {
    const port = Number(new URL(parts.gateway.ready.gatewayUrl).port);
    const status = await ask(port, 'app.share.localhost', '/');
    // Requests before the gateway has received the share belong to no share.
    if (status !== 404) {
      const { requests, errors, bytesIn, bytesOut } = seen;
      seen = {
        requests: requests + 1,
        errors: errors + (status >= 500 ? 1 : 0),
        bytesIn,
        bytesOut: bytesOut + (status === 200 ? 10 : 0),
      };
    }
    return status;
  }
  async function sendMany(times: number): Promise<void> {
    for (let i = 0; i < times; i += 1) await send();
  }
  const stopGateway = async (): Promise<void> => {
    assert.equal(await within('the gateway to stop', parts.gateway.stop(), STEP_MS), 0);
  };

  it('lose nothing while the control plane is away, killed in the middle of it, and count nothing twice', async () => {
    await sendMany(20);
    await parts.control.kill();
    await eventually(
      async () => {
        await sendMany(5);
        return parts.gateway.output;
      },
      (log) => log.includes('traffic cannot be reported now'),
      EXACT_MS,
    );
    await sendMany(5);
    await parts.control.start();
    await sendMany(10);
    await exactly(parts, seen);
    // Later reports do not change it.
    await sendMany(5);
    await exactly(parts, seen);
  });

  it('come with the health of a router that enrolled as it started, and starts again without its token', async () => {
    const ready = async (): Promise<unknown> => {
      const answer = await fetch(`http://${parts.routerMetrics}/health/ready`).catch(() => undefined);
      const { status, checks } = ((await answer?.json()) ?? {}) as Record<string, unknown>;
      return { status, checks };
    };
    assert.deepEqual(await ready(), { status: 'ready', checks: { controller: true } });
    assert.match(await (await fetch(`http://${parts.routerMetrics}/metrics`)).text(), /^frontdoor_router_/m);
    assert.equal(await parts.router.stop(), 0);
    rmSync(join(parts.folder, 'router.jwt'));
    await parts.router.start();
    assert.deepEqual(await ready(), { status: 'ready', checks: { controller: true } });
    await eventually(send, (status) => status === 200);
  });

  it('are all reported before a stopped gateway has ended', async () => {
    await sendMany(15);
    await stopGateway();
    assert.deepEqual(await countsOf(parts), seen);
  });

  it('lose of a killed gateway at most what it had not reported', async () => {
    await sendMany(10);
    await exactly(parts, seen);
    const reported = seen.requests;
    await sendMany(10);
    await parts.gateway.kill();
    const unsure = seen.requests - reported;
    await parts.gateway.start();
    await eventually(send, (status) => status === 200);
    await stopGateway();
    const { requests } = await countsOf(parts);
    const most = seen.requests;
    assert.ok(requests >= most - unsure && requests <= most, `${requests} of ${most - unsure} to ${most}`);
  });
});
