import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog } from '#base';
import { contentType, HeaderWriter, headerId, makeFrame } from '#wire';
import { costOf, IdentityMemory, keptFrame, memoryFault } from './identity-memory.ts';

function bind(tokenBytes: number) {
  const headers = new HeaderWriter().u32(headerId.edge.connId, 1);
  return makeFrame(contentType.bind, { headers, body: new Uint8Array(tokenBytes) });
}

test('the memory of one identity is bounded, independently of others, and returned bytes count again', () => {
  const memory = new IdentityMemory(1_000);
  assert.equal(memory.take('a', 600), true);
  assert.equal(memory.take('a', 600), false);
  assert.equal(memory.take('b', 600), true);
  memory.giveBack('a', 600);
  assert.equal(memory.take('a', 1_000), true);
  memory.giveBack('a', 1_000);
  assert.equal(memory.take('a', 1_001), false);
});

test('binds and dials of one identity are refused beyond what it may have, on all of its channels together', () => {
  const memory = new IdentityMemory(10 * costOf(bind(1_000)));
  const faults = Array.from({ length: 11 }, () => memoryFault(bind(1_000), 'a', memory, silentLog));
  assert.deepEqual(faults, [...Array.from({ length: 10 }, () => undefined), 'too many binds and dials']);
  assert.equal(memoryFault(bind(1_000), 'b', memory, silentLog), undefined);
  assert.equal(memoryFault(bind(40_000), 'b', memory, silentLog), 'the token is too long');
});

test('a bind that stands does not keep the read that brought it', () => {
  const read = new Uint8Array(16_384);
  const kept = keptFrame({ ...bind(0), body: read.subarray(0, 100) });
  assert.equal(kept.body.buffer.byteLength, 100);
});
