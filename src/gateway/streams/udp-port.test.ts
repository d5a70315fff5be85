import assert from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import { describe, it, type TestContext } from 'node:test';
import { CircuitError, type Circuit } from '#sdk';
import type { GatewayShare } from '#domain/gateway-shapes';
import { within } from '../../../test/support/deadline.ts';
import { freePort } from '../../../test/support/free-port.ts';
import type { CircuitDialer } from '../circuits/circuit-dialer.ts';
import type { RequestRecord } from '../exchange/request-record.ts';
import type { GatewayLimits } from '../limits/gateway-limits.ts';
import { AccessWorld, providerOf, rulesOf } from '../testing/access-world.ts';
import { shareOf } from '../testing/gateway-world.ts';
import { ManualTime } from '../testing/manual-time.ts';

/** A circuit to a service of datagrams, which `answers` is. */
class DatagramCircuit implements Circuit {
  readonly id = 'circuit';
  onData: Circuit['onData'] = () => {};
  onEnd: Circuit['onEnd'] = () => {};
  onDrain: Circuit['onDrain'] = () => {};
  onClose: Circuit['onClose'] = () => {};
  isDestroyed = false;
  readonly #answers: (datagram: string) => readonly string[];

  constructor(answers: (datagram: string) => readonly string[]) {
    this.#answers = answers;
  }

  writeMessage(datagram: Uint8Array): boolean {
    for (const answer of this.#answers(Buffer.from(datagram).toString())) this.onData(Buffer.from(answer));
    return true;
  }

  write(): never {
    throw new Error('datagrams are messages');
  }

  writeLent(): never {
    throw new Error('datagrams are messages');
  }

  end(): void {
    this.onEnd();
  }

  destroy(): void {
    this.isDestroyed = true;
  }

  pause(): void {}

  resume(): void {}
}

class UdpWorld {
  readonly world: AccessWorld;
  readonly time: ManualTime;
  readonly port: number;
  readonly circuits: DatagramCircuit[];
  readonly ended: { readonly record: RequestRecord; readonly code: string | undefined }[];
  answers: (datagram: string) => readonly string[] = (datagram) => [datagram];

  private constructor(
    world: AccessWorld,
    time: ManualTime,
    port: number,
    kept: Pick<UdpWorld, 'circuits' | 'ended'>,
  ) {
    this.world = world;
    this.time = time;
    this.port = port;
    this.circuits = kept.circuits;
    this.ended = kept.ended;
  }

  static async start(test: TestContext, limits: Partial<GatewayLimits> = {}): Promise<UdpWorld> {
    const time = new ManualTime();
    const port = await freePort();
    const kept: Pick<UdpWorld, 'circuits' | 'ended'> = { circuits: [], ended: [] };
    const own: { udp?: UdpWorld } = {};
    const dialer: CircuitDialer = {
      dial: () => {
        const circuit = new DatagramCircuit((datagram) => own.udp!.answers(datagram));
        kept.circuits.push(circuit);
        return Promise.resolve(circuit);
      },
    };
    const world = await AccessWorld.start({}, {}, time, {
      ports: { udp: { host: '127.0.0.1', range: { first: port, last: port }, isShared: false } },
      dialer,
      limits,
      observer: {
        ...{ began() {}, refused() {}, flush() {} },
        served: (record) => void kept.ended.push({ record, code: undefined }),
        gone: (record) => void kept.ended.push({ record, code: undefined }),
        failed: (record, { code }) => void kept.ended.push({ record, code }),
      },
    });
    test.after(() => world.close());
    own.udp = new UdpWorld(world, time, port, kept);
    return own.udp;
  }

  async serve(more: Partial<GatewayShare> = {}): Promise<void> {
    this.publish(more);
    await this.eventually(() => this.world.world.gateway.stats().openPorts === 1, 'the port is open');
  }

  publish(more: Partial<GatewayShare>): void {
    const ingress = { kind: 'udp-port', port: this.port, hosts: ['names.share.localhost'] } as const;
    this.world.publish('names', { hosts: [], ingress, ...more });
  }

  eventually(test: () => boolean, what: string): Promise<void> {
    return this.world.world.eventually(test, what);
  }
}

class Source {
  readonly received: string[] = [];
  readonly #socket: Socket;
  readonly #port: number;

  private constructor(socket: Socket, port: number) {
    this.#socket = socket;
    this.#port = port;
    socket.on('message', (datagram) => this.received.push(datagram.toString()));
  }

  static async open(test: TestContext, port: number, address = '127.0.0.1'): Promise<Source> {
    const socket = createSocket('udp4');
    await new Promise<void>((resolve) => socket.bind(0, address, resolve));
    test.after(() => void socket.close());
    return new Source(socket, port);
  }

  async send(text: string): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#socket.send(text, this.#port, '127.0.0.1', (error) => (error === null ? resolve() : reject(error)));
    await within('the datagram', promise);
  }
}

