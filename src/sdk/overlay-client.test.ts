// Which router a dial goes through, and through which one it goes next.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, mock, test } from 'node:test';
import { FrontdoorError, silentLog } from '#base';
import { openMemoryChannel, type Channel, type ChannelPeer } from '#net/channel';
import type { FrameHeaders } from '#wire';
import { contentType, HeaderWriter, headerId, makeFrame, ownRelease } from '#wire';
import { EdgeErrorCode } from '#wire/circuits';
import { PAYLOAD_FLAGS, PayloadFrame } from '#wire/xgress';
import { until } from '../../test/support/deadline.ts';
import type { EdgeApiClient } from './edge-api-client.ts';
import { OverlayClient } from './overlay-client.ts';

const { edge } = headerId;
const SESSION = { id: 'api', token: 'token', identityId: 'me', expiresAt: '' };

/** More than any round trip here, so that the other router comes first. */
const DISTANT = 10_000;
/** At least the interval at which a client asks for the list of routers. */
const POLL_MS = 10_000;
/** More than the time for which an idle channel of a router that is not listed is kept. */
const SOME_MINUTES_MS = 600_000;

class ScriptedRouter {
  readonly name: string;
  readonly tokens: string[] = [];
  /** Error code of its refusals; undefined: it grants. */
  refusal: number | undefined;
  channel: Channel | undefined;
  /** What the control plane lists. */
  cost = 0;
  /** Whether the control plane lists it. */
  isListed = true;
  /** False: it leaves everything unread that comes over its next channel, so that no probe has an answer. */
  isReading = true;
  hello: FrameHeaders | undefined;

  constructor(name: string) {
    this.name = name;
  }

  open(hello: FrameHeaders): Channel {
    this.hello = hello;
    const peer = (id: string): ChannelPeer => ({ id, hello, fingerprint: '', address: id });
    const ends = (id: string) => ({ id: 'x', log: silentLog, peer: peer(id) });
    const [dialer, listener] = openMemoryChannel(ends(this.name), ends('sdk'));
    this.channel = listener;
    if (!this.isReading) listener.pauseReading();
    listener.handle({
      onFrame: (frame, channel) => {
        if (frame.contentType !== contentType.connect) return;
        this.tokens.push(Buffer.from(frame.body).toString());
        const headers = new HeaderWriter().u32(edge.connId, frame.headers.u32(edge.connId)!);
        if (this.refusal !== undefined) {
          headers.u32(edge.errorCode, this.refusal);
          channel.reply(frame, makeFrame(contentType.stateClosed, { headers, body: 'refused' }));
          return;
        }
        headers.text(edge.circuitId, `${this.name}-${this.tokens.length}`).bool(edge.useXgressToSdk, true);
        channel.reply(frame, makeFrame(contentType.stateConnected, { headers }));
      },
      onData: () => {},
    });
    return dialer;
  }
}

