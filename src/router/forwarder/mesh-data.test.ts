// Data over several routers: circuits lose nothing while links break and controllers reroute them.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { mock, test, type TestContext } from 'node:test';
import { fc } from '../../../test/support/fast-check.ts';
import { PAYLOAD_FLAGS, PAYLOAD_TYPE } from '#wire/xgress';
import { until, within } from '../../../test/support/deadline.ts';
import { MemoryMesh, REROUTE_ATTEMPT, type MeshOptions } from './testing/memory-mesh.ts';

const MIB = 1024 * 1024;
/** So long that a pause of the machine causes no retransmissions, which would exceed the capacity of a link. */
const PATIENT: MeshOptions = { xgress: { retxStartMs: 600_000, retxMaxMs: 0 } };

function openMesh(t: TestContext, count: number, options: MeshOptions = {}): MemoryMesh {
  const mesh = new MemoryMesh(count, options);
  t.after(() => mesh.close());
  return mesh;
}

/** Sends in both directions at once. Resolves with the data received at each side when both have ended. */
async function exchange(
  a: Duplex,
  b: Duplex,
  bytes: number,
): Promise<{ readonly sent: string[]; readonly got: string[] }> {
  const one = randomBytes(bytes);
  const two = randomBytes(Math.ceil(bytes / 2));
  const got = Promise.all([digestOf(b), digestOf(a)]);
  a.end(one);
  b.end(two);
  return { sent: [hash(one), hash(two)], got: await within('both ways to end', got) };
}

function digestOf(stream: Duplex): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const digest = createHash('sha256');
  stream.on('data', (chunk: Buffer) => void digest.update(chunk));
  stream.on('end', () => resolve(digest.digest('hex')));
  stream.on('close', () => reject(new Error('closed without an end')));
  return promise;
}

function turn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

