// Frames between ours and OpenZiti 1.7.2, both ways round: our router at its controller, its router at our control
// plane, links between both makes. test/interop/recorded-sessions.test.ts makes them, and holds new sessions to the same.
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { test } from 'node:test';
import type { DescMessage } from '@bufbuild/protobuf';
import { bytesOfHex, hexOf } from '#base';
import { channelOf, frameOfHex, loadInteropFrames } from '../../test/support/recorded-frames.ts';
import { ctrlMessages, type ProtobufMessage } from './ctrl-messages.ts';
import { decodeControllerHello, decodeRouterHello } from './ctrl-messages-hello.ts';
import { encodeFrame, FRAME_HEAD_BYTES, makeFrame, replyForOf } from './frame-codec.ts';
import { HeaderWriter } from './frame-headers.ts';
import { headerRow } from './header-table.ts';
import { CHANNEL_HEADERS } from './hello-codec.ts';
import { contentType, messageRow } from './message-table.ts';
import { decodeAcknowledgement, decodePayload } from './xgress/payload-codec.ts';

const FRAMES = loadInteropFrames();
const WHOLE = FRAMES.flatMap((record) =>
  record.frame === undefined ? [] : [{ ...record, hex: record.frame }],
);
const CODECS = new Map<number, ProtobufMessage<DescMessage>>(
  Object.values(ctrlMessages).map((codec) => [
    codec.contentType,
    codec as unknown as ProtobufMessage<DescMessage>,
  ]),
);
const HELLOS = WHOLE.filter(({ type, sequence }) => type === contentType.hello && sequence === -1);

const senders = (session: string): string[] => [
  ...new Set(FRAMES.filter((frame) => frame.session === session).map(({ from }) => from)),
];

test('both sessions are there, small, with both makes speaking on control channels and links', () => {
  assert.deepEqual(
    [...new Set(FRAMES.map(({ session }) => session))],
    ['our router at a real controller', 'a real router at our control plane'],
  );
  assert.deepEqual(senders('our router at a real controller').sort(), [
    'controller',
    'go-dials',
    'go-listens',
    'ours',
  ]);
  assert.deepEqual(senders('a real router at our control plane').sort(), ['control plane', 'go', 'ours']);
  assert.ok(statSync(new URL('../../test/vectors/interop-1.7.2.jsonl', import.meta.url)).size < 300_000);
});

test('every message and header that either make sends is in the tables', () => {
  for (const record of FRAMES) {
    const { type, name, headers } = record;
    assert.equal(messageRow(type)?.name, name);
    for (const [id] of headers) {
      // Peer data travels in headers of any number, and a Result reflects those of its request.
      if (type === contentType.routeResult || type === contentType.circuitSuccess) continue;
      assert.ok(headerRow(channelOf(record), type, id), `header ${id} of ${name} on ${record.connection}`);
    }
  }
});

test('every frame that was kept whole decodes to what was noted and encodes back to the same bytes', () => {
  for (const { hex, type, sequence, headers, bodyBytes, frameBytes } of WHOLE) {
    const frame = frameOfHex(hex);
    assert.equal(frame.contentType, type);
    assert.equal(frame.sequence, sequence);
    assert.deepEqual(
      [...frame.headers.entries()].map(([id, value]) => [id, hexOf(value)]),
      headers,
    );
    assert.equal(frame.body.length, bodyBytes);
    assert.equal(hex.length / 2, frameBytes);
    assert.equal(hexOf(encodeFrame(frame)), hex);
    const again = new HeaderWriter();
    for (const [id, value] of headers) again.bytes(id, bytesOfHex(value));
    assert.equal(hexOf(encodeFrame(makeFrame(type, { headers: again, body: frame.body, sequence }))), hex);
  }
});

test('headers of every frame that was kept in part have the length that the frame states', () => {
  const cut = FRAMES.filter(({ frame }) => frame === undefined);
  assert.ok(cut.length > 20);
  for (const { headers, bodyBytes, frameBytes } of cut) {
    const again = new HeaderWriter();
    for (const [id, value] of headers) again.bytes(id, bytesOfHex(value));
    assert.equal(FRAME_HEAD_BYTES + again.build().raw.length + bodyBytes, frameBytes);
  }
});

