// Any message in any state, on links and on edge channels: sequences made at random of what a peer may send, with ids
// of its own circuits, of others' and of none. Others' circuits continue, and the next channel is served as the first.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { fc } from '../support/fast-check.ts';
import { base62, silentLog } from '#base';
import { AgentApiClient } from '#sdk';
import { contentType, encodeFrame, headerId, HeaderWriter, LATENCY_TYPE, makeFrame, makeHello } from '#wire';
import { AcknowledgementFrame, encodeAcknowledgement, encodePayloadHead, PayloadFrame } from '#wire/xgress';
import { startCanary } from '../support/canary.ts';
import { until } from '../support/deadline.ts';
import { startHttpService, type FaultyService } from '../support/faulty-service.ts';
import { openHostileMesh, type HostileMesh } from '../support/hostile-mesh.ts';
import { dialOneself } from '../support/hostile-sdk.ts';
import { edgeHelloHeaders, WirePeer } from '../support/wire-peer.ts';
import type { WorldIdentity } from '../support/world.ts';
import { TEST_SEED } from '../support/test-seed.ts';

const { edge, channel, xgressControl } = headerId;
const RUNS = 60;
const CONN_IDS = [0, 1, 2, 3, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];
const SEQUENCES = [-1, 0, 1, 2, 3, 100, 0x7fff_fffe, 0x7fff_ffff];
const WINDOWS = [0, 1, 4 << 20, 0x8000_0000, 0xffff_ffff];

type CircuitChoice = 'own' | 'foreign' | 'made-up';
/** What a step may name. */
interface Ids {
  readonly circuits: Readonly<Record<CircuitChoice, string>>;
  readonly tokens: readonly string[];
}
/** The bytes of one frame. */
type Step = (ids: Ids) => Uint8Array;

const circuit = fc.constantFrom<CircuitChoice>('own', 'own', 'foreign', 'made-up');
const connId = fc.constantFrom(...CONN_IDS);
const sequence = fc.oneof(fc.constantFrom(...SEQUENCES), fc.nat(50));
const replyFor = fc.option(fc.integer({ min: -2, max: 40 }), { nil: undefined });

const payload: fc.Arbitrary<Step> = fc
  .record({ circuit, sequence, flags: fc.nat(0xff), bytes: fc.nat(3_000), connId: fc.option(connId) })
  .map((made) => ({ circuits }) => {
    const frame = new PayloadFrame(
      circuits[made.circuit],
      made.sequence,
      made.flags,
      new Uint8Array(made.bytes),
    );
    if (made.connId !== null) frame.connId = made.connId;
    return Buffer.concat([encodePayloadHead(frame, 1), frame.data]);
  });

const acknowledgement: fc.Arbitrary<Step> = fc
  .record({
    circuit,
    flags: fc.constantFrom(0, 2, 0xff),
    window: fc.constantFrom(...WINDOWS),
    sequences: fc.array(sequence, { maxLength: 20 }),
  })
  .map(
    (made) =>
      ({ circuits }) =>
        encodeAcknowledgement(
          new AcknowledgementFrame(circuits[made.circuit], made.flags, made.window, made.sequences),
          1,
        ),
  );

const control: fc.Arbitrary<Step> = fc
  .record({ circuit, type: fc.nat(3), hops: fc.constantFrom(0, 1, 2, 0xffff_ffff) })
  .map(({ circuit: choice, type, hops }) => ({ circuits }) => {
    const body = Buffer.concat([Uint8Array.of(type), Buffer.from(circuits[choice])]);
    return encodeFrame(
      makeFrame(contentType.control, { headers: new HeaderWriter().u32(xgressControl.hopCount, hops), body }),
    );
  });

const messageOf = (type: fc.Arbitrary<number>): fc.Arbitrary<Step> =>
  fc
    .record({
      type,
      connId: fc.option(connId, { nil: undefined }),
      replyFor,
      body: fc.oneof(
        fc.constant('token' as const),
        circuit,
        fc.uint8Array({ maxLength: 40 }),
        fc.uint8Array({ minLength: 4, maxLength: 4 }),
      ),
      token: fc.nat(3),
      flags: fc.nat(0xff),
    })
    .map((made) => ({ circuits, tokens }) => {
      const headers = new HeaderWriter();
      if (made.connId !== undefined) headers.u32(edge.connId, made.connId);
      if (made.replyFor !== undefined) headers.u32(channel.replyFor, made.replyFor >>> 0);
      for (const [bit, id] of [
        edge.useXgressToSdk,
        edge.routerProvidedConnId,
        edge.supportsBindSuccess,
      ].entries())
        if ((made.flags & (1 << bit)) !== 0) headers.bool(id, true);
      const { body } = made;
      const text = body === 'token' ? tokens[made.token % tokens.length]! : undefined;
      const bytes = text ?? (body instanceof Uint8Array ? body : circuits[body as CircuitChoice]);
      return encodeFrame(makeFrame(made.type, { headers, body: bytes, sequence: 1 }));
    });

/** Any type that there is, and some that there are not. */
const message = messageOf(fc.oneof(fc.constantFrom(...Object.values(contentType)), fc.integer()));
/** Those that have an effect on edge channels. */
const sdkMessage = messageOf(
  fc.constantFrom(
    ...[contentType.connect, contentType.bind, contentType.unbind, contentType.data, contentType.xgClose],
    ...[contentType.stateClosed, contentType.dialSuccess, contentType.dialFailed, contentType.updateBind],
    ...[contentType.edgeHealthEvent, contentType.traceRoute, contentType.updateToken],
  ),
);

