// An edge listener in a router that was started from its configuration file: which connections wait and for how long,
// and which requests of its peers wait for controllers.
import assert from 'node:assert/strict';
import { createHash, X509Certificate } from 'node:crypto';
import { test, type TestContext } from 'node:test';
import {
  CHANNEL_HEADERS,
  contentType,
  HeaderWriter,
  headerId,
  LATENCY_TYPE,
  makeFrame,
  RESULT_TYPE,
} from '#wire';
import { CreateTerminatorResult, ctrlMessages } from '#wire/ctrl';
import { until, within } from '../support/deadline.ts';
import { RouterStage, type Sections } from '../support/router-stage.ts';
import type { ScriptedController } from '../support/scripted-controller.ts';
import { edgeHelloHeaders, WirePeer } from '../support/wire-peer.ts';

interface Edge {
  readonly controller: ScriptedController;
  /** A connection whose hello is not sent yet. */
  connect(): Promise<WirePeer>;
  /** The controller announces a session to which connections from here belong. */
  announce(token: string): void;
}

async function open(t: TestContext, options: Sections, more: Sections = {}): Promise<Edge> {
  const stage = await RouterStage.open(t);
  const controller = await stage.controller();
  const sections = {
    edge: { csr: { sans: { dns: ['localhost'] } } },
    listeners: [
      { binding: 'edge', address: 'tls:127.0.0.1:0', options: { advertise: 'localhost:1', ...options } },
    ],
  };
  const router = await stage.start([controller], { ...sections, ...more });
  await controller.connected();
  const credentials = await stage.authority.issue('sdk');
  const fingerprint = createHash('sha1').update(new X509Certificate(credentials.cert).raw).digest('hex');
  return {
    controller,
    connect: async () => {
      const peer = await WirePeer.open({ port: router.edgePort, alpn: 'ziti-edge', credentials });
      stage.onClose(() => peer.close());
      return peer;
    },
    announce: (token) => {
      const session = { token, certFingerprints: [fingerprint], id: `id of ${token}`, identityId: 'i1' };
      controller.send(ctrlMessages.apiSessionAdded.frame({ isFullState: false, apiSessions: [session] }));
    },
  };
}

const CONNECTIONS = 5;

/**
 * Opens connections, none of which sends its hello yet. Returns which of them are closed, and whether the others are
 * answered.
 */
async function assertRoomFor(edge: Edge, count: number): Promise<void> {
  edge.announce('token');
  const peers: WirePeer[] = [];
  for (let each = 0; each < CONNECTIONS; each += 1) peers.push(await edge.connect());
  const stays = peers.splice(CONNECTIONS - count);
  for (const oldest of peers) await oldest.closed();
  const answers = await Promise.all(stays.map((peer) => peer.hello('sdk', edgeHelloHeaders('token'))));
  assert.deepEqual(
    answers.map((answer) => answer?.contentType),
    Array.from({ length: count }, () => RESULT_TYPE),
  );
  for (const peer of stays) assert.equal((await peer.ask(makeFrame(LATENCY_TYPE))).contentType, RESULT_TYPE);
}

test('maxOutstandingConnects connections may have sent no hello, maxQueuedConnects wait behind them, and further ones replace the oldest', async (t) => {
  const connectTimeout = '60s';
  const rooms = [
    [{ maxOutstandingConnects: 1, maxQueuedConnects: 1 }, 2],
    [{ maxOutstandingConnects: 1, maxQueuedConnects: 4 }, 5],
    [{ maxOutstandingConnects: 3, maxQueuedConnects: 1 }, 4],
  ] as const;
  for (const [options, count] of rooms) {
    const edge = await open(t, { ...options, connectTimeout });
    // The oldest also gives way to a connection that has waited for a second; no second passes here.
    t.mock.timers.enable({ apis: ['setTimeout'] });
    try {
      await assertRoomFor(edge, count);
    } finally {
      t.mock.timers.reset();
    }
  }
});

test('lookupApiSessionTimeout is how long the router waits for a session that no controller has announced yet', async (t) => {
  const short = await open(t, { lookupApiSessionTimeout: '200ms' });
  const refused = await short.connect();
  const startedMs = performance.now();
  // By itself it is 5 s.
  const refusal = within('a refusal', refused.hello('sdk', edgeHelloHeaders('late')), 4_900);
  assert.notEqual((await refusal)?.headers.bool(CHANNEL_HEADERS.resultSuccess), true);
  const tookMs = performance.now() - startedMs;
  assert.ok(tookMs >= 190, `${tookMs} ms`);

  const long = await open(t, { lookupApiSessionTimeout: '30s' });
  const peer = await long.connect();
  const hello = peer.hello('sdk', edgeHelloHeaders('late'));
  long.announce('late');
  assert.equal((await hello)?.headers.bool(CHANNEL_HEADERS.resultSuccess), true);
  await until(
    'the channel',
    () => peer.isClosed,
    (it) => !it,
  );
});

