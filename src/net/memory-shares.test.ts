import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memorySharesOf } from './memory-shares-policy.ts';

const MIB = 1024 * 1024;

function inMib(memoryBytes: number): number[] {
  return Object.values(memorySharesOf(memoryBytes)).map((bytes: number) => bytes / MIB);
}

test('a control group of 512 MiB keeps two fifths of its memory for the program', () => {
  assert.deepEqual(inMib(512 * MIB), [72, 116, 58, 29, 29]);
});

test('the shares grow with the memory, up to what is of use', () => {
  assert.deepEqual(inMib(2_096 * MIB), [256, 512, 256, 128, 128]);
  assert.deepEqual(inMib(24_576 * MIB), [512, 1_024, 1_024, 256, 256]);
});

test('what peers can make it hold fits beside the program in a small control group', () => {
  assert.deepEqual(inMib(128 * MIB), [72, 20, 10, 5, 5]);
  assert.deepEqual(inMib(64 * MIB), [72, 4, 2, 1, 1]);
});

test('a smaller machine keeps what the protocols require', () => {
  assert.deepEqual(inMib(32 * MIB), [72, 4, 2, 1, 1]);
});
