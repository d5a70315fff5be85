import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failedWay } from './failed-way.ts';

const shown = (hop: string, status = 502): string =>
  failedWay(hop, status)
    .map((part) => `${part.hop} ${part.state}`)
    .join(', ');

test('hops before the failure passed, and those after it were not reached', () => {
  assert.equal(shown('router'), 'client works, gateway works, router broken, agent unknown, service unknown');
  assert.equal(
    shown('client', 0),
    'client broken, gateway unknown, router unknown, agent unknown, service unknown',
  );
});

test('a request that the gateway answered with a refusal reached the gateway, which decided', () => {
  assert.equal(
    shown('client', 403),
    'client works, gateway refused, router unknown, agent unknown, service unknown',
  );
});

test('the control plane stands on the way when it failed', () => {
  assert.match(shown('control'), /gateway works, control broken, router unknown/);
});

test('a hop that this console does not know is shown, and nothing is claimed about the others', () => {
  assert.equal(
    shown('proxy'),
    'client unknown, gateway unknown, router unknown, agent unknown, service unknown, proxy broken',
  );
});
