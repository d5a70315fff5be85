import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memorySharesOf } from './memory-shares-policy.ts';

const MIB = 1024 * 1024;

function inMib(memoryBytes: number): number[] {
  return Object.values(memorySharesOf(memoryBytes)).map((bytes: number) => bytes / MIB);
}

test('a control group of 512 MiB keeps two fifths of its memory for the program', () => {
  assert.deepEqual(inMib(512 * MIB), [72, 128, 64, 32]);
});

test('the shares grow with the memory, up to what is of use', () => {
  assert.deepEqual(inMib(2_048 * MIB), [256, 512, 256, 128]);
  assert.deepEqual(inMib(24_576 * MIB), [512, 1_024, 1_024, 256]);
});

test('a smaller machine keeps what the protocols require', () => {
  assert.deepEqual(inMib(128 * MIB), [72, 64, 32, 16]);
});
