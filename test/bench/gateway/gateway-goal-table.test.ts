import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Measured } from '../bench-result.ts';
import { figureOf } from '../figure.ts';
import { NGINX_PROXY } from './bench-front.ts';
import { UP, UP_KEY, UP_SESSION } from './front-names.ts';
import { gatewayGoalText } from './gateway-bench-report.ts';
import type { GatewayBenchResult } from './gateway-bench-result.ts';
import { scenarioName } from './gateway-scenario-table.ts';

const MIB = 1024 * 1024;

function resultWith(parts: Partial<GatewayBenchResult>): GatewayBenchResult {
  return {
    format: 1,
    startedAt: '2026-01-01T00:00:00.000Z',
    machine: { cpus: 2, model: 'any', kernel: 'any', node: 'any' },
    rounds: 1,
    roundSeconds: 1,
    skipped: [],
    scenarios: {},
    shapes: {},
    checked: { requests: 0, unique: 0 },
    idle: {},
    workers: undefined,
    ...parts,
  };
}

function measured(perSecond: number, p50Us: readonly number[] = [1_000]): Measured {
  const us = figureOf(p50Us);
  return { rate: figureOf([perSecond]), p50Us: us, p99Us: us, cpuUs: {} };
}

test('a run that measured nothing reaches no goal', () => {
  const text = gatewayGoalText(resultWith({}));
  assert.doesNotMatch(text, /reached|MISSED/);
  assert.equal(text.match(/not measured/g)?.length, 13);
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
  const text = gatewayGoalText(resultWith({ scenarios }));
  assert.match(text, /requests\/s, 32 connections, API key +≥ 0\.8 × +0\.81 × +reached/);
  assert.match(text, /requests\/s, 32 connections, session +≥ 0\.8 × +0\.79 × +MISSED/);
  assert.match(text, /what an API key costs, of requests\/s +≤ 10 % +10\.00 % +reached/);
  assert.match(text, /what a session costs, of requests\/s +≤ 10 % +12\.22 % +MISSED/);
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
  const text = gatewayGoalText(resultWith({ scenarios }));
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
  assert.match(gatewayGoalText(resultWith({ scenarios })), /p50, one connection.* 3\.00 × +reached/);
});

test('an idle connection costs what the process grew by, TLS is judged by the whole process', () => {
  const grown = { beforeBytes: 200 * MIB, heldBytes: 225 * MIB };
  const idle = {
    plain: { [UP]: { connections: 2_000, ...grown } },
    TLS: { [UP]: { connections: 10_000, beforeBytes: 200 * MIB, heldBytes: 1_100 * MIB } },
  };
  const text = gatewayGoalText(resultWith({ idle }));
  assert.match(text, /per idle plain connection +≤ 12 KiB +12\.80 KiB +MISSED/);
  assert.match(text, /10,000 idle TLS connections +≤ 1024 MiB +1100\.00 MiB +MISSED/);
});

test('fewer than 10,000 idle TLS connections prove nothing about 10,000', () => {
  const idle = { TLS: { [UP]: { connections: 500, beforeBytes: MIB, heldBytes: 2 * MIB } } };
  assert.match(gatewayGoalText(resultWith({ idle })), /10,000 idle TLS connections .* not measured/);
});

test('two workers are held to the CPU time of one and to an even spread', () => {
  const workers = { oneWorkerUs: 30, twoWorkersUs: 33.6, spread: [380, 620] };
  const text = gatewayGoalText(resultWith({ workers }));
  assert.match(text, /two workers to one +≤ 1\.1 × +1\.12 × +MISSED/);
  assert.match(text, /worker that has fewer +≥ 40 % +38\.00 % +MISSED/);
});
