import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytesOfHex, FrontdoorError, hexOf, textOf } from '#base';
import {
  channelOf,
  frameOfHex,
  loadRecordedFrames,
  loadWireVectors,
} from '../../test/support/recorded-frames.ts';
import {
  ctrlMessages,
  DestType,
  FaultSubject,
  helloMessages,
  type ProtobufMessage,
} from './ctrl-messages.ts';
import type { DescMessage } from '@bufbuild/protobuf';
import {
  decodeCircuitCreated,
  decodeCreateCircuitV2,
  decodeCreateCircuitV3,
  decodeEdgeRefusal,
  decodeRouteResult,
  encodeCircuitCreated,
  encodeCreateCircuitV2,
  encodeEdgeRefusal,
  encodeRouteResult,
  peerDataOfEntries,
  RetryHint,
  RouteErrorCode,
} from './circuits/ctrl-messages-circuit.ts';
import {
  ControllerCapability,
  decodeControllerHello,
  decodeRouterHello,
  encodeControllerHello,
  encodeRouterHello,
} from './ctrl-messages-hello.ts';
import { makeFrame, type Frame } from './frame-codec.ts';
import { HeaderWriter } from './frame-headers.ts';
import { hasCapability } from './header-values.ts';
import { messageRow } from './message-table.ts';

const CODECS = new Map<number, ProtobufMessage<DescMessage>>(
  Object.values(ctrlMessages).map((codec) => [
    codec.contentType,
    codec as unknown as ProtobufMessage<DescMessage>,
  ]),
);

function vector(name: string): Frame {
  const found = loadWireVectors().find((each) => each.name === name);
  assert.ok(found, name);
  return frameOfHex(found.hex);
}

function recorded(type: number): Frame[] {
  return loadRecordedFrames()
    .filter((frame) => channelOf(frame) === 'ctrl' && frame.type === type)
    .flatMap(({ frame }) => (frame === undefined ? [] : [frameOfHex(frame)]));
}

/** True when any part of the message holds fields that the schema does not name. */
function hasUnknownFields(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return false;
  if ('$unknown' in value && value.$unknown !== undefined) return true;
  return Object.values(value).some(hasUnknownFields);
}

test('every recorded protobuf body decodes without unknown fields and encodes back to the same', () => {
  let same = 0;
  let equalByValue = 0;
  for (const { type, frame, name } of loadRecordedFrames()) {
    const codec = CODECS.get(type);
    if (frame === undefined || messageRow(type)?.body !== 'protobuf') continue;
    assert.ok(codec, name);
    const { body } = frameOfHex(frame);
    const decoded = codec.decode(body);
    assert.equal(hasUnknownFields(decoded), false, name);
    const encoded = codec.encode(decoded);
    if (hexOf(encoded) === hexOf(body)) same += 1;
    else {
      assert.equal(encoded.length, body.length, name);
      assert.deepEqual(codec.decode(encoded), decoded);
      equalByValue += 1;
    }
  }
  assert.equal(same + equalByValue, 103);
  assert.ok(same > 70, `${String(same)} byte for byte`);
});

test('every vector with a protobuf body decodes and encodes back byte for byte', () => {
  let count = 0;
  for (const { name, hex } of loadWireVectors()) {
    if (!name.startsWith('ctrl_') || name.includes('hello')) continue;
    const frame = frameOfHex(hex);
    const codec = CODECS.get(frame.contentType);
    if (codec === undefined) continue;
    assert.equal(hexOf(codec.encode(codec.decode(frame.body))), hexOf(frame.body), name);
    count += 1;
  }
  assert.equal(count, 6);
});

