// Every listener of a router and of the control plane against mutated frames, some thousands of them ("npm run fuzz --
// frames" sends a million), and a link whose peer reads nothing.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, suite, test } from 'node:test';
import type { Socket } from 'node:net';
import { base62 } from '#base';
import { AcknowledgementFrame, encodeAcknowledgement, PAYLOAD_FLAGS } from '#wire/xgress';
import { until } from '../../support/deadline.ts';
import { fuzzFrames, reportOf, WORKERS } from './frame-fuzz.ts';
import { startFrameFuzzMesh, type FrameFuzzMesh } from './frame-fuzz-mesh.ts';
import { TEST_SEED } from '../../support/test-seed.ts';

const FRAMES = 8_000;
/** How soon is what "npm run fuzz -- frames" judges: here the machine has other work. */
const PATIENCE_MS = 30_000;
const PUSHING_CIRCUITS = 10;
const MAX_GROWTH_BYTES = 64 << 20;

suite('a mesh under attack', () => {
  let mesh: FrameFuzzMesh;

  before(async () => {
    console.log(`FRONTDOOR_TEST_SEED=${TEST_SEED}`);
    mesh = await startFrameFuzzMesh(WORKERS);
  });
  after(() => mesh?.stop());

  test(`${FRAMES} mutated frames at four listeners, before and after hello, end the channels that bring them at most`, async () => {
    const result = await fuzzFrames(mesh, {
      seed: TEST_SEED,
      frames: FRAMES,
      patienceMs: PATIENCE_MS,
      onProgress: (text) => console.log(text),
    });
    console.log(reportOf(result));
    assert.deepEqual(result.findings, []);
    assert.ok(result.frames >= FRAMES);
    assert.ok(result.circuits.exchanges >= 50);
  });

  test('a link whose peer reads nothing takes bounded memory of ten circuits that push, and is cut off', async () => {
    const { hostile, ports, target, circuits } = mesh;
    const linkId = base62(randomBytes(16));
    const peer = await hostile.link(ports.link, { linkId, dialedRouterId: target.id, binding: 'slow' });
    hostile.report(linkId, target.id);
    const lured: { readonly client: Socket; readonly circuitId: string }[] = [];
    while (lured.length < PUSHING_CIRCUITS) lured.push(await hostile.lure(ports.trap));
    peer.socket.pause();
    console.log(`${lured.length} circuits end at the hostile router`);

    const before = mesh.memory().router;
    let most = before;
    let pushed = 0;
    for (const { client } of lured) push(client, (bytes) => (pushed += bytes));
    // It acknowledges what it has not read, so that the windows of the circuits hold nothing back.
    const acknowledgements = lured.map(({ circuitId }) => circuitId);
    let sequence = 0;
    const tick = setInterval(() => {
      most = Math.max(most, mesh.memory().router);
      const sequences = Array.from({ length: 256 }, () => (sequence += 1));
      for (const id of acknowledgements)
        peer.sendBytes(
          encodeAcknowledgement(new AcknowledgementFrame(id, PAYLOAD_FLAGS.originator, 0, sequences), 1),
        );
    }, 50);
    try {
      await until('the link to be cut off', () => lured.every(({ client }) => client.destroyed), Boolean);
    } finally {
      clearInterval(tick);
      peer.close();
      for (const { client } of lured) client.destroy();
    }
    const grown = most - before;
    console.log(`${pushed >> 20} MiB taken, router +${(grown / (1 << 20)).toFixed(1)} MiB`);
    assert.ok(pushed > 1 << 20, `${pushed} bytes pushed`);
    assert.ok(grown < MAX_GROWTH_BYTES, `the router grew by ${(grown / (1 << 20)).toFixed(1)} MiB`);
    await circuits.goOn(5);
    assert.deepEqual(circuits.errors, []);
    assert.equal(mesh.harm(), undefined);
  });
});

/** As fast as it goes, until the connection ends. */
function push(socket: Socket, onTaken: (bytes: number) => void): void {
  const piece = Buffer.alloc(64 * 1024, 'push');
  const next = (): void => {
    if (socket.destroyed) return;
    // Writes that the kernel accepts at once would follow each other without a turn for anything else.
    socket.write(piece, () => {
      onTaken(piece.length);
      setImmediate(next);
    });
  };
  socket.on('error', () => {});
  socket.resume();
  next();
}
