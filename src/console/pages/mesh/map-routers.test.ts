import assert from 'node:assert/strict';
import { test } from 'node:test';
import { neighborsOf, routersInOrder } from './map-routers.ts';

const router = (id: string, online = true) => ({ id, name: id, online });
const link = (sourceRouterId: string, destinationRouterId: string, usable = true) => ({
  sourceRouterId,
  destinationRouterId,
  usable,
});

test('routers that are away come first, then those with an unusable link, then the others by name and number', () => {
  const links = [link('r2', 'r10'), link('r3', 'r2', false), link('r3', 'r3'), link('r3', 'gone')];
  const listed = routersInOrder([router('r10'), router('r3'), router('r2'), router('r4', false)], links);
  assert.deepEqual(
    listed.map(({ id, links: count, unusable }) => [id, count, unusable]),
    [
      ['r4', 0, 0],
      ['r2', 2, 1],
      ['r3', 3, 1],
      ['r10', 1, 0],
    ],
  );
});

test('a router is near to those that a link joins to it, in either direction', () => {
  assert.deepEqual([...neighborsOf('a', [link('a', 'b'), link('c', 'a'), link('b', 'c')])], ['a', 'b', 'c']);
});
