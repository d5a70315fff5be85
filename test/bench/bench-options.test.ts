import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseBenchOptions } from './bench-options.ts';

test('no options: five rounds of the product as one process', () => {
  const options = parseBenchOptions([]);
  assert.ok(!('problem' in options));
  assert.deepEqual([options.rounds, options.singleRounds, options.shapes], [5, 6, ['up']]);
});

test('wrong options are told, not ignored', () => {
  for (const args of [
    ['--shape', 'x'],
    ['--rounds', '0'],
    ['--nonsense'],
    ['a.json'],
    ['--compare', 'a.json'],
  ]) {
    assert.ok('problem' in parseBenchOptions(args), args.join(' '));
  }
});

test('two files are compared', () => {
  const options = parseBenchOptions(['--compare', 'a.json', 'b.json']);
  assert.ok(!('problem' in options));
  assert.deepEqual(options.compare, ['a.json', 'b.json']);
});
