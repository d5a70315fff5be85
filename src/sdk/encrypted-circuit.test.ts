// Circuits between two clients whose router reads along, changes messages or keys, or knows no keys.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it, type TestContext } from 'node:test';
import { silentLog } from '#base';
import { openMemoryChannel, type Channel, type ChannelPeer } from '#net/channel';
import { contentType, FrameHeaders, HeaderWriter, headerId, makeFrame, textOfBody, type Frame } from '#wire';
import {
  PAYLOAD_TYPE,
  STREAM_HEADER_BYTES,
  STREAM_OVERHEAD_BYTES,
  type DataFrame,
  type PayloadFrame,
} from '#wire/xgress';
import { until, within } from '../../test/support/deadline.ts';
import type { Circuit, CircuitError } from './circuit.ts';
import { EdgeChannel } from './edge-channel.ts';
import type { HostEncryption, IncomingDial } from './hosted-service.ts';

const { edge } = headerId;
const CIRCUIT_ID = 'circuit';
const TEXT = Buffer.from('a text that nobody on the way should read');

interface Outcome {
  readonly dialed: Circuit;
  readonly hosted: Circuit;
}

/** A router with one dialer and one host, which forwards every frame of their circuit. */
class ReadingRouter {
  readonly dialer: EdgeChannel;
  readonly host: EdgeChannel;
  /** The payloads with data that it forwarded, those of the dialer first. */
  readonly payloads = { fromDialer: [] as Uint8Array[], fromHost: [] as Uint8Array[] };
  readonly forwarded: PayloadFrame[] = [];
  readonly offeredKeys: string[] = [];
  keepsDialerKey = true;
  keepsHostKey = true;
  change: (payload: PayloadFrame, isFromHost: boolean) => void = () => {};
  onDial: (incoming: IncomingDial) => void = () => {};
  readonly #toDialer: Channel;
  readonly #toHost: Channel;
  #hostKey: Uint8Array | undefined;
  #bindConnId = 0;

  constructor(t: TestContext) {
    const peer = (id: string): ChannelPeer => ({
      id,
      hello: FrameHeaders.empty,
      fingerprint: 'ff',
      address: 'memory',
    });
    const pair = (id: string): [Channel, Channel] =>
      openMemoryChannel(
        { id: 'x', log: silentLog, peer: peer('router') },
        { id: 'x', log: silentLog, peer: peer(id) },
      );
    const [dialerEnd, toDialer] = pair('dialer');
    const [hostEnd, toHost] = pair('host');
    this.#toDialer = toDialer;
    this.#toHost = toHost;
    toDialer.handle({
      onFrame: (frame) => {
        if (frame.contentType === contentType.connect) void this.#connect(frame);
      },
      onData: (frame) => this.#forward(frame, toHost, false),
    });
    toHost.handle({
      onFrame: (frame) => {
        if (frame.contentType === contentType.bind) this.#accept(frame);
      },
      onData: (frame) => this.#forward(frame, toDialer, true),
    });
    const options = { hasOtherWay: () => false, onClosed: () => {} };
    this.dialer = new EdgeChannel(dialerEnd, silentLog, options);
    this.host = new EdgeChannel(hostEnd, silentLog, options);
    t.after(() => {
      this.dialer.close('test over');
      this.host.close('test over');
    });
  }

  async bind(encryption: HostEncryption | undefined = 'offered'): Promise<void> {
    const bind = {
      token: 'bind',
      serviceId: 'service',
      encryption,
      onDial: (incoming: IncomingDial) => this.onDial(incoming),
      onEstablished: () => {},
      onClosed: () => {},
    };
    await this.host.bind(bind, 'listener', false);
  }

  async dial(isEncryptionRequired = false): Promise<Outcome> {
    let hosted: Circuit | undefined;
    this.onDial = (incoming) => {
      hosted = incoming.accept();
    };
    const dialed = await this.dialer.dial({
      token: 'dial',
      callerId: 'me',
      timeoutMs: 5_000,
      isEncryptionRequired,
    });
    return { dialed, hosted: hosted! };
  }

  #accept(bind: Frame): void {
    this.#bindConnId = bind.headers.u32(edge.connId)!;
    this.#hostKey = bind.headers.bytes(edge.publicKey)?.slice();
    const headers = new HeaderWriter().u32(edge.connId, this.#bindConnId);
    this.#toHost.reply(bind, makeFrame(contentType.stateConnected, { headers }));
  }

