// The form in which the data of a local connection crosses the link: encrypted messages, and datagrams.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { test, type TestContext } from 'node:test';
import { encryptionWith, generateEncryptionKeys } from '#sdk';
import { PAYLOAD_FLAGS, PAYLOAD_TYPE } from '#wire/xgress';
import { until, within } from '../../../test/support/deadline.ts';
import { MemoryMesh, type MeshOptions } from '../forwarder/testing/memory-mesh.ts';

const STREAM_HEADER_BYTES = 24;
const SEALED_EXTRA_BYTES = 17;

interface World {
  readonly mesh: MemoryMesh;
  readonly client: Duplex;
  readonly service: Duplex;
  /** Lengths of the payloads with data from the initiator. */
  readonly lengths: number[];
  /** All bytes of payloads that crossed the link. */
  readonly onLink: Uint8Array[];
  /** Changes the next payload with data on its way. */
  change(): void;
}

async function openWorld(t: TestContext, options: MeshOptions): Promise<World> {
  const mesh = new MemoryMesh(2, options);
  t.after(() => mesh.close());
  const lengths: number[] = [];
  const onLink: Uint8Array[] = [];
  let mustChange = false;
  mesh.link(0, 1, {
    capacity: 10_000,
    onData: (frame) => {
      if (frame.contentType !== PAYLOAD_TYPE || frame.data.length === 0) return;
      if ((frame.flags & PAYLOAD_FLAGS.retransmit) !== 0) return;
      onLink.push(frame.data);
      if ((frame.flags & PAYLOAD_FLAGS.originator) === 0) lengths.push(frame.data.length);
      if (mustChange) frame.data[frame.data.length - 1]! ^= 1;
      mustChange = false;
    },
  });
  const { client, service } = await mesh.open('c1', [0, 1]);
  return { mesh, client, service, lengths, onLink, change: () => (mustChange = true) };
}

function sealed(): NonNullable<MeshOptions['end']> {
  const [dialer, host] = [generateEncryptionKeys(), generateEncryptionKeys()];
  return (isTerminator) => ({
    encryption: isTerminator
      ? encryptionWith('host', host, dialer.publicKey)
      : encryptionWith('dialer', dialer, host.publicKey),
  });
}

function all(stream: Duplex): Promise<Buffer> {
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => void chunks.push(chunk));
  return new Promise((resolve) => stream.on('end', () => resolve(Buffer.concat(chunks))));
}

test('an encrypted circuit carries bytes both ways, with half-close, and shows none of them', async (t) => {
  const { client, service, lengths, onLink } = await openWorld(t, { end: sealed() });
  const [there, back] = [randomBytes(100_001), randomBytes(70_003)];
  const got = all(service);
  client.end(there);
  assert.ok(there.equals(await within('the bytes there', got)));
  const gotBack = all(client);
  service.end(back);
  assert.ok(back.equals(await within('the bytes back', gotBack)));
  assert.equal(lengths[0], STREAM_HEADER_BYTES);
  const passed = Buffer.concat(onLink);
  for (const text of [there, back]) assert.equal(passed.indexOf(text.subarray(0, 32)), -1);
  assert.ok(Math.max(...lengths) <= 32_768, String(Math.max(...lengths)));
});

test('the shortest mtu leaves room for data in an encrypted circuit', async (t) => {
  const { client, service } = await openWorld(t, { end: sealed(), xgress: { mtu: 1 } });
  const got = all(service);
  client.end('some bytes of an application, more than fit into one payload');
  assert.match(String(await within('the bytes', got)), /^some bytes .* payload$/);
});

test('a message that was changed on its way resets both ends', async (t) => {
  const { mesh, client, service, change } = await openWorld(t, { end: sealed() });
  client.write('first');
  assert.equal(
    String(await within('the first', new Promise((resolve) => service.once('data', resolve)))),
    'first',
  );
  const got: Buffer[] = [];
  service.on('data', (chunk: Buffer) => got.push(chunk));
  change();
  client.write('second');
  const { id } = await mesh.routers[1]!.controller.next('fault');
  assert.equal(id, 'c1');
  assert.deepEqual(got, []);
});

test('a datagram is one payload, in clear and encrypted, and becomes one chunk', async (t) => {
  for (const isSealed of [false, true]) {
    const keys = sealed();
    const { client, service, lengths } = await openWorld(t, {
      end: (isTerminator) => ({ isDatagrams: true, ...(isSealed ? keys(isTerminator) : {}) }),
    });
    const got: number[] = [];
    service.on('data', (chunk: Buffer) => got.push(chunk.length));
    const sizes = [1, 1_400, 65_507];
    for (const [index, size] of sizes.entries()) {
      client.write(randomBytes(size));
      await until('a datagram', () => got.length > index, Boolean);
    }
    assert.deepEqual(got, sizes);
    const expected = sizes.map((size) => size + (isSealed ? SEALED_EXTRA_BYTES : 0));
    assert.deepEqual(lengths, isSealed ? [STREAM_HEADER_BYTES, ...expected] : expected);
  }
});