const hello: fc.Arbitrary<Step> = fc.constant(({ circuits }) =>
  encodeFrame(makeHello(circuits.own, new HeaderWriter().build())),
);

const linkSteps = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: payload },
    { weight: 4, arbitrary: acknowledgement },
    { weight: 3, arbitrary: control },
    { weight: 3, arbitrary: message },
    { weight: 1, arbitrary: hello },
  ),
  { minLength: 1, maxLength: 60 },
);
const edgeSteps = fc.array(
  fc.oneof(
    { weight: 2, arbitrary: payload },
    { weight: 2, arbitrary: acknowledgement },
    { weight: 1, arbitrary: control },
    { weight: 4, arbitrary: message },
    { weight: 6, arbitrary: sdkMessage },
    { weight: 1, arbitrary: hello },
  ),
  { minLength: 1, maxLength: 60 },
);

let mesh: HostileMesh;
before(async () => {
  console.log(`FRONTDOOR_TEST_SEED=${TEST_SEED}`);
  // The tested states follow the hello, so a pause of the machine must not cut off any hello.
  mesh = await openHostileMesh({ helloTimeoutMs: 30_000 });
});
after(() => mesh?.close());

function assertNoFailures(): void {
  const failures = [...mesh.records, ...mesh.world.records].filter(({ level }) => level === 'error');
  assert.deepEqual(failures, []);
}

/** The channel still stands and has read all of it, or it was closed for what came. */
async function settled(peer: WirePeer): Promise<void> {
  peer.frames.length = 0;
  await peer.ask(makeFrame(LATENCY_TYPE)).catch(() => assert.ok(peer.isClosed));
}

describe('any message in any state', () => {
  it('on a link harms no circuit but those that go over it', async () => {
    const { hostile, target, ports } = mesh;
    const [foreign] = await mesh.foreignCircuitIds();
    const linkId = base62(randomBytes(16));
    let iteration = 0;
    let circuitCount = 0;
    const property = fc.asyncProperty(linkSteps, fc.boolean(), async (steps, hasCircuit) => {
      iteration += 1;
      const facts = { linkId, dialedRouterId: target.id, iteration };
      const peer = await hostile.link(ports.link, facts);
      hostile.report(linkId, target.id, iteration);
      const lured = hasCircuit ? await hostile.lure(ports.trap, 1_000).catch(() => undefined) : undefined;
      if (lured !== undefined) circuitCount += 1;
      const own = lured?.circuitId ?? hostile.circuitIds.at(-1) ?? 'none-yet';
      const ids: Ids = { circuits: { own, foreign: foreign!, 'made-up': 'made-up' }, tokens: ['token'] };
      for (const step of steps) peer.sendBytes(step(ids));
      await settled(peer);
      lured?.client.destroy();
      peer.close();
      await mesh.circuits.goOn(1);
      assert.deepEqual(mesh.circuits.errors, []);
      assertNoFailures();
    });
    await fc.assert(property, { numRuns: RUNS });
    assert.ok(circuitCount > RUNS / 10, `${circuitCount} circuits`);
    assert.ok((await mesh.foreignCircuitIds()).includes(foreign!));
    // The next link is as good as the first.
    const peer = await hostile.link(ports.link, {
      linkId,
      dialedRouterId: target.id,
      iteration: iteration + 1,
    });
    peer.close();
    await until(
      'its circuits to be gone',
      () => target.circuitCount,
      (count) => count <= 4,
      30_000,
    );
  });

  it('on an edge channel harms no circuit of another', async () => {
    const { world } = mesh;
    const service: FaultyService = await startHttpService((_request, response) => response.end('unharmed'));
    const agent = await world.startAgent('site');
    await agent.share(service.target, { name: 'canary' });
    const sdk: WorldIdentity = await world.enrollEnvironment('sdk');
    const share = await new AgentApiClient(sdk.api.connection, silentLog).createShare({
      name: 'own',
      shareMode: 'private',
      backendMode: 'proxy',
      target: 'http://127.0.0.1:1',
      grants: [sdk.id],
    });
    const tokens = [
      (await sdk.api.createSession(share.id, 'Bind')).token,
      (await sdk.api.createSession(share.id, 'Dial')).token,
      'made-up',
    ];
    await using canary = startCanary(world.up.httpPort, 'canary.share.localhost', '/', 'unharmed'.length);
    const circuits = { own: 'none-yet', foreign: 'none-yet', 'made-up': 'made-up' };
    let circuitCount = 0;
    const property = fc.asyncProperty(edgeSteps, fc.boolean(), async (steps, hasCircuit) => {
      const peer = await WirePeer.open({ port: world.up.router.edgePort, alpn: 'ziti-edge', ...sdk });
      const answer = await peer.hello(sdk.id, edgeHelloHeaders(sdk.sessionToken));
      assert.equal(answer?.headers.bool(channel.resultSuccess), true);
      const own = hasCircuit ? await dialOneself(peer, tokens[0]!, tokens[1]!) : undefined;
      circuits.own = own ?? circuits.own;
      if (own !== undefined) circuitCount += 1;
      for (const [at, step] of steps.entries()) {
        peer.sendBytes(step({ circuits, tokens }));
        // Answers come, and with them other states.
        if (at % 10 === 9) await settled(peer);
      }
      await settled(peer);
      peer.close();
      assertNoFailures();
    });
    await fc.assert(property, { numRuns: RUNS });
    assert.ok(circuitCount > RUNS / 10, `${circuitCount} circuits`);
    await canary.stop(20);
    await until(
      'circuits of closed channels to be gone',
      () => world.up.router.circuitCount,
      (count) => count <= 2,
      30_000,
    );
    await service.stop();
  });
});