describe('the port of a share of datagrams', () => {
  it('carries each datagram whole, and gives each source a circuit of its own', async (test) => {
    const world = await UdpWorld.start(test);
    await world.serve();
    const [one, two] = [await Source.open(test, world.port), await Source.open(test, world.port)];
    const large = 'x'.repeat(60_000);
    await one.send('one');
    await two.send(large);
    await world.eventually(() => one.received.length === 1 && two.received.length === 1, 'both answers');
    assert.deepEqual([one.received, two.received], [['one'], [large]]);
    assert.equal(world.circuits.length, 2);
    await one.send('again');
    await world.eventually(() => one.received.length === 2, 'the second answer');
    assert.equal(world.circuits.length, 2);
  });

  it('sends a source no more datagrams than it sent, until it sends again after an answer', async (test) => {
    const world = await UdpWorld.start(test);
    world.answers = (datagram) => [`${datagram}1`, `${datagram}2`, `${datagram}3`];
    await world.serve();
    const source = await Source.open(test, world.port);
    await source.send('a');
    await world.eventually(() => source.received.length === 1, 'the answer');
    await source.send('b');
    await world.eventually(() => source.received.length === 4, 'the answers');
    assert.deepEqual(source.received, ['a1', 'b1', 'b2', 'b3']);
  });

  it('dials nothing for an address that the rules forbid', async (test) => {
    const world = await UdpWorld.start(test);
    await world.serve({ rules: rulesOf({ ip: { allow: ['192.0.2.0/24'], deny: [] } }) });
    await (await Source.open(test, world.port)).send('a');
    await world.eventually(() => world.ended.length === 1, 'the record of the refusal');
    assert.deepEqual(
      [world.ended[0]?.code, world.ended[0]?.record.method, world.circuits.length],
      ['address-not-allowed', 'UDP', 0],
    );
  });

  for (const [what, more] of Object.entries({
    'a network is denied': { rules: rulesOf({ ip: { allow: [], deny: ['127.0.0.1'] } }) },
    'it gets a provider': { authProviderIds: ['p'] },
  }))
    it(`is cut within two seconds when ${what}`, async (test) => {
      const world = await UdpWorld.start(test);
      world.world.setProviders(providerOf('p'));
      await world.serve();
      const source = await Source.open(test, world.port);
      await source.send('a');
      await world.eventually(() => source.received.length === 1, 'the answer');
      world.publish({ ...more, updatedAtMs: 2 });
      world.time.advance(2_000);
      assert.equal(world.circuits[0]?.isDestroyed, true);
      assert.equal(world.ended.length, 1);
    });

  it('ends with the share', async (test) => {
    const world = await UdpWorld.start(test);
    await world.serve();
    const source = await Source.open(test, world.port);
    await source.send('a');
    await world.eventually(() => source.received.length === 1, 'the answer');
    const { gateway } = world.world.world;
    gateway.table.change([], [shareOf('names').id]);
    assert.equal(world.ended[0]?.code, 'withdrawn');
    assert.equal(world.circuits[0]?.isDestroyed, true);
    await world.eventually(() => gateway.stats().openPorts === 0, 'the port is closed');
  });

  it('ends a flow with its circuit, and a source that sends again gets another', async (test) => {
    const world = await UdpWorld.start(test);
    await world.serve();
    const { gateway } = world.world.world;
    const source = await Source.open(test, world.port);
    await source.send('a');
    await world.eventually(() => source.received.length === 1, 'the answer');
    world.circuits[0]!.onClose(new CircuitError('circuit-closed', 'service', 'the service has gone'));
    await world.eventually(() => gateway.stats().openCircuits === 0, 'no circuit is counted');
    assert.equal(world.ended[0]?.code, 'circuit-closed');
    await world.eventually(() => gateway.stats().streamConnections === 0, 'the flow has ended');
    await source.send('b');
    await world.eventually(() => source.received.length === 2, 'the answer over another circuit');
    assert.equal(world.circuits.length, 2);
  });

  it('serves others while a forbidden address sends from many ports', async (test) => {
    const world = await UdpWorld.start(test, { maxStreamsPerShare: 4 });
    await world.serve({ rules: rulesOf({ ip: { allow: ['127.0.0.1'], deny: [] } }) });
    for (let i = 0; i < 6; i += 1) {
      const forbidden = await Source.open(test, world.port, '127.0.0.2');
      await forbidden.send('a');
    }
    await world.eventually(() => world.ended.length >= 4, 'the forbidden address is refused');
    const allowed = await Source.open(test, world.port);
    await allowed.send('b');
    await world.eventually(() => allowed.received.length === 1, 'another address is served');
  });

  it('bounds the flows of all sources, and of one address', async (test) => {
    const world = await UdpWorld.start(test, { maxConnectionsPerAddress: 2 });
    await world.serve();
    const sources = await Promise.all([1, 2, 3].map(() => Source.open(test, world.port)));
    for (const [nth, source] of sources.entries()) {
      await source.send('a');
      if (nth < 2) await world.eventually(() => source.received.length === 1, 'the answer');
    }
    const { gateway } = world.world.world;
    await world.eventually(
      () => world.world.records.some(({ message }) => message === 'connection refused'),
      'the refusal',
    );
    assert.deepEqual([world.circuits.length, gateway.stats().streamConnections], [2, 2]);
  });
});
