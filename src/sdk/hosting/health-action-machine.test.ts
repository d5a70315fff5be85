import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PRECEDENCE } from '../terminator-options.ts';
import {
  applyHealthActions,
  parseHealthAction,
  stepCheckRun,
  type CheckRun,
  type HealthAction,
  type TerminatorValues,
} from './health-action-machine.ts';

const { default: DEFAULT, required: REQUIRED } = PRECEDENCE;
const NAMES = ['DEFAULT', 'REQUIRED', 'FAILED'];
const BASELINE: TerminatorValues = { cost: 10, precedence: REQUIRED };

function action(
  words: string,
  trigger: HealthAction['trigger'],
  consecutiveEvents = 0,
  durationMs = 0,
): HealthAction {
  return { trigger, consecutiveEvents, durationMs, step: parseHealthAction(words)! };
}

/** Applies results that are one second apart, such as `pass fail fail`, and returns what each had as its effect. */
function effects(actions: readonly HealthAction[], results: string, baseline = BASELINE): string[] {
  let run: CheckRun | undefined;
  let values = baseline;
  let nowMs = 1_000_000;
  return results.split(' ').map((result) => {
    nowMs += 1_000;
    run = stepCheckRun(run, result === 'pass', nowMs);
    const outcome = applyHealthActions(actions, run, values, baseline, nowMs);
    values = outcome.values;
    return `${values.cost} ${NAMES[values.precedence]}${outcome.sendsEvent ? ' event' : ''}`;
  });
}

test('a failing check removes its terminator from the choice, and a passing one restores it', () => {
  const actions = [action('mark unhealthy', 'fail'), action('mark healthy', 'pass')];
  assert.deepEqual(effects(actions, 'pass fail fail pass'), [
    '10 REQUIRED',
    '10 FAILED',
    '10 FAILED',
    '10 REQUIRED',
  ]);
  assert.deepEqual(effects(actions, 'fail pass', { cost: 0, precedence: DEFAULT }), [
    '0 FAILED',
    '0 DEFAULT',
  ]);
});

test('an action waits for its number of results and for its time', () => {
  const three = [action('increase cost 5', 'fail', 3)];
  assert.deepEqual(effects(three, 'fail fail pass fail fail fail fail'), [
    ...Array.from({ length: 5 }, () => '10 REQUIRED'),
    '15 REQUIRED',
    '20 REQUIRED',
  ]);
  const both = [action('increase cost 5', 'fail', 2, 3_000)];
  assert.deepEqual(effects(both, 'fail fail fail fail'), [
    '10 REQUIRED',
    '10 REQUIRED',
    '10 REQUIRED',
    '15 REQUIRED',
  ]);
  const change = [action('send event', 'change')];
  assert.deepEqual(effects(change, 'pass pass fail fail pass'), [
    '10 REQUIRED event',
    '10 REQUIRED',
    '10 REQUIRED event',
    '10 REQUIRED',
    '10 REQUIRED event',
  ]);
});

test('costs stay between the baseline and the maximum, and do not grow while the terminator is failed', () => {
  const actions = [action('increase cost 65535', 'fail'), action('decrease cost 60000', 'pass')];
  assert.deepEqual(effects(actions, 'fail pass pass'), ['65535 REQUIRED', '5535 REQUIRED', '10 REQUIRED']);
  const failed = [action('mark unhealthy', 'fail'), action('increase cost 1', 'fail')];
  assert.deepEqual(effects(failed, 'fail fail'), ['11 FAILED', '11 FAILED']);
});

test('other words are no action', () => {
  for (const words of [
    'mark',
    'increase cost',
    'increase cost 0',
    'increase cost 65536',
    'decrease cost -1',
    '',
  ])
    assert.equal(parseHealthAction(words), undefined, words);
  assert.deepEqual(parseHealthAction('decrease cost 3'), { type: 'decreaseCost', by: 3 });
});