test('every protobuf body decodes and encodes back to as many bytes of the same meaning', () => {
  const seen = new Set<number>();
  for (const { hex, type, name } of WHOLE) {
    if (messageRow(type)?.body !== 'protobuf') continue;
    const codec = CODECS.get(type);
    assert.ok(codec, name);
    const { body } = frameOfHex(hex);
    const decoded = codec.decode(body);
    const encoded = codec.encode(decoded);
    assert.equal(encoded.length, body.length, name);
    assert.deepEqual(codec.decode(encoded), decoded);
    seen.add(type);
  }
  for (const name of [
    'route',
    'unroute',
    'fault',
    'routerLinks',
    'linkState',
    'verifyRouter',
    'peerStateChanges',
    'circuitRequest',
    'validateTerminatorsV2',
    'validateTerminatorsV2Response',
  ] as const)
    assert.ok(seen.has(contentType[name]), name);
});

test('every payload and acknowledgement decodes, those that begin, half-close and end a circuit among them', () => {
  const flags = new Set<number>();
  for (const { hex, type } of WHOLE) {
    const frame = frameOfHex(hex);
    if (type === contentType.payload) {
      const payload = decodePayload(frame);
      assert.ok(payload !== undefined && payload.circuitId !== '');
      flags.add(payload.flags & ~2);
    }
    if (type === contentType.acknowledgement) assert.ok(decodeAcknowledgement(frame) !== undefined);
  }
  for (const flag of [1, 4, 32])
    assert.ok(
      [...flags].some((value) => (value & flag) !== 0),
      `flag ${flag}`,
    );
});

test('hellos of control channels, ours and theirs, are read with their listeners and answered with a version', () => {
  const hellos = HELLOS.filter((record) => channelOf(record) === 'ctrl');
  assert.deepEqual(
    hellos.map(({ from }) => from),
    ['ours', 'go'],
  );
  for (const { hex, connection } of hellos) {
    const hello = decodeRouterHello(frameOfHex(hex));
    assert.equal(hello?.listeners.length, 1);
    const answer = WHOLE.find((each) => each.connection === connection && each.type === contentType.result)!;
    assert.equal(frameOfHex(answer.hex).headers.i32(CHANNEL_HEADERS.replyFor), -1);
    assert.equal(replyForOf(frameOfHex(answer.hex)), undefined);
    assert.ok(decodeControllerHello(frameOfHex(answer.hex)));
  }
});

test('links have four connections in both dial directions; joins show group and secret, a real dialer claims each time to be first', () => {
  const links = HELLOS.filter((record) => channelOf(record) === 'link');
  const byGroup = Map.groupBy(links, ({ hex }) => frameOfHex(hex).headers.text(CHANNEL_HEADERS.connectionId));
  // Those that were begun when everything ended aside.
  const whole = [...byGroup.values()].filter((hellos) => hellos.length >= 4);
  const directions = whole.map(([first]) => `${first!.from} → ${first!.to}`);
  assert.deepEqual(new Set(directions), new Set(['ours → go-listens', 'go-dials → ours', 'ours → go']));
  for (const hellos of whole) {
    const headers = hellos.map(({ hex }) => frameOfHex(hex).headers);
    assert.equal(headers[0]!.has(CHANNEL_HEADERS.groupSecret), false);
    const isOurs = hellos[0]!.from === 'ours';
    for (const join of headers.slice(1)) {
      assert.equal(join.bytes(CHANNEL_HEADERS.groupSecret)?.length, 16);
      assert.equal(join.bool(CHANNEL_HEADERS.isFirstGroupConnection), !isOurs);
    }
    const types = headers.slice(0, 4).map((each) => each.text(CHANNEL_HEADERS.underlayType) ?? '');
    assert.deepEqual(types.sort(), ['link.ack', 'link.default', 'link.default', 'link.default']);
  }
});

test('they contain no credential and no data of the machine', () => {
  for (const { headers, frame, type } of FRAMES) {
    const grouped = headers.some(([id, value]) => id === CHANNEL_HEADERS.isGrouped && value === '01');
    for (const [id, value] of headers)
      if (grouped && id === CHANNEL_HEADERS.groupSecret) assert.match(value, /^(?:78)+$/);
    const text = Buffer.from(frame ?? '', 'hex').toString('latin1');
    assert.doesNotMatch(text, /-----BEGIN|eyJ|\/tmp\/|\/home\/|\/root\//);
    if (type === contentType.updateRouterInterfaces || type === contentType.clientHello)
      assert.equal(frame, undefined);
  }
});
