// Thousands of recorded frames, changed at random, on channels that stand: nothing but those channels may suffer.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  FrameDecoder,
  headerId,
  LATENCY_TYPE,
  makeFrame,
  versionHeader,
  HeaderWriter,
  RESULT_TYPE,
} from '#wire';
import { startCanary } from '../support/canary.ts';
import { until } from '../support/deadline.ts';
import { startHttpService, type FaultyService } from '../support/faulty-service.ts';
import { mutate, recordedFrames } from '../support/frame-mutation.ts';
import { usedMemory } from '../support/heap.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { edgeHelloHeaders, WirePeer } from '../support/wire-peer.ts';
import { openWorld, type World, type WorldIdentity } from '../support/world.ts';
import { TEST_SEED } from '../support/test-seed.ts';

/** The long form is `frontdoor dev fuzz`. */
const COUNT = 4_000;
const MAX_PER_CHANNEL = 100;
const MIB = 1024 * 1024;
const FRAMES = { edge: recordedFrames('edge'), ctrl: recordedFrames('ctrl') };
/** As the listeners of either kind have them: control channels carry whole data models. */
const LIMITS = {
  edge: { maxHeadersBytes: 64 * 1024, maxBodyBytes: 16 * MIB },
  ctrl: { maxHeadersBytes: 64 * 1024, maxBodyBytes: 64 * MIB },
};

describe(`recorded frames changed at random (FRONTDOOR_TEST_SEED=${TEST_SEED})`, () => {
  let world: World;
  let service: FaultyService;
  before(async () => {
    service = await startHttpService((_request, response) => response.end('still here'));
    world = await openWorld();
    const agent = await world.startAgent('site');
    await agent.share(service.target, { name: 'canary' });
  });
  after(async () => {
    await world?.close();
    await service.stop();
  });

  for (const kind of ['edge', 'ctrl'] as const) {
    it(`${COUNT} on ${kind} channels end those channels at most`, async () => {
      const identity =
        kind === 'edge' ? await world.enrollEnvironment('fuzz') : await world.enrollRouter('fuzz-router');
      await using canary = startCanary(world.up.httpPort, 'canary.share.localhost', '/', 'still here'.length);
      assert.ok(FRAMES[kind].length > 100);
      const memory = await usedMemory();
      const from = world.records.length;
      const random = new SeededRandom(TEST_SEED);
      let sent = 0;
      let channels = 0;
      while (sent < COUNT) {
        const peer = await openChannel(world, kind, identity);
        sent += await sendSome(peer, kind, random, Math.min(MAX_PER_CHANNEL, COUNT - sent));
        channels += 1;
      }
      // A whole peer is served as before.
      const peer = await openChannel(world, kind, identity);
      assert.equal((await peer.ask(makeFrame(LATENCY_TYPE))).contentType, RESULT_TYPE);
      await closeAndWait(world, kind, peer);
      const { requests } = await canary.stop(50);
      const records = world.records.splice(from);
      const faults = records.filter(({ level }) => level === 'error');
      assert.deepEqual(
        faults,
        [],
        `${faults.length} internal errors; the first: ${JSON.stringify(faults[0])}`,
      );
      assert.ok(records.length <= 4 * channels + 2 * COUNT, `${records.length} log records`);
      records.length = 0;
      const grown = (await usedMemory()) - memory;
      assert.ok(grown < 24 << 20, `memory grew by ${(grown / (1 << 20)).toFixed(1)} MiB`);
      assert.ok(requests >= 50);
    });
  }
});

async function openChannel(world: World, kind: 'edge' | 'ctrl', identity: WorldIdentity): Promise<WirePeer> {
  const { edgePort } = world.up.router;
  const ctrlPort = Number(world.up.control.ctrlAddress.split(':').at(-1));
  const { value } = await until(
    'a channel',
    async () => {
      const port = kind === 'edge' ? edgePort : ctrlPort;
      const peer = await WirePeer.open({ port, alpn: `ziti-${kind}`, credentials: identity.credentials });
      const headers =
        kind === 'edge'
          ? edgeHelloHeaders(identity.sessionToken)
          : new HeaderWriter().text(headerId.channel.helloVersion, versionHeader('linux', 'x64')).build();
      const answer = await peer.hello(identity.id, headers);
      if (answer?.headers.bool(headerId.channel.resultSuccess) === true) return peer;
      // The channel before is still being taken down.
      peer.close();
      return undefined;
    },
    (peer) => peer !== undefined,
  );
  return value!;
}

/** Sends changed frames until one breaks the framing, or so many are sent; how many were. Waits until all were read. */
async function sendSome(
  peer: WirePeer,
  kind: 'edge' | 'ctrl',
  random: SeededRandom,
  most: number,
): Promise<number> {
  // What the listener's decoder makes of the same bytes.
  const decoder = new FrameDecoder(LIMITS[kind]);
  let sent = 0;
  let isWhole = true;
  while (sent < most && isWhole) {
    const bytes = mutate(random.pick(FRAMES[kind]), random);
    // What breaks the framing costs a channel, so most of it is left out.
    if (!isFrame(bytes, kind) && random.int(8) !== 0) continue;
    const fault = decoder.push(bytes.slice(), () => {});
    isWhole = fault === undefined && decoder.bufferedBytes === 0;
    peer.sendBytes(bytes);
    sent += 1;
    if (fault !== undefined) await peer.closed();
  }
  if (isWhole && !peer.isClosed) {
    peer.frames.length = 0;
    await peer.ask(makeFrame(LATENCY_TYPE)).catch(() => {
      // A message that the other side closes for.
      assert.ok(peer.isClosed);
    });
  }
  peer.close();
  return sent;
}

function isFrame(bytes: Uint8Array, kind: 'edge' | 'ctrl'): boolean {
  const decoder = new FrameDecoder(LIMITS[kind]);
  return decoder.push(bytes.slice(), () => {}) === undefined && decoder.bufferedBytes === 0;
}

async function closeAndWait(world: World, kind: 'edge' | 'ctrl', peer: WirePeer): Promise<void> {
  const records = world.recordsFromNow();
  peer.close();
  const message = kind === 'edge' ? 'edge channel closed' : 'router disconnected';
  await until(message, () => records().some((record) => record.message === message), Boolean);
}
