import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FrameHeaders, HeaderWriter, headerId, versionHeader } from '#wire';
import { edgeHeartbeat } from './edge-listener.ts';

test('an agent of Frontdoor is noticed when it is silent from the first moment on, another SDK only once it sent heartbeats', () => {
  const own = new HeaderWriter().text(headerId.channel.helloVersion, versionHeader('linux', 'x64')).build();
  assert.deepEqual(
    [own, FrameHeaders.empty].map((hello) => edgeHeartbeat(hello).onlyIfPeerBeats),
    [false, true],
  );
});
