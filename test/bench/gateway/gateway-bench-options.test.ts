import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseGatewayBenchOptions } from './gateway-bench-options.ts';

test('no options: five rounds and 10,000 idle TLS clients', () => {
  const options = parseGatewayBenchOptions([]);
  assert.ok(!('problem' in options));
  assert.deepEqual([options.rounds, options.singleRounds, options.idleSecure], [5, 6, 10_000]);
});

test('rounds, seconds and a scenario are taken as given', () => {
  const options = parseGatewayBenchOptions([
    '--quick',
    '--rounds',
    '3',
    '--seconds',
    '7',
    '--scenario',
    'TLS',
  ]);
  assert.ok(!('problem' in options));
  const { rounds, singleRounds, roundSeconds, only } = options;
  assert.deepEqual([rounds, singleRounds, roundSeconds, only], [3, 3, 7, 'TLS']);
});

test('wrong options are told, not ignored', () => {
  for (const args of [
    ['--rounds', '0'],
    ['--seconds', 'x'],
    ['--nonsense'],
    ['a.json'],
    ['--compare', 'a'],
  ]) {
    assert.ok('problem' in parseGatewayBenchOptions(args), args.join(' '));
  }
});
