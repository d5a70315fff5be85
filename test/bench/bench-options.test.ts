import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseBenchOptions, usageOf, type BenchOptions, type OptionTable } from './bench-options.ts';

const TABLE: OptionTable = {
  name: 'bench:any',
  full: { rounds: 5, roundSeconds: 4, singleRounds: 6 },
  quick: { rounds: 1, roundSeconds: 1, singleRounds: 1 },
  choices: { shape: ['up', 'separate'] },
};

function parsed(...args: string[]): BenchOptions {
  const options = parseBenchOptions(TABLE, args);
  assert.ok(!('problem' in options));
  return options;
}

test('no options: the rounds of a full run, every scenario, the first value of each choice', () => {
  const { rounds, singleRounds, isQuick, only, chosen } = parsed();
  assert.deepEqual([rounds, singleRounds, isQuick, only, chosen], [5, 6, false, undefined, { shape: 'up' }]);
});

test('a run is beside the fixed other load only where it is asked for', () => {
  assert.deepEqual([parsed().isBusy, parsed('--busy').isBusy], [false, true]);
});

test('rounds, seconds, a scenario and a choice are taken as given', () => {
  const args = ['--quick', '--rounds', '3', '--seconds', '7', '--scenario', 'TLS', '--shape', 'separate'];
  const { rounds, singleRounds, roundSeconds, only, chosen } = parsed(...args);
  assert.deepEqual(
    [rounds, singleRounds, roundSeconds, only, chosen],
    [3, 3, 7, 'TLS', { shape: 'separate' }],
  );
});

test('fewer rounds leave those with one connection, of which the best counts', () => {
  assert.equal(parsed('--rounds', '2').singleRounds, 6);
});

test('wrong options are reported, not ignored', () => {
  for (const args of [
    ['--shape', 'x'],
    ['--rounds', '0'],
    ['--seconds', 'x'],
    ['--nonsense'],
    ['a.json'],
    ['--compare', 'a.json'],
  ]) {
    assert.ok('problem' in parseBenchOptions(TABLE, args), args.join(' '));
  }
});

test('two files are compared', () => {
  assert.deepEqual(parsed('--compare', 'a.json', 'b.json').compare, ['a.json', 'b.json']);
});

test("the usage names the script and the benchmark's own options", () => {
  assert.match(usageOf(TABLE), /npm run bench:any -- .*\[--shape up\|separate\]/);
});
