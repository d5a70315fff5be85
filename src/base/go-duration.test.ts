import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatGoDuration, parseGoDuration } from './go-duration.ts';

test('durations are numbers with units, added up', () => {
  for (const [text, ms] of [
    ['5s', 5_000],
    ['250ms', 250],
    ['1m', 60_000],
    ['24h', 86_400_000],
    ['1h30m', 5_400_000],
    ['1.5h', 5_400_000],
    ['.5s', 500],
    ['2h30m22s', 9_022_000],
    ['1000us', 1],
    ['1000µs', 1],
    ['1000μs', 1],
    ['1000000ns', 1],
    ['0', 0],
    ['-5s', -5_000],
    ['+5s', 5_000],
    ['2.3s', 2_300],
    ['0.3ms', 0.3],
    ['1.5ms', 1.5],
  ] as const) {
    assert.equal(parseGoDuration(text), ms, text);
  }
});

test('without a unit, with an unknown one, or with spaces it is none', () => {
  for (const text of ['', '5', '5 s', ' 5s', '5d', '1w', 's', '.s', '5s5', '1e3s', 'PT5S']) {
    assert.equal(parseGoDuration(text), undefined, text);
  }
});

test('a duration is written in the largest unit that needs no fraction', () => {
  for (const [ms, text] of [
    [0, '0s'],
    [80_000, '80s'],
    [3_600_000, '1h'],
    [250, '250ms'],
    [0.3, '300us'],
    [1.5, '1500us'],
    [0.000_001, '1ns'],
    [-500, '-500ms'],
  ] as const)
    assert.equal(formatGoDuration(ms), text);
});
