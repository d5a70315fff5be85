import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mapLayout } from './map-layout.ts';

const link = (sourceRouterId: string, destinationRouterId: string) => ({
  sourceRouterId,
  destinationRouterId,
});

test('a mesh is drawn in the same place each time, whatever the order of its routers', () => {
  const links = [link('a', 'b'), link('b', 'c')];
  assert.deepEqual(mapLayout(['a', 'b', 'c'], links), mapLayout(['c', 'a', 'b'], links));
});

test('every router is within the map, and no two stand in one place', () => {
  const ids = Array.from({ length: 300 }, (_none, index) => `r${index}`);
  const links = Array.from({ length: 1_000 }, (_none, index) =>
    link(`r${index % 300}`, `r${(index * 7 + 1) % 300}`),
  );
  const places = mapLayout(ids, links);
  assert.equal(places.length, 300);
  assert.ok(places.every(({ x, y }) => x >= 0 && x <= 1 && y >= 0 && y <= 1));
  assert.equal(new Set(places.map(({ x, y }) => `${x.toFixed(4)} ${y.toFixed(4)}`)).size, 300);
});

test('one router, none, and links to routers that are gone are no special case', () => {
  assert.deepEqual(mapLayout([], []), []);
  assert.deepEqual(mapLayout(['a'], [link('a', 'gone'), link('a', 'a')]), [{ id: 'a', x: 0.5, y: 0.5 }]);
});