describe('a dial', () => {
  const routers = { r1: new ScriptedRouter('r1'), r2: new ScriptedRouter('r2') };
  let client: OverlayClient;
  let sessionFailure: FrontdoorError | undefined;
  let sessionCount = 0;

  beforeEach(async () => {
    Object.assign(routers, { r1: new ScriptedRouter('r1'), r2: new ScriptedRouter('r2') });
    routers.r2.cost = DISTANT;
    sessionFailure = undefined;
    await connect();
  });
  afterEach(() => client.close());

  async function connect(): Promise<void> {
    const api = {
      identity: { certPem: '' },
      onSession: () => {},
      session: async () => SESSION,
      checkSession: async () => {},
      edgeRouters: async () =>
        Object.values(routers)
          .filter(({ isListed }) => isListed)
          .map(({ name, cost }) => ({ name, isOnline: true, cost, tlsUrl: `tls://${name}:1` })),
      createSession: async (serviceId: string) => {
        if (sessionFailure !== undefined) throw sessionFailure;
        return {
          id: serviceId,
          token: `session-${(sessionCount += 1)}`,
          serviceId,
          type: 'Dial',
          routers: [],
        };
      },
    };
    client = new OverlayClient({
      api: api as unknown as EdgeApiClient,
      log: silentLog,
      name: 'sdk',
      openChannel: async (name, _id, hello) => routers[name as 'r1' | 'r2'].open(hello),
    });
    await until(
      'both routers',
      () => Object.values(routers).filter(({ channel }) => channel !== undefined).length,
      (count) => count === 2,
    );
  }

  test('goes through the router with the lowest cost, and through a measured one before others', async () => {
    client.close();
    Object.assign(routers, { r1: new ScriptedRouter('r1'), r2: new ScriptedRouter('r2') });
    routers.r1.cost = DISTANT;
    await connect();
    assert.match((await client.dial('service', 5_000)).id, /^r2-/);
    client.close();
    Object.assign(routers, { r1: new ScriptedRouter('r1'), r2: new ScriptedRouter('r2') });
    routers.r1.isReading = false;
    await connect();
    assert.match((await client.dial('service', 5_000)).id, /^r2-/);
    routers.r2.channel!.close('gone');
    routers.r1.channel!.resumeReading();
    assert.match((await client.dial('service', 5_000)).id, /^r1-/);
  });

  test('goes through another router within the same call when the first has no controller or no path', async () => {
    for (const refusal of [EdgeErrorCode.noController, EdgeErrorCode.invalidTerminator]) {
      routers.r1.refusal = refusal;
      assert.match((await client.dial('service', 5_000)).id, /^r2-/);
    }
    routers.r2.refusal = EdgeErrorCode.noController;
    routers.r1.refusal = EdgeErrorCode.noController;
    await assert.rejects(client.dial('service', 5_000), { code: 'control-away', hop: 'control' });
  });

  test('leaves a router that stops at once, and with it the circuits that are kept, while there is another', async () => {
    assert.equal(ownRelease(routers.r1.hello!.text(headerId.channel.helloVersion)), '');
    const kept = await client.dial('service', 5_000);
    assert.match(kept.id, /^r1-/);
    assert.equal(kept.isLeaving, false);
    routers.r1.channel!.send(makeFrame(contentType.stopping));
    await until(
      'it leaves',
      () => kept.isLeaving,
      (isLeaving) => isLeaving === true,
    );
    const next = await client.dial('service', 5_000);
    assert.match(next.id, /^r2-/);
    assert.equal(next.isLeaving, false);
    routers.r2.channel!.close('gone');
    await until(
      'there is no other way',
      () => kept.isLeaving,
      (isLeaving) => isLeaving === false,
    );
    assert.match((await client.dial('service', 5_000)).id, /^r1-/);
  });

  test('leaves circuits whose far end stops', async () => {
    const [first, second] = [await client.dial('service', 5_000), await client.dial('service', 5_000)];
    routers.r1.channel!.send(makeFrame(contentType.circuitsLeaving, { body: `other\n${first.id}` }));
    await until(
      'it leaves',
      () => first.isLeaving,
      (isLeaving) => isLeaving === true,
    );
    assert.equal(second.isLeaving, false);
  });

  test('distinguishes a control plane that is away from one that refuses', async () => {
    sessionFailure = new FrontdoorError('unavailable', 'unreachable', 'cannot be reached');
    await assert.rejects(client.dial('service', 5_000), { code: 'control-away', hop: 'control' });
    sessionFailure = new FrontdoorError('notFound', 'http-404', 'no such service');
    await assert.rejects(client.dial('service', 5_000), { code: 'not-authorized' });
  });

  test('keeps the channel of a router that is not listed while it is up, and closes it minutes later once it is idle', async (t) => {
    client.close();
    mock.timers.enable({ apis: ['setTimeout'] });
    t.after(() => mock.timers.reset());
    Object.assign(routers, { r1: new ScriptedRouter('r1'), r2: new ScriptedRouter('r2') });
    routers.r2.cost = DISTANT;
    await connect();
    const circuit = await client.dial('service', 5_000);
    const received: string[] = [];
    circuit.onData = (data) => void received.push(Buffer.from(data).toString());
    circuit.resume();
    const { channel } = routers.r1;
    const poll = async (): Promise<void> => {
      mock.timers.tick(POLL_MS);
      for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
    };
    routers.r1.isListed = false;
    for (let polls = 0; polls < 3; polls += 1) await poll();
    channel!.sendData(new PayloadFrame(circuit.id, 0, PAYLOAD_FLAGS.originator, Buffer.from('continues')));
    await until(
      'bytes arrive',
      () => received.join(''),
      (text) => text === 'continues',
    );
    const startMs = performance.now();
    mock.method(performance, 'now', () => startMs + SOME_MINUTES_MS);
    t.after(() => mock.restoreAll());
    await poll();
    assert.equal(channel!.isClosed, false);
    circuit.destroy('over');
    await poll();
    assert.equal(channel!.isClosed, true);
    assert.match((await client.dial('service', 5_000)).id, /^r2-/);
  });
});
