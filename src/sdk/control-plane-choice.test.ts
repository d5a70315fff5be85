import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '#base';
import { ControlPlaneChoice, MAX_CONTROL_PLANES } from './control-plane-choice.ts';

const [A, B, C] = ['https://a.example:1280', 'https://b.example:1280', 'https://c.example:1280'] as const;
const FIRST_PAUSE_MS = 60_000;

function open(random = 0): { clock: ManualClock; choice: ControlPlaneChoice } {
  const clock = new ManualClock();
  return { clock, choice: new ControlPlaneChoice({ home: A, clock, random: () => random }) };
}

test('a client that knows one control plane stays there when it fails', () => {
  const { clock, choice } = open();
  assert.equal(choice.failed(A), undefined);
  clock.advance(3_600_000);
  assert.deepEqual([choice.current, choice.isReturnDue, choice.next(new Set([A]))], [A, false, undefined]);
});

test('the one in use is kept until it fails; then a random other one is used that has not failed lately', () => {
  const { clock, choice } = open(0.99);
  assert.ok(choice.replace([A, B, C]));
  assert.equal(choice.current, A);
  assert.equal(choice.failed(A), C);
  assert.equal(choice.failed(A), undefined, 'a late failure of the former one changes nothing');
  assert.equal(choice.failed(C), B);
  assert.ok(!choice.hasBetter(B));
  // All failed: the oldest failure is the next.
  clock.advance(1_000);
  assert.equal(choice.failed(B), A);
  clock.advance(30_000);
  assert.ok(choice.hasBetter(A));
});

test('clients of one that fails spread over the others', () => {
  const used = new Set<string>();
  for (const random of [0, 0.49, 0.51, 0.99]) {
    const { choice } = open(random);
    choice.replace([A, B, C]);
    used.add(choice.failed(A)!);
  }
  assert.deepEqual([...used].sort(), [B, C]);
});

test('the home is due again after a random pause, which grows while it fails soon, and starts again after ten minutes there', () => {
  const pauseOf = (choice: ControlPlaneChoice, clock: ManualClock): number => {
    choice.failed(A);
    for (let ms = 0; ; ms += 10_000) {
      if (choice.isReturnDue) return ms;
      clock.advance(10_000);
    }
  };
  const { clock, choice } = open(0);
  choice.replace([B]);
  assert.equal(pauseOf(choice, clock), FIRST_PAUSE_MS);
  choice.use(A);
  assert.ok(!choice.isReturnDue);
  clock.advance(60_000);
  assert.equal(pauseOf(choice, clock), 2 * FIRST_PAUSE_MS);
  choice.use(A);
  clock.advance(600_000);
  assert.equal(pauseOf(choice, clock), FIRST_PAUSE_MS);
  const late = open(0.999);
  late.choice.replace([B]);
  assert.equal(
    pauseOf(late.choice, late.clock),
    2 * FIRST_PAUSE_MS,
    'up to twice as late for another client',
  );
});

test('a list has plain https addresses without their paths, each once, at most sixteen; home and the one in use stay', () => {
  const { choice } = open();
  choice.replace([
    `${B}/edge/client/v1`,
    B,
    'http://plain.example',
    'https://user:secret@x.example',
    'no address',
    'javascript:alert(1)',
    `https://${'long.'.repeat(80)}example`,
    '',
  ]);
  assert.deepEqual(choice.urls, [A, B]);
  assert.ok(!choice.replace([B, A]), 'the same list in another order is no change');
  choice.failed(A);
  assert.ok(choice.replace([C]));
  assert.deepEqual([choice.current, choice.urls], [B, [A, B, C]]);
  choice.replace(Array.from({ length: 100 }, (_, index) => `https://${index}.example`));
  assert.equal(choice.urls.length, MAX_CONTROL_PLANES);
  assert.ok(choice.urls.includes(A) && choice.urls.includes(B));
});

test('those that are listed as offline are used only when all others have failed', () => {
  const { choice } = open(0.99);
  choice.replace([B], [C]);
  assert.equal(choice.failed(A), B);
  assert.ok(!choice.hasBetter(B));
  assert.deepEqual(choice.next(new Set([B, A])), C);
  choice.use(C);
  assert.equal(choice.current, C);
});