test('the vectors have the contents of their notes', () => {
  const route = ctrlMessages.route.decode(vector('ctrl_route_egress').body);
  assert.equal(route.attempt, 0);
  assert.equal(route.egress?.binding, 'transport');
  assert.equal(route.timeout, 10_000_000_000n);
  assert.deepEqual(
    route.forwards.map(({ dstType }) => dstType),
    [DestType.LINK, DestType.END],
  );
  assert.equal(ctrlMessages.unroute.decode(vector('ctrl_unroute').body).now, true);
  const links = ctrlMessages.routerLinks.decode(vector('ctrl_router_links').body);
  assert.equal(links.fullRefresh, true);
  assert.deepEqual(
    links.links.map(({ id, destRouterId }) => [id, destRouterId]),
    [['link1', 'r2']],
  );
  const fault = ctrlMessages.fault.decode(vector('ctrl_link_fault').body);
  assert.deepEqual([fault.subject, fault.id, fault.iteration], [FaultSubject.LINK_FAULT, 'link1', 1]);
  assert.equal(ctrlMessages.verifyRouter.decode(vector('ctrl_verify_router').body).routerId, 'r1');
  const request = ctrlMessages.circuitRequest.decode(vector('ctrl_circuit_request').body);
  assert.equal(textOf(peerDataOfEntries(request.peerData).get(1112)!), '10.0.0.9:1234');
});

test('RouteResult: success is a header being there, failure carries text and code', () => {
  const ok = decodeRouteResult(vector('ctrl_route_result_ok'));
  assert.deepEqual([ok.circuitId, ok.attempt, ok.isSuccess], ['5S1RDM7qE2yQXkmGtQkZ8a', 0, true]);
  assert.deepEqual([...ok.peerData.keys()], [1110, 1111]);
  const failed = decodeRouteResult(vector('ctrl_route_result_fail'));
  assert.deepEqual(
    [failed.isSuccess, failed.error, failed.errorCode],
    [false, 'connection refused', RouteErrorCode.connectionRefused],
  );
  for (const frame of recorded(1022)) {
    const result = decodeRouteResult(frame);
    const route = makeFrame(1005, { sequence: frame.headers.i32(1)! });
    const again = decodeRouteResult(encodeRouteResult(route, result));
    assert.deepEqual(again, result);
  }
  const falseValue = makeFrame(1022, { headers: new HeaderWriter().bool(1102, false), body: 'c' });
  assert.equal(decodeRouteResult(falseValue).isSuccess, true);
});

test('CreateCircuitV2 and its answer keep all of the recording', () => {
  for (const frame of recorded(20218)) {
    const request = decodeCreateCircuitV2(frame);
    assert.equal(request.fingerprints.length, 2);
    assert.deepEqual(decodeCreateCircuitV2(encodeCreateCircuitV2(request)), request);
  }
  const request = makeFrame(20218, { sequence: 9 });
  for (const frame of recorded(20219)) {
    const created = decodeCircuitCreated(frame);
    assert.deepEqual([...created.tags.keys()].sort(), ['clientId', 'hostId', 'serviceId']);
    assert.deepEqual(decodeCircuitCreated(encodeCircuitCreated(request, created)), created);
  }
  const [error] = recorded(20002);
  const refusal = decodeEdgeRefusal(error!);
  assert.equal(refusal.code, 1);
  assert.equal(refusal.retryHint, RetryHint.none);
  assert.deepEqual(decodeEdgeRefusal(encodeEdgeRefusal(request, refusal)), refusal);
});

test('a request without optional headers reads as empty, a malformed one is refused', () => {
  assert.deepEqual(decodeCreateCircuitV2(makeFrame(20218)), {
    sessionToken: '',
    apiSessionToken: '',
    fingerprints: [],
    terminatorInstanceId: '',
    peerData: new Map(),
  });
  assert.equal(decodeCreateCircuitV3(makeFrame(20222)).serviceId, '');
  const malformed = makeFrame(20218, { headers: new HeaderWriter().bytes(10, bytesOfHex('ffffffff')) });
  assert.throws(() => decodeCreateCircuitV2(malformed), isProtocolError);
  assert.throws(() => decodeRouteResult(makeFrame(1022)), isProtocolError);
  const attempt = makeFrame(1022, { headers: new HeaderWriter().u16(1101, 1), body: 'c' });
  assert.throws(() => decodeRouteResult(attempt), isProtocolError);
  assert.throws(() => ctrlMessages.route.decode(bytesOfHex('0aff')), isProtocolError);
  assert.throws(() => ctrlMessages.route.decode(bytesOfHex('0affffffff0f')), isProtocolError);
});