  async #connect(connect: Frame): Promise<void> {
    const offer = new HeaderWriter()
      .u32(edge.connId, this.#bindConnId)
      .u32(edge.routerProvidedConnId, 0x8000_0000)
      .text(edge.circuitId, CIRCUIT_ID)
      .bool(edge.useXgressToSdk, true);
    const dialerKey = connect.headers.bytes(edge.publicKey);
    this.offeredKeys.push(Buffer.from(dialerKey!).toString('hex'));
    if (this.keepsDialerKey && dialerKey !== undefined) offer.bytes(edge.publicKey, dialerKey);
    const dial = makeFrame(contentType.dial, { headers: offer, body: 'bind' });
    const answer = await this.#toHost.request(dial, 5_000);
    const headers = new HeaderWriter().u32(edge.connId, connect.headers.u32(edge.connId)!);
    if (answer.contentType !== contentType.dialSuccess) {
      const body = textOfBody(answer);
      this.#toDialer.reply(connect, makeFrame(contentType.stateClosed, { headers, body }));
      return;
    }
    headers.text(edge.circuitId, CIRCUIT_ID).bool(edge.useXgressToSdk, true);
    if (this.keepsHostKey && this.#hostKey !== undefined) headers.bytes(edge.publicKey, this.#hostKey);
    this.#toDialer.reply(connect, makeFrame(contentType.stateConnected, { headers }));
  }

  #forward(frame: DataFrame, to: Channel, isFromHost: boolean): void {
    if (frame.contentType === PAYLOAD_TYPE && frame.data.length > 0) {
      this.payloads[isFromHost ? 'fromHost' : 'fromDialer'].push(frame.data.slice());
      this.change(frame, isFromHost);
    }
    to.sendData(frame);
    if (frame.contentType === PAYLOAD_TYPE && frame.data.length > 0) this.forwarded.push(frame);
  }
}

class Reader {
  readonly parts: Uint8Array[] = [];
  hasEnded = false;
  readonly closed: Promise<CircuitError | undefined>;

  constructor(circuit: Circuit) {
    circuit.onData = (view) => void this.parts.push(view);
    circuit.onEnd = () => {
      this.hasEnded = true;
    };
    this.closed = new Promise((resolve) => {
      circuit.onClose = resolve;
    });
    circuit.resume();
  }

  get text(): Buffer {
    return Buffer.concat(this.parts);
  }
}

async function untilEnded(reader: Reader): Promise<void> {
  await until(
    'the end of the stream',
    () => reader.hasEnded,
    (hasEnded) => hasEnded,
  );
}