function hash(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

test('carries both ways whole over three routers, and nothing is left afterwards', async (t) => {
  const mesh = openMesh(t, 3);
  mesh.link(0, 1);
  mesh.link(1, 2);
  const { client, service } = await mesh.open('c1', [0, 1, 2]);
  const { sent, got } = await exchange(client, service, 3 * MIB);
  assert.deepEqual(got, sent);
  const faults = [
    await mesh.routers[0]!.controller.next('fault'),
    await mesh.routers[2]!.controller.next('fault'),
  ];
  assert.deepEqual(
    faults.map(({ subject, id }) => [subject, id]),
    [
      [0, 'c1'],
      [1, 'c1'],
    ],
  );
  for (const router of mesh.routers) router.unroute('c1', true);
  assert.deepEqual(
    mesh.routers.map(({ forwarder, ends }) => [forwarder.circuitCount, ends.count]),
    [
      [0, 0],
      [0, 0],
      [0, 0],
    ],
  );
});

test('carries both ways whole while each link loses, doubles and overtakes frames', async (t) => {
  const mesh = openMesh(t, 3);
  mesh.link(0, 1, { faultsPerMille: 60, seed: 7 });
  mesh.link(1, 2, { faultsPerMille: 60, seed: 8 });
  const { client, service } = await mesh.open('c1', [0, 1, 2]);
  const { sent, got } = await exchange(client, service, MIB);
  assert.deepEqual(got, sent);
});

test('a reroute in the middle of a transfer loses and doubles nothing, whether the old link still works or not', async (t) => {
  for (const isCut of [false, true]) {
    const mesh = openMesh(t, 4);
    const old = mesh.link(0, 1);
    mesh.link(1, 3);
    mesh.link(0, 2);
    mesh.link(2, 3);
    const { client, service } = await mesh.open('c1', [0, 1, 3]);
    const done = exchange(client, service, 8 * MIB);
    const { counters } = mesh.routers[3]!.ends;
    while (counters.acksSent < 3) await turn();
    old.stop();
    if (isCut) old.cut();
    await mesh.route('c1', [0, 2, 3], REROUTE_ATTEMPT);
    old.goOn();
    mesh.routers[1]!.unroute('c1', false);
    const { sent, got } = await done;
    assert.deepEqual(got, sent, isCut ? 'link cut' : 'link alive');
  }
});

test('circuits over random ways, with random faults and a reroute at a random moment, are whole', async (t) => {
  const ways = [
    [0, 3],
    [0, 1, 3],
    [0, 2, 3],
    [0, 1, 2, 3],
  ];
  const way = fc.constantFrom(...ways);
  const run = fc.asyncProperty(
    way,
    way,
    fc.integer({ min: 0, max: 80 }),
    fc.nat(60),
    async (first, second, faults, wait) => {
      const mesh = openMesh(t, 4);
      for (const [a, b] of [
        [0, 1],
        [0, 2],
        [0, 3],
        [1, 2],
        [1, 3],
        [2, 3],
      ] as const)
        mesh.link(a, b, { faultsPerMille: faults, seed: faults + 10 * a + b });
      const { client, service } = await mesh.open('c1', first);
      const done = exchange(client, service, 300_000);
      for (let turns = 0; turns < wait; turns += 1) await turn();
      // The transfer may have finished by then.
      await mesh.route('c1', second, REROUTE_ATTEMPT).catch(() => {});
      const { sent, got } = await done;
      mesh.close();
      assert.deepEqual(got, sent);
    },
  );
  await fc.assert(run, { numRuns: 12 });
});

test('a half-close travels to the far end and leaves the other way open', async (t) => {
  const mesh = openMesh(t, 2);
  mesh.link(0, 1);
  const { client, service } = await mesh.open('c1', [0, 1]);
  client.end('question');
  assert.equal(await digestOf(service), hash(Buffer.from('question')));
  const answer = digestOf(client);
  service.end('answer');
  assert.equal(await within('the answer', answer), hash(Buffer.from('answer')));
});

test('a full link holds its own ends back instead of losing their payloads, and each of them gets its turn', async (t) => {
  const mesh = openMesh(t, 2, PATIENT);
  const link = mesh.link(0, 1, { capacity: 16, framesPerTurn: 2 });
  const circuits = await Promise.all(Array.from({ length: 8 }, (_, index) => mesh.open(`c${index}`, [0, 1])));
  const results = await Promise.all(
    circuits.map(({ client, service }) => exchange(client, service, 600_000)),
  );
  for (const { sent, got } of results) assert.deepEqual(got, sent);
  assert.equal(link.droppedCount, 0);
});

test('a router in transit stops reading from a sender whose next link is full, and loses nothing', async (t) => {
  // It resumes reading after a while, even without room. The amount of data until then depends on this machine's speed.
  mock.timers.enable({ apis: ['setTimeout'] });
  t.after(() => mock.timers.reset());
  const mesh = openMesh(t, 3, PATIENT);
  const first = mesh.link(0, 1, { capacity: 64, framesPerTurn: 16 });
  // Half of it is the capacity for data that the first delivers in one turn after it was paused.
  const second = mesh.link(1, 2, { capacity: 64, framesPerTurn: 2 });
  const circuits = await Promise.all(
    Array.from({ length: 6 }, (_, index) => mesh.open(`c${index}`, [0, 1, 2])),
  );
  const results = await Promise.all(
    circuits.map(({ client, service }) => exchange(client, service, 600_000)),
  );
  for (const { sent, got } of results) assert.deepEqual(got, sent);
  assert.deepEqual([first.droppedCount, second.droppedCount], [0, 0]);
});

test('a link that takes nothing at all keeps nobody’s frames for other links waiting for long', async (t) => {
  const mesh = openMesh(t, 4);
  mesh.link(0, 1);
  const stuck = mesh.link(1, 2, { capacity: 16 });
  mesh.link(1, 3);
  const blocked = await mesh.open('blocked', [0, 1, 2]);
  const free = await mesh.open('free', [0, 1, 3]);
  stuck.stop();
  const all = randomBytes(2 * MIB);
  const late = digestOf(blocked.service);
  blocked.client.end(all);
  const { sent, got } = await exchange(free.client, free.service, MIB);
  assert.deepEqual(got, sent);
  stuck.goOn();
  assert.equal(await within('the rest', late), hash(all));
});

test('a reader that takes nothing stops its sender within the windows, and gets all of it later', async (t) => {
  const mesh = openMesh(t, 2, {
    xgress: { rxBufferSize: 200_000, txPortalStartSize: 100_000, txPortalMaxSize: 100_000 },
  });
  mesh.link(0, 1);
  const { client, service } = await mesh.open('c1', [0, 1]);
  const all = randomBytes(3 * MIB);
  let written = 0;
  let hasStopped = false;
  while (!hasStopped && written < all.length) {
    hasStopped = !client.write(all.subarray(written, (written += 16_384)));
    for (let turns = 0; turns < 10; turns += 1) await turn();
  }
  assert.ok(hasStopped && written < MIB, `${written} bytes were taken though nobody reads`);
  const got = digestOf(service);
  client.end(all.subarray(written));
  assert.equal(await within('all of it', got), hash(all));
});

test('a circuit that is taken away in the middle breaks both local connections', async (t) => {
  const mesh = openMesh(t, 2);
  mesh.link(0, 1);
  const { client, service } = await mesh.open('c1', [0, 1]);
  client.write('half');
  await until(
    'the bytes',
    () => service.readableLength,
    (bytes) => bytes === 4,
  );
  const endings = [client, service].map((stream) => {
    const { promise, resolve } = Promise.withResolvers<string>();
    stream.on('end', () => resolve('end')).on('close', () => resolve('closed'));
    return promise;
  });
  mesh.routers[0]!.unroute('c1', true);
  mesh.routers[1]!.unroute('c1', true);
  assert.ok(mesh.routers.every(({ ends }) => ends.count === 0));
  client.resume();
  await within('the client to notice', endings[0]!);
});

test('the last bytes of a far end still reach a slow local reader after the circuit was removed', async (t) => {
  const mesh = openMesh(t, 2);
  mesh.link(0, 1);
  const { client, service } = await mesh.open('c1', [0, 1]);
  const all = randomBytes(400_000);
  client.end(all);
  await until(
    'the end to arrive',
    () => mesh.routers[1]!.ends.counters.acksSent,
    (acks) => acks > 0,
  );
  await until(
    'all to be acknowledged',
    () => mesh.routers[0]!.ends.counters.unackedPayloads,
    (n) => n === 0,
  );
  mesh.routers[1]!.unroute('c1', true);
  assert.equal(await within('all of it', digestOf(service)), hash(all));
});

test('payloads that cross a router keep the stamp that their end gave them', async (t) => {
  const stamps: [string, number][] = [];
  const mesh = openMesh(t, 3);
  const see = (where: string) => ({
    onData: (frame: { contentType: number; rtt: number }) => {
      if (frame.contentType === PAYLOAD_TYPE) stamps.push([where, frame.rtt]);
    },
  });
  mesh.link(0, 1, see('first'));
  mesh.link(1, 2, see('second'));
  const { client, service } = await mesh.open('c1', [0, 1, 2]);
  client.end('x');
  await within('the byte', digestOf(service));
  const first = stamps.filter(([where]) => where === 'first').map(([, stamp]) => stamp);
  const second = stamps.filter(([where]) => where === 'second').map(([, stamp]) => stamp);
  assert.ok(first.length >= 3 && first.every((stamp) => stamp > 0));
  assert.deepEqual(second.slice(0, 3), first.slice(0, 3));
});

test('an end without a reader notifies the far end, which stops sending', async (t) => {
  const flags: number[] = [];
  const mesh = openMesh(t, 2);
  mesh.link(0, 1, {
    onData: (frame) => void (frame.contentType === PAYLOAD_TYPE && flags.push(frame.flags)),
  });
  const { client, service } = await mesh.open('c1', [0, 1]);
  service.write('first');
  await until(
    'the bytes',
    () => client.readableLength,
    (bytes) => bytes === 5,
  );
  mesh.routers[0]!.ends.close();
  await until('the word', () => flags.some((it) => (it & PAYLOAD_FLAGS.writeFailed) !== 0), Boolean);
  const { subject } = await mesh.routers[0]!.controller.next('fault');
  assert.equal(subject, 0);
});
