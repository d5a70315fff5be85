import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '#base';
import { AnsweringAddresses } from './answering-addresses.ts';

const DEAD = { address: '192.0.2.1', family: 4 };
const GOOD = { address: '192.0.2.2', family: 4 };

test('the address that answered last is tried first, for five minutes, while the name has it', () => {
  const clock = new ManualClock();
  const answering = new AnsweringAddresses(clock);
  assert.deepEqual(answering.inOrder('app:80', [DEAD, GOOD]), [DEAD, GOOD]);
  answering.answered('app:80', GOOD.address);
  assert.deepEqual(answering.inOrder('app:80', [DEAD, GOOD]), [GOOD, DEAD]);
  assert.deepEqual(answering.inOrder('other:80', [DEAD, GOOD]), [DEAD, GOOD]);
  assert.deepEqual(answering.inOrder('app:80', [DEAD]), [DEAD]);
  clock.advance(300_001);
  assert.deepEqual(answering.inOrder('app:80', [DEAD, GOOD]), [DEAD, GOOD]);
});

test('the number of services that are remembered is bounded', () => {
  const answering = new AnsweringAddresses();
  for (let i = 0; i <= 1_024; i += 1) answering.answered(`app${i}:80`, GOOD.address);
  assert.deepEqual(answering.inOrder('app0:80', [DEAD, GOOD]), [DEAD, GOOD]);
  assert.deepEqual(answering.inOrder('app1024:80', [DEAD, GOOD]), [GOOD, DEAD]);
});
