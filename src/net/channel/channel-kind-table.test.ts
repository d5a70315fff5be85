import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contentType, encodeFrame, FrameDecoder, makeFrame } from '#wire';
import { frameLimitsOf } from './channel-kind-table.ts';

const MIB = 1024 * 1024;

test('an SDK may describe its circuits at length, and no other answer or request of its may be as long', () => {
  const faultOf = (type: number, bytes: number): unknown =>
    new FrameDecoder(frameLimitsOf('ziti-edge')).push(
      encodeFrame(makeFrame(type, { body: new Uint8Array(bytes) })),
      () => {},
    );
  assert.equal(faultOf(contentType.edgeInspectResponse, 13 * MIB), undefined);
  assert.equal(faultOf(contentType.edgeInspectResponse, 17 * MIB), 'body-too-long');
  for (const type of [contentType.bind, contentType.connInspectResponse, contentType.updateToken])
    assert.equal(faultOf(type, MIB), 'body-too-long');
});