test('router hellos of both generations contain version and listeners', () => {
  const minimal = decodeRouterHello(vector('ctrl_hello_min'));
  assert.deepEqual([minimal?.version, minimal?.listeners, minimal?.isGrouped], ['v2.1.0', [], false]);
  const grouped = decodeRouterHello(vector('ctrl_hello_grouped'));
  assert.equal(grouped?.isGrouped, true);
  assert.deepEqual(
    grouped?.listeners.map(({ address }) => address),
    ['tls:10.0.0.1:6000'],
  );
  const [legacy] = recorded(0);
  assert.deepEqual(
    decodeRouterHello(legacy!)?.listeners.map(({ address }) => address),
    ['tls:localhost:3122'],
  );
  const joining = decodeRouterHello(vector('ctrl_hello_second_underlay'));
  assert.deepEqual(joining?.listeners, []);
  assert.equal(decodeRouterHello(makeFrame(0)), undefined);
});

test('our router hello is read by controllers of both generations', () => {
  const listener = { address: 'tls:r1.example:10080', protocol: 'tls', groups: ['default'] };
  const { headers } = makeFrame(0, { headers: encodeRouterHello('v1.7.2|a|b|linux|x64', [listener]) });
  for (const id of [10, 1000]) {
    assert.equal(helloMessages.listeners.decode(headers.bytes(id)!).listeners[0]?.address, listener.address);
  }
  assert.equal(hexOf(headers.bytes(11)!), '0a0101');
  assert.equal(hexOf(headers.bytes(1002)!), '02');
  assert.equal(decodeRouterHello(makeFrame(0, { headers }))?.listeners.length, 1);
});

test('our controller hello is read by routers of both generations', () => {
  const result = vector('ctrl_hello_result');
  assert.equal(hexOf(decodeControllerHello(result)!.capabilities), '7e');
  const [, recordedResult] = [recorded(0)[0], recorded(2)[0]];
  assert.equal(hexOf(decodeControllerHello(recordedResult!)!.capabilities), '1e');
  const headers = encodeControllerHello('v1.7.2|a|b|linux|x64', [1, 2, 3, 4, 6]);
  const ours = decodeControllerHello(makeFrame(2, { headers }));
  assert.equal(hexOf(headers.bytes(12)!), '5e');
  assert.equal(hasCapability(ours?.capabilities, ControllerCapability.supportsJwtLegacySessions), true);
  assert.equal(hasCapability(ours?.capabilities, ControllerCapability.groupedCtrlChannel), false);
});

function isProtocolError(error: unknown): boolean {
  return error instanceof FrontdoorError && error.kind === 'protocol';
}

test('a message that is passed on within the process is the one that its bytes decode to', () => {
  const frame = ctrlMessages.route.passedFrame({
    circuitId: 'c1',
    egress: { binding: 'edge', address: 'a1', peerData: [{ key: 1105, value: Uint8Array.of(1, 2) }] },
    forwards: [{ srcAddress: 'a1', dstAddress: 'l1', dstType: DestType.LINK }],
    timeout: 10_000_000_000n,
    tags: { serviceId: 's1' },
  });
  const { message } = frame;
  assert.equal(ctrlMessages.route.of(frame), message);
  assert.deepEqual(ctrlMessages.route.decode(frame.body), message);
  assert.deepEqual(ctrlMessages.route.of(makeFrame(frame.contentType, { body: frame.body })), message);
  const fault = ctrlMessages.fault.passedFrame({ subject: FaultSubject.EGRESS_FAULT, id: 'c1' });
  assert.throws(() => ctrlMessages.route.of({ ...fault, body: Uint8Array.of(0xff) }), {
    code: 'malformed-body',
  });
});
