import assert from 'node:assert/strict';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { CircuitError } from '#sdk';
import type { GatewayShare } from '#domain/gateway-shapes';
import { freePort } from '../../../test/support/free-port.ts';
import type { Failure } from '../answers/failure-table.ts';
import type { GatewayLimits } from '../limits/gateway-limits.ts';
import type { RequestObserver, RequestRecord } from '../exchange/request-record.ts';
import { AccessWorld, providerOf, rulesOf } from '../testing/access-world.ts';
import { once, shareOf } from '../testing/gateway-world.ts';
import { ManualTime } from '../testing/manual-time.ts';
import { RawClient } from '../testing/raw-client.ts';

interface Ended {
  readonly record: RequestRecord;
  readonly outcome: 'served' | 'failed' | 'gone';
  readonly failure: Failure | undefined;
}

/** A gateway that opens one port, and a service behind it. */
class PortWorld {
  readonly world: AccessWorld;
  readonly time: ManualTime;
  readonly port: number;
  readonly ended: Ended[];
  /** The connections that the service accepted. */
  readonly accepted: Socket[] = [];

  private constructor(world: AccessWorld, time: ManualTime, port: number, ended: Ended[]) {
    this.world = world;
    this.time = time;
    this.port = port;
    this.ended = ended;
  }

  static async start(
    test: TestContext,
    limits: Partial<GatewayLimits> = {},
    port?: number,
    isShared = false,
  ): Promise<PortWorld> {
    const time = new ManualTime();
    const ended: Ended[] = [];
    const own = port ?? (await freePort());
    const range = { first: own, last: own };
    const world = await AccessWorld.start({}, {}, time, {
      ports: { tcp: { host: '127.0.0.1', range, isShared } },
      observer: observerInto(ended),
      limits,
    });
    test.after(() => world.close());
    return new PortWorld(world, time, own, ended);
  }

  get gateway() {
    return this.world.world.gateway;
  }

  /** Publishes the service, and waits until its port is open. */
  async serve(
    onSocket: (socket: Socket) => void = (socket) => socket.pipe(socket),
    more: Partial<GatewayShare> = {},
  ) {
    await this.world.world.serveRaw(
      'db',
      (socket) => {
        this.accepted.push(socket);
        onSocket(socket);
      },
      this.share(more),
    );
    await this.opened();
  }

  share(more: Partial<GatewayShare> = {}): Partial<GatewayShare> {
    const ingress = { kind: 'port' as const, port: this.port, hosts: ['db.share.localhost'] };
    return { hosts: [], ingress, ...more };
  }

  async opened(): Promise<void> {
    await this.eventually(() => this.gateway.stats().openPorts === 1, 'the port is open');
  }

  change(more: Partial<GatewayShare>): void {
    this.world.publish('db', this.share({ updatedAtMs: 2, ...more }));
  }

  async client(): Promise<RawClient> {
    return this.world.world.own(await RawClient.connect(this.port));
  }

  /** Connects, and waits for the reset, which may come before the connection is known here. */
  async refused(): Promise<void> {
    const client = await this.client().catch((error: NodeJS.ErrnoException) => error);
    if (client instanceof RawClient) await isReset(client);
    else assert.equal(client.code, 'ECONNRESET');
  }

  eventually(test: () => boolean, what: string): Promise<void> {
    return this.world.world.eventually(test, what);
  }
}

function observerInto(ended: Ended[]): RequestObserver {
  return {
    began() {},
    refused() {},
    served: (record) => void ended.push({ record, outcome: 'served', failure: undefined }),
    failed: (record, failure) => void ended.push({ record, outcome: 'failed', failure }),
    gone: (record) => void ended.push({ record, outcome: 'gone', failure: undefined }),
    flush() {},
  };
}

/** Waits until the connection was reset. */
async function isReset(client: RawClient): Promise<void> {
  await client.ended();
  await new Promise((resolve) => {
    if (client.socket.closed) resolve(undefined);
    else client.socket.once('close', resolve);
  });
  assert.ok(client.wasReset, 'the connection was reset, not ended');
}

