import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DestType } from '#wire/ctrl';
import { planRoute } from './route-plan-policy.ts';

const ADDRESSES = { ingressAddress: 'in', egressAddress: 'out' };
const { START, END, LINK } = DestType;

function entries(routerIds: string[], linkIds: string[]) {
  return planRoute({ routerIds, linkIds }, ADDRESSES).map(({ routerId, isEgress, forwards }) => [
    routerId,
    isEgress,
    ...forwards.map(({ srcAddress, dstAddress, dstType }) => [srcAddress, dstAddress, dstType]),
  ]);
}

test('one router joins both ends', () => {
  assert.deepEqual(entries(['a'], []), [['a', true, ['in', 'out', END], ['out', 'in', START]]]);
});

test('two routers share a link', () => {
  assert.deepEqual(entries(['a', 'b'], ['l']), [
    ['a', false, ['in', 'l', LINK], ['l', 'in', START]],
    ['b', true, ['out', 'l', LINK], ['l', 'out', END]],
  ]);
});

test('routers between the ends join link to link, both ways', () => {
  assert.deepEqual(entries(['a', 'b', 'c', 'd'], ['k', 'l', 'm']), [
    ['a', false, ['in', 'k', LINK], ['k', 'in', START]],
    ['b', false, ['k', 'l', LINK], ['l', 'k', LINK]],
    ['c', false, ['l', 'm', LINK], ['m', 'l', LINK]],
    ['d', true, ['out', 'm', LINK], ['m', 'out', END]],
  ]);
});
