import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeFrame, textOfBody } from './frame-codec.ts';
import { FrameHeaders, HeaderWriter } from './frame-headers.ts';
import {
  acceptHello,
  CHANNEL_HEADERS,
  makeHello,
  makeResult,
  ownRelease,
  parseVersionHeader,
  rejectHello,
  RESULT_TYPE,
  versionHeader,
  WIRE_VERSION,
} from './hello-codec.ts';

test('the answer to a hello names the sequence of the hello, of Go and of C alike', () => {
  for (const sequence of [-1, 0, 41]) {
    const hello = makeHello('r1', FrameHeaders.empty, sequence);
    const answer = acceptHello(hello, { connectionId: 'c1', ownId: 'ctrl' });
    assert.deepEqual([answer.contentType, answer.sequence], [RESULT_TYPE, -1]);
    assert.equal(answer.headers.i32(CHANNEL_HEADERS.replyFor), sequence);
    assert.equal(answer.headers.bool(CHANNEL_HEADERS.resultSuccess), true);
    assert.equal(answer.headers.text(CHANNEL_HEADERS.connectionId), 'c1');
    assert.equal(answer.headers.text(CHANNEL_HEADERS.id), 'ctrl');
    assert.equal(answer.headers.has(CHANNEL_HEADERS.isGrouped), false);
  }
});

test('the answer to a grouped hello carries the group, and what the listener adds', () => {
  const secret = new Uint8Array(16).fill(7);
  const answer = acceptHello(makeHello('x', FrameHeaders.empty), {
    connectionId: 'c1',
    ownId: 'router',
    group: { underlayType: 'edge.default', secret },
    extra: new HeaderWriter().text(1032, 'more').build(),
  });
  assert.equal(answer.headers.text(CHANNEL_HEADERS.underlayType), 'edge.default');
  assert.equal(answer.headers.bool(CHANNEL_HEADERS.isGrouped), true);
  assert.deepEqual(answer.headers.bytes(CHANNEL_HEADERS.groupSecret), secret);
  assert.equal(answer.headers.text(1032), 'more');
});

test('a refusal has a reason and is marked as one', () => {
  const refusal = rejectHello(makeHello('x', FrameHeaders.empty, 0), 'not today');
  assert.equal(refusal.headers.bool(CHANNEL_HEADERS.resultSuccess), false);
  assert.equal(refusal.headers.i32(CHANNEL_HEADERS.replyFor), 0);
  assert.equal(textOfBody(refusal), 'not today');
});

test('a result answers its request and hands back what is to be reflected', () => {
  const probe = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8);
  const request = makeFrame(3, { sequence: 12, headers: new HeaderWriter().bytes(128, probe) });
  const result = makeResult(request, true);
  assert.equal(result.headers.i32(CHANNEL_HEADERS.replyFor), 12);
  assert.deepEqual(result.headers.bytes(CHANNEL_HEADERS.reflected), probe);
  assert.equal(makeResult(makeFrame(1), false, 'why').headers.has(CHANNEL_HEADERS.reflected), false);
});

test('the version is the first of exactly five parts, and our own stands in the second', () => {
  const text = versionHeader('linux', 'x64');
  const release = '0.1.0+4b51014bafc2.2026-11-28';
  assert.equal(ownRelease(versionHeader('linux', 'x64', release)), release);
  assert.equal(ownRelease(text), '');
  assert.equal(text.split('|').length, 5);
  assert.equal(parseVersionHeader(text), WIRE_VERSION);
  for (const wrong of [undefined, '', 'v1.7.2', 'a|b|c|d', 'a|b|c|d|e|f']) {
    assert.equal(parseVersionHeader(wrong), undefined);
  }
});