describe('the port of a share', () => {
  it('carries bytes both ways, and the end of either side alone', async (test) => {
    const world = await PortWorld.start(test);
    await world.serve((socket) => {
      let received = '';
      socket.on('data', (bytes: Buffer) => (received += bytes.toString()));
      // An answer that begins when the whole question is there.
      socket.on('end', () => socket.end(`answer to ${received}`));
    });
    const client = await world.client();
    client.send('question');
    client.socket.end();
    assert.equal(await client.ended(), 'answer to question');
    await world.eventually(() => world.ended.length === 1, 'the record of the connection');
    const [{ outcome, record }] = world.ended as [Ended];
    assert.deepEqual(
      [outcome, record.method, record.bytesIn, record.bytesOut, record.host],
      ['served', 'TCP', 8, 18, 'db.share.localhost'],
    );
    const [sample] = world.gateway.traffic.take(0);
    assert.deepEqual([sample?.requests, sample?.errors, sample?.bytesIn, sample?.bytesOut], [1, 0, 8, 18]);
  });

  it('carries what the service sends first, over a circuit for this connection alone', async (test) => {
    const world = await PortWorld.start(test, { standbyPerShare: 2 });
    await world.serve((socket) => {
      socket.write('SSH-2.0-test\r\n');
      socket.on('end', () => socket.end());
    });
    const client = await world.client();
    assert.equal(await client.until((text) => text.endsWith('\n')), 'SSH-2.0-test\r\n');
    const other = await world.client();
    await other.until((text) => text.endsWith('\n'));
    world.time.advance(1_000);
    assert.equal(world.world.world.dialer.dials, 2, 'none is dialed in advance');
    client.close();
    await world.eventually(() => world.gateway.stats().openCircuits === 1, 'no circuit is kept for later');
  });

  it('passes a reset of the client and of the service on as a reset', async (test) => {
    const world = await PortWorld.start(test);
    await world.serve();
    const client = await world.client();
    client.send('x');
    await client.until((text) => text === 'x');
    const [service] = world.accepted as [Socket];
    const error = once(service, 'error');
    client.socket.resetAndDestroy();
    assert.match(String(await error), /ECONNRESET/);
    await world.eventually(
      () => world.ended.some(({ outcome }) => outcome === 'gone'),
      'the record of the reset',
    );
    const second = await world.client();
    second.send('y');
    await second.until((text) => text === 'y');
    world.accepted[1]!.resetAndDestroy();
    await isReset(second);
    await world.eventually(() => world.ended.length === 2, 'the record of the broken connection');
    const { failure, record } = world.ended[1]!;
    assert.deepEqual([failure?.code, record.isBrokenOff, record.bytesIn], ['circuit-closed', true, 1]);
  });

  it('stops a service whose client does not read', async (test) => {
    const world = await PortWorld.start(test);
    let sent = 0;
    await world.serve((socket) => {
      const chunk = Buffer.alloc(65_536);
      const flood = (): void => {
        while (socket.write(chunk)) sent += chunk.length;
        sent += chunk.length;
      };
      socket.on('drain', flood);
      flood();
    });
    const client = await world.client();
    client.socket.pause();
    let before = -1;
    // Buffers of the system fill up, then nothing moves.
    for (let still = 0; still < 50; still = sent === before ? still + 1 : 0) {
      before = sent;
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    }
    assert.ok(sent < 64 * 1_048_576, `${sent} bytes were taken for a client that reads nothing`);
  });

  it('is for networks that the rules allow, before a circuit is dialed', async (test) => {
    const world = await PortWorld.start(test);
    await world.serve(undefined, { rules: rulesOf({ ip: { allow: ['192.0.2.0/24'], deny: [] } }) });
    await world.refused();
    await world.eventually(() => world.ended.length === 1, 'the record of the refusal');
    const { failure, record } = world.ended[0]!;
    assert.deepEqual(
      [failure?.code, record.admission, record.client.address],
      ['address-not-allowed', undefined, '127.0.0.1'],
    );
    assert.equal(world.world.world.dialer.dials, 0);
  });

  it('holds the rate of an address', async (test) => {
    const world = await PortWorld.start(test);
    await world.serve(undefined, { rules: rulesOf({ rateLimit: { requests: 1, perMs: 60_000 } }) });
    const first = await world.client();
    first.send('x');
    await first.until((text) => text === 'x');
    await world.refused();
    await world.eventually(() => world.ended.length === 1, 'the record of the refusal');
    assert.equal(world.ended[0]?.failure?.code, 'rate-limited');
  });

  const changes = {
    'a network is denied': () => ({ rules: rulesOf({ ip: { allow: [], deny: ['127.0.0.1'] } }) }),
    'its time is over': () => ({ rules: rulesOf({ expiresAtMs: 1 }) }),
    'it gets a provider': () => ({ authProviderIds: ['p'] }),
    'it is in maintenance': () => ({ upstream: { maintenance: { text: '', retrySeconds: 60 } } }),
  } satisfies Record<string, () => Partial<GatewayShare>>;
  for (const [what, more] of Object.entries(changes))
    it(`is cut within two seconds when ${what}`, async (test) => {
      const world = await PortWorld.start(test);
      world.world.setProviders(providerOf('p'));
      await world.serve();
      const client = await world.client();
      client.send('x');
      await client.until((text) => text === 'x');
      world.change(more());
      world.time.advance(2_000);
      await isReset(client);
      await world.refused();
    });

  it('is closed, and its connections are cut, when the share is withdrawn', async (test) => {
    const world = await PortWorld.start(test);
    await world.serve();
    const client = await world.client();
    client.send('x');
    await client.until((text) => text === 'x');
    world.gateway.table.change([], [shareOf('db').id]);
    await isReset(client);
    assert.equal(world.ended[0]?.failure?.code, 'withdrawn');
    await world.eventually(() => world.gateway.stats().openPorts === 0, 'the port is closed');
    await assert.rejects(RawClient.connect(world.port), { code: 'ECONNREFUSED' });
    assert.equal(world.gateway.stats().streamConnections, 0);
  });

  it('admits nobody where the rules need a sign-in', async (test) => {
    const world = await PortWorld.start(test);
    world.world.setProviders(providerOf('p'));
    await world.serve(undefined, { authProviderIds: ['p'] });
    await world.refused();
    await world.eventually(() => world.ended.length === 1, 'the record of the refusal');
    assert.equal(world.ended[0]?.failure?.code, 'port-guarded');
    world.change({ rules: rulesOf({ clientCertificate: { authorities: [], names: [] } }) });
    await world.refused();
    await world.eventually(() => world.ended.length === 2, 'the second record');
    assert.equal(world.ended[1]?.failure?.code, 'certificate-missing');
  });

  it('that another program has is a failure of its share, and opens when that one ends', async (test) => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const world = await PortWorld.start(test, {}, port);
    world.world.publish('db', world.share());
    await world.eventually(() => world.ended.length === 1, 'the record of the failure');
    assert.equal(world.ended[0]?.failure?.code, 'port-closed');
    assert.match(world.ended[0]?.failure?.cause ?? '', new RegExp(`:${port} is taken`));
    const closed = once(other, 'close');
    other.close();
    await closed;
    world.time.advance(5_250);
    await world.eventually(() => world.gateway.stats().openPorts === 1, 'the port is open');
    assert.equal(world.ended.length, 1, 'the failure is reported once');
  });

  it('is shared by the workers of a gateway', async (test) => {
    const port = await freePort();
    for (const world of [
      await PortWorld.start(test, {}, port, true),
      await PortWorld.start(test, {}, port, true),
    ]) {
      world.world.publish('db', world.share());
      await world.opened();
      assert.deepEqual(world.ended, []);
    }
  });

  it('outside of the range of the operator stays closed', async (test) => {
    const world = await PortWorld.start(test);
    const outside = await freePort();
    const ingress = { kind: 'port' as const, port: outside, hosts: [] };
    world.world.publish('db', { hosts: [], ingress });
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    await assert.rejects(RawClient.connect(outside), { code: 'ECONNREFUSED' });
    assert.equal(world.gateway.stats().openPorts, 0);
  });

  it('takes as many connections as its limit', async (test) => {
    const world = await PortWorld.start(test, { maxStreamsPerShare: 1 });
    await world.serve();
    const first = await world.client();
    first.send('x');
    await first.until((text) => text === 'x');
    await world.refused();
    await world.eventually(() => world.ended.length === 1, 'the record of the refusal');
    assert.equal(world.ended[0]?.failure?.code, 'busy');
    first.close();
    await world.eventually(() => world.gateway.stats().streamConnections === 0, 'the first has left');
    const third = await world.client();
    third.send('z');
    await third.until((text) => text === 'z');
  });

  it('resets a client whose circuit cannot be made, with the reason in the record', async (test) => {
    const world = await PortWorld.start(test);
    await world.serve();
    world.world.world.dialer.refuse = new CircuitError('service-refused', 'service', 'connection refused');
    await world.refused();
    await world.eventually(() => world.ended.length === 1, 'the record of the failure');
    assert.deepEqual(
      [world.ended[0]?.failure?.code, world.ended[0]?.failure?.hop],
      ['service-refused', 'service'],
    );
  });

  it('ends a connection on which nothing moves', async (test) => {
    const world = await PortWorld.start(test);
    await world.serve(undefined, { upstream: { idleMs: 60_000 } });
    const client = await world.client();
    client.send('x');
    await client.until((text) => text === 'x');
    for (let passed = 0; passed < 61_000; passed += 500) world.time.advance(500);
    await isReset(client);
    assert.equal(world.ended[0]?.failure?.code, 'stream-idle');
  });
});
