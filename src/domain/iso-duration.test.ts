import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatIsoDuration, parseIsoDuration } from './iso-duration.ts';

test('durations from weeks to seconds are read, with a fraction of the smallest part', () => {
  const rows: readonly (readonly [string, number])[] = [
    ['PT5M', 300_000],
    ['PT15M', 900_000],
    ['PT1H', 3_600_000],
    ['P1D', 86_400_000],
    ['P30D', 2_592_000_000],
    ['P1W', 604_800_000],
    ['P1W2DT3H4M5S', 604_800_000 + 2 * 86_400_000 + 3 * 3_600_000 + 4 * 60_000 + 5_000],
    ['PT90S', 90_000],
    ['PT0S', 0],
    ['PT0.5H', 1_800_000],
    ['PT0,25S', 250],
    ['PT1M0.5S', 60_500],
    ['P0.5D', 43_200_000],
    ['PT36H', 129_600_000],
  ];
  for (const [text, ms] of rows) assert.equal(parseIsoDuration(text), ms, text);
});

test('years, months and malformed texts are no durations', () => {
  const wrong = [
    '',
    'P',
    'PT',
    'T1H',
    '1H',
    'PT1',
    'P1',
    'P1H',
    'PT1D',
    'P1M',
    'P1Y',
    'P1Y2M',
    'P1DT',
    'pt1h',
    'PT1h',
    'PT-1H',
    '-PT1H',
    '+PT1H',
    ' PT1H',
    'PT1H ',
    'PT1H1H',
    'PT1S1M',
    'PT1.5H30M',
    'PT.5S',
    'PT1.S',
    'PT1e3S',
    'PT0x10S',
    'PT1,5,5S',
    'PT12345678901S',
    'P1DPT1H',
    'PTxS',
    '3600',
  ];
  for (const text of wrong) assert.equal(parseIsoDuration(text), undefined, JSON.stringify(text));
});

test('a formatted duration parses to the same value, and is in its shortest form', () => {
  const rows: readonly (readonly [number, string])[] = [
    [0, 'PT0S'],
    [10_000, 'PT10S'],
    [90_000, 'PT1M30S'],
    [3_600_000, 'PT1H'],
    [5_400_000, 'PT1H30M'],
    [86_400_000, 'P1D'],
    [90_061_000, 'P1DT1H1M1S'],
    [2_592_000_000, 'P30D'],
    [500, 'PT0.5S'],
  ];
  for (const [ms, text] of rows) {
    assert.equal(formatIsoDuration(ms), text);
    assert.equal(parseIsoDuration(text), ms);
  }
});