/** A peer that hosts so many services at once; resolves when the router has taken all of them up. */
async function host({ connect, announce }: Edge, count: number): Promise<void> {
  announce('token');
  const peer = await connect();
  await peer.hello('sdk', edgeHelloHeaders('token'));
  for (let connId = 1; connId <= count; connId += 1) {
    const headers = new HeaderWriter().u32(headerId.edge.connId, connId);
    await peer.ask(makeFrame(contentType.bind, { headers, body: 'session' }));
  }
}

/** The ids of the terminators that the controller was asked for, and that no test has taken yet. */
async function asked({ controller }: Edge): Promise<string[]> {
  const channel = await controller.connected();
  await channel.request(ctrlMessages.inspectRequest.frame({ requestedValues: ['nothing'] }), 30_000);
  const { createTerminatorV2 } = ctrlMessages;
  return controller.frames
    .filter((frame) => frame.contentType === createTerminatorV2.contentType)
    .map((frame) => createTerminatorV2.decode(frame.body).address);
}

async function untilAsked(edge: Edge, count: number): Promise<string[]> {
  const { value } = await until(
    `${count} terminators asked for`,
    () => asked(edge),
    ({ length }) => length === count,
  );
  return value;
}

async function grant({ controller }: Edge): Promise<void> {
  const { address } = await controller.next('createTerminatorV2');
  const result = CreateTerminatorResult.SUCCESS;
  controller.send(ctrlMessages.createTerminatorV2Response.frame({ terminatorId: address, result }));
}

test('rateLimitedWorkerCount terminators are asked for at once, rateLimitedQueueLength wait, one more comes later', async (t) => {
  const ctrl = { defaultRequestTimeout: '60s' };
  const narrow = { rateLimitedWorkerCount: 1, rateLimitedQueueLength: 1 };
  const edge = await open(t, {}, { forwarder: narrow, ctrl });
  await host(edge, 3);
  assert.equal((await asked(edge)).length, 1);
  await grant(edge);
  await untilAsked(edge, 1);
  await grant(edge);
  assert.equal((await asked(edge)).length, 0);
  await untilAsked(edge, 1);

  const wide = await open(t, {}, { forwarder: { rateLimitedWorkerCount: 2 }, ctrl });
  await host(wide, 3);
  assert.equal((await asked(wide)).length, 2);
  await grant(wide);
  await untilAsked(wide, 2);
});

test('a controller that does not answer within ctrl.defaultRequestTimeout is asked again', async (t) => {
  const edge = await open(t, {}, { ctrl: { defaultRequestTimeout: '500ms' } });
  await host(edge, 1);
  const { value } = await until(
    'a second request',
    () => asked(edge),
    ({ length }) => length >= 2,
  );
  assert.equal(new Set(value).size, 1);
});

test('a SessionRemoved of a controller ends what an SDK hosts with that session, and nothing else', async (t) => {
  const edge = await open(t, {});
  edge.announce('token');
  const peer = await edge.connect();
  await peer.hello('sdk', edgeHelloHeaders('token'));
  const bind = (connId: number, session: string) => {
    const headers = new HeaderWriter().u32(headerId.edge.connId, connId);
    return peer.ask(makeFrame(contentType.bind, { headers, body: session }));
  };
  await bind(1, 'removed');
  await bind(2, 'kept');
  edge.controller.send(ctrlMessages.sessionRemoved.frame({ tokens: ['removed', 'unknown'] }));
  edge.controller.send(ctrlMessages.sessionRemoved.frame({ tokens: ['of another'] }));
  const ended = () =>
    peer.frames
      .filter((frame) => frame.contentType === contentType.stateClosed)
      .map((frame) => frame.headers.u32(headerId.edge.connId));
  await peer.until('the end of the first', () => ended().length > 0);
  assert.equal((await peer.ask(makeFrame(LATENCY_TYPE))).contentType, RESULT_TYPE);
  assert.deepEqual(ended(), [1]);
});