describe('a circuit between two clients', () => {
  it('carries nothing that its router can read, both ways, and ends each way for itself', async (t) => {
    const router = new ReadingRouter(t);
    await router.bind();
    const { dialed, hosted } = await router.dial();
    const [atDialer, atHost] = [new Reader(dialed), new Reader(hosted)];
    dialed.write(TEXT);
    dialed.end();
    await untilEnded(atHost);
    assert.deepEqual(atHost.text, TEXT);
    assert.equal(atDialer.hasEnded, false);
    const sent = randomBytes(300_001);
    hosted.write(sent);
    hosted.end();
    await untilEnded(atDialer);
    assert.ok(atDialer.text.equals(sent));
    assert.deepEqual(await within('both ends', Promise.all([atDialer.closed, atHost.closed])), [
      undefined,
      undefined,
    ]);
    const { fromDialer, fromHost } = router.payloads;
    for (const payloads of [fromDialer, fromHost]) assert.equal(payloads[0]!.length, STREAM_HEADER_BYTES);
    assert.equal(fromDialer[1]!.length, TEXT.length + STREAM_OVERHEAD_BYTES);
    const seen = Buffer.concat([...fromDialer, ...fromHost]);
    assert.equal(seen.includes('nobody'), false);
    assert.equal(seen.includes(sent.subarray(100, 120)), false);
  });

  it('needs no received payload now once it is opened, and keeps those in clear', async (t) => {
    for (const isClear of [false, true]) {
      const router = new ReadingRouter(t);
      router.keepsDialerKey = router.keepsHostKey = !isClear;
      await router.bind();
      const { dialed, hosted } = await router.dial();
      const atHost = new Reader(hosted);
      dialed.write(TEXT);
      await until(
        'the first text',
        () => atHost.text.length,
        (bytes) => bytes === TEXT.length,
      );
      // Payloads that arrived before the reader was ready were kept.
      router.forwarded.length = 0;
      dialed.write(randomBytes(100_000));
      dialed.end();
      await untilEnded(atHost);
      assert.ok(router.forwarded.length > 3);
      assert.ok(router.forwarded.every(({ isSpent }) => isSpent === !isClear));
      hosted.end();
    }
  });

  it('breaks at the first message that was changed, and delivers nothing of it', async (t) => {
    const router = new ReadingRouter(t);
    await router.bind();
    const { dialed, hosted } = await router.dial();
    const atHost = new Reader(hosted);
    let count = 0;
    router.change = (payload, isFromHost) => {
      if (isFromHost || payload.data.length === STREAM_HEADER_BYTES) return;
      count += 1;
      if (count !== 2) return;
      payload.data = payload.data.slice();
      payload.data[5]! ^= 1;
    };
    dialed.write(TEXT);
    dialed.write(TEXT);
    dialed.write(TEXT);
    const error = await within('the circuit to break', atHost.closed);
    assert.match(error!.message, /changed on its way/);
    assert.deepEqual(atHost.text, TEXT);
  });

  it('breaks when messages are exchanged, and when one is sent again in the place of another', async (t) => {
    for (const isRepeated of [true, false]) {
      const router = new ReadingRouter(t);
      await router.bind();
      const { dialed, hosted } = await router.dial();
      const atHost = new Reader(hosted);
      const seen: Uint8Array[] = [];
      router.change = (payload, isFromHost) => {
        if (isFromHost || payload.data.length === STREAM_HEADER_BYTES) return;
        seen.push(payload.data.slice());
        if (seen.length === 2) payload.data = isRepeated ? seen[0]! : new Uint8Array(seen[1]!.length);
      };
      dialed.write(TEXT);
      dialed.write(TEXT);
      assert.match((await within('the circuit to break', atHost.closed))!.message, /out of turn/);
      assert.deepEqual(atHost.text, TEXT);
    }
  });

  it('is in clear if the host or the dialer has no key, and none requires one', async (t) => {
    const router = new ReadingRouter(t);
    router.keepsDialerKey = false;
    router.keepsHostKey = false;
    await router.bind();
    const { dialed, hosted } = await router.dial();
    const [atDialer, atHost] = [new Reader(dialed), new Reader(hosted)];
    dialed.write(TEXT);
    dialed.end();
    hosted.write(TEXT);
    hosted.end();
    await untilEnded(atHost);
    await untilEnded(atDialer);
    assert.deepEqual([atHost.text, atDialer.text], [TEXT, TEXT]);
    assert.deepEqual(Buffer.from(router.payloads.fromDialer[0]!), TEXT);
  });

  it('offers the key of a circuit in clear again, but not for a dial that requires encryption', async (t) => {
    const router = new ReadingRouter(t);
    await router.bind();
    router.keepsHostKey = router.keepsDialerKey = false;
    await router.dial();
    await router.dial();
    router.keepsHostKey = router.keepsDialerKey = true;
    await router.dial(true);
    await router.dial();
    await router.dial();
    const [first, second, required, third, fourth] = router.offeredKeys;
    assert.deepEqual([second, third], [first, first]);
    assert.equal(new Set([first, required, fourth]).size, 3);
  });

  it('carries each datagram as one message, sealed or in clear', async (t) => {
    for (const isClear of [false, true]) {
      const router = new ReadingRouter(t);
      router.keepsDialerKey = router.keepsHostKey = !isClear;
      await router.bind();
      const { dialed, hosted } = await router.dial();
      const atHost = new Reader(hosted);
      const datagrams = [1, 1_472, 20_001, 65_507].map((bytes) => randomBytes(bytes));
      for (const datagram of datagrams) dialed.writeMessage(datagram);
      dialed.end();
      await untilEnded(atHost);
      assert.deepEqual(
        atHost.parts.map((part) => Buffer.from(part)),
        datagrams,
      );
      hosted.end();
    }
  });

  it('is refused for that reason if an end requires a key and the other has none', async (t) => {
    const router = new ReadingRouter(t);
    router.keepsDialerKey = false;
    await router.bind('required');
    await assert.rejects(router.dial(), /requires end-to-end encryption, and the dialer sent no key/);
    router.keepsDialerKey = true;
    router.keepsHostKey = false;
    await assert.rejects(router.dial(true), /the host has no key for end-to-end encryption/);
    router.keepsHostKey = true;
    const { hosted } = await router.dial(true);
    assert.equal(hosted.id, CIRCUIT_ID);
  });
});
