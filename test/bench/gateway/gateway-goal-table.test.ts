import assert from 'node:assert/strict';
import { test } from 'node:test';
import { goalText } from '../bench-report.ts';
import { measured, resultWith } from '../bench-result-fixture.ts';
import type { BenchResult } from '../bench-result.ts';
import { NGINX_PROXY } from '../nginx-peer.ts';
import { UP, UP_KEY, UP_SESSION } from './bench-front.ts';
import { GATEWAY_GOALS } from './gateway-goal-table.ts';
import {
  CONNECTIONS_COLUMN,
  EACH_COLUMN,
  HELD_COLUMN,
  IDLE_TABLES,
  scenarioName,
} from './gateway-scenario-table.ts';

function goalsWith(parts: Partial<BenchResult>): string {
  return goalText('goals', GATEWAY_GOALS, resultWith(parts));
}

test('a run that measured nothing reaches no goal', () => {
  const text = goalsWith({});
  assert.doesNotMatch(text, /reached|MISSED/);
  assert.equal(text.match(/not measured/g)?.length, 14);
});

test('authentication costs what it takes from the rate without it, of the same run', () => {
  const scenarios = {
    [scenarioName(false, false, 32)]: {
      [NGINX_PROXY]: measured(10_000),
      [UP]: measured(9_000),
      [UP_KEY]: measured(8_100),
      [UP_SESSION]: measured(7_900),
    },
  };
  const text = goalsWith({ scenarios });
  assert.match(text, /requests\/s, 32 connections, API key +≥ 0\.8 × +0\.81 × +reached/);
  assert.match(text, /requests\/s, 32 connections, session +≥ 0\.8 × +0\.79 × +MISSED/);
  assert.match(text, /what an API key costs, of requests\/s +≤ 10 % +10\.00 % +reached/);
  assert.match(text, /what a session costs, of requests\/s +≤ 10 % +12\.2 % +MISSED/);
});

test('a session that does not count on plain HTTP is judged over TLS, beside nginx over TLS', () => {
  const scenarios = {
    [scenarioName(false, false, 32)]: { [NGINX_PROXY]: measured(10_000), [UP]: measured(10_000) },
    [scenarioName(true, false, 32)]: {
      [NGINX_PROXY]: measured(5_000),
      [UP]: measured(4_500),
      [UP_SESSION]: measured(4_400),
    },
  };
  const text = goalsWith({ scenarios });
  assert.match(text, /32 connections, session, over TLS +≥ 0\.8 × +0\.88 × +reached/);
  assert.match(text, /what a session costs, of requests\/s, over TLS +≤ 10 % +2\.22 % +reached/);
});

test('with one connection the best round of each side counts', () => {
  const scenarios = {
    [scenarioName(false, false, 1)]: {
      [NGINX_PROXY]: measured(1, [40, 90, 90]),
      [UP_KEY]: measured(1, [120, 400, 500]),
    },
  };
  assert.match(goalsWith({ scenarios }), /p50, one connection.* 3\.00 × +reached/);
});

test('an idle plain connection is judged by what it adds, TLS by the whole process', () => {
  const tables = {
    [IDLE_TABLES.plain]: { [UP]: { [CONNECTIONS_COLUMN]: 2_000, [EACH_COLUMN]: 12.8 } },
    [IDLE_TABLES.secure]: { [UP]: { [CONNECTIONS_COLUMN]: 10_000, [HELD_COLUMN]: 1_100 } },
  };
  const text = goalsWith({ tables });
  assert.match(text, /per idle plain connection +≤ 12 KiB +12\.8 KiB +MISSED/);
  assert.match(text, /10,000 idle TLS connections +≤ 1024 MiB +1,100 MiB +MISSED/);
});

test('fewer than 10,000 idle TLS connections prove nothing about 10,000', () => {
  const tables = { [IDLE_TABLES.secure]: { [UP]: { [CONNECTIONS_COLUMN]: 500, [HELD_COLUMN]: 2 } } };
  assert.match(goalsWith({ tables }), /10,000 idle TLS connections .* not measured/);
});
