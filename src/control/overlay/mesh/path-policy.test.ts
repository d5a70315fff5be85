import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SeededRandom } from '../../../../test/support/seeded-random.ts';
import { MIN_ROUTER_COST, pathTo, QUIESCED_COST, searchPaths, type Edge, type Mesh } from './path-policy.ts';

/** `a-b` with the link's cost. */
function meshOf(routerIds: readonly string[], links: Readonly<Record<string, number>>): Mesh {
  const mesh = new Map(routerIds.map((id) => [id, new Map<string, Edge>()]));
  for (const [linkId, cost] of Object.entries(links)) {
    const [a, b] = linkId.split('-') as [string, string];
    mesh.get(a)!.set(b, { linkId, cost });
    mesh.get(b)!.set(a, { linkId, cost });
  }
  return mesh;
}

const nobody = (): boolean => false;

test('the cheapest way wins, over as many routers as it takes', () => {
  const mesh = meshOf(['a', 'b', 'c', 'd', 'e'], { 'a-e': 100, 'a-b': 1, 'b-c': 2, 'c-d': 3, 'd-e': 4 });
  const tree = searchPaths(mesh, 'a', nobody);
  assert.deepEqual(pathTo(tree, 'e'), {
    routerIds: ['a', 'b', 'c', 'd', 'e'],
    linkIds: ['a-b', 'b-c', 'c-d', 'd-e'],
    cost: 10 + 4 * MIN_ROUTER_COST,
  });
  // Each router on the way has its price.
  const short = meshOf(['a', 'b', 'c'], { 'a-c': 11, 'a-b': 1, 'b-c': 1 });
  assert.deepEqual(pathTo(searchPaths(short, 'a', nobody), 'c')?.linkIds, ['a-c']);
});

test('a router reaches itself over nothing, and what no link leads to not at all', () => {
  const mesh = meshOf(['a', 'b', 'c'], { 'a-b': 1 });
  const tree = searchPaths(mesh, 'a', nobody);
  assert.deepEqual(pathTo(tree, 'a'), { routerIds: ['a'], linkIds: [], cost: 0 });
  assert.equal(pathTo(tree, 'c'), undefined);
  assert.equal(pathTo(searchPaths(mesh, 'unknown', nobody), 'a'), undefined);
});

test('a router that wants no new circuits is gone through only where there is no other way, and may be an end', () => {
  const isQuiesced = (id: string): boolean => id === 'b';
  const mesh = meshOf(['a', 'b', 'c'], { 'a-c': 130_001, 'a-b': 1, 'b-c': 1 });
  assert.deepEqual(pathTo(searchPaths(mesh, 'a', isQuiesced), 'c')?.linkIds, ['a-c']);
  assert.deepEqual(pathTo(searchPaths(mesh, 'a', isQuiesced), 'b')?.cost, 1 + MIN_ROUTER_COST);
  const only = meshOf(['a', 'b', 'c'], { 'a-b': 1, 'b-c': 1 });
  const path = pathTo(searchPaths(only, 'a', isQuiesced), 'c');
  assert.deepEqual(path?.linkIds, ['a-b', 'b-c']);
  assert.equal(path?.cost, 2 + 2 * MIN_ROUTER_COST + QUIESCED_COST);
});

test('a router costs what is set where that is more, and one without traversal is an end only', () => {
  const mesh = meshOf(['a', 'b', 'c', 'd'], { 'a-b': 1, 'b-d': 1, 'a-c': 5, 'c-d': 5 });
  const pathOf = (traits: Record<string, { cost?: number; noTraversal?: boolean }>, to: string) =>
    pathTo(
      searchPaths(mesh, 'a', nobody, (id) => ({ cost: 0, noTraversal: false, ...traits[id] })),
      to,
    );
  assert.deepEqual(pathOf({ b: { cost: 9 } }, 'd')?.routerIds, ['a', 'b', 'd']);
  assert.deepEqual(pathOf({ b: { cost: 19 } }, 'd')?.routerIds, ['a', 'c', 'd']);
  assert.equal(pathOf({ d: { cost: 50 } }, 'd')?.cost, 2 + MIN_ROUTER_COST + 50);
  const closed = { b: { noTraversal: true }, a: { noTraversal: true }, d: { noTraversal: true } };
  assert.deepEqual(pathOf(closed, 'd')?.routerIds, ['a', 'c', 'd']);
  assert.deepEqual(pathOf(closed, 'b')?.routerIds, ['a', 'b']);
  assert.equal(pathOf({ ...closed, c: { noTraversal: true } }, 'd'), undefined);
});

test('in any mesh every path costs what trying all ways finds, and its links join its routers', () => {
  const random = new SeededRandom(11);
  for (let round = 0; round < 40; round += 1) {
    const ids = Array.from({ length: 2 + random.int(12) }, (_, at) => `r${String(at)}`);
    const links: Record<string, number> = {};
    for (const a of ids)
      for (const b of ids) if (a < b && random.int(3) === 0) links[`${a}-${b}`] = random.int(50);
    const mesh = meshOf(ids, links);
    const least = floydWarshall(ids, mesh);
    for (const from of ids) {
      const tree = searchPaths(mesh, from, nobody);
      for (const to of ids) {
        const path = pathTo(tree, to);
        assert.equal(path?.cost ?? Infinity, least.get(`${from} ${to}`), `seed 11, round ${String(round)}`);
        for (const [at, linkId] of (path?.linkIds ?? []).entries()) {
          assert.equal(mesh.get(path!.routerIds[at]!)!.get(path!.routerIds[at + 1]!)!.linkId, linkId);
        }
      }
    }
  }
});

function floydWarshall(ids: readonly string[], mesh: Mesh): Map<string, number> {
  const least = new Map<string, number>();
  const of = (a: string, b: string): number => least.get(`${a} ${b}`) ?? Infinity;
  for (const a of ids)
    for (const b of ids) {
      const edge = mesh.get(a)!.get(b);
      least.set(`${a} ${b}`, a === b ? 0 : edge === undefined ? Infinity : edge.cost + MIN_ROUTER_COST);
    }
  for (const k of ids)
    for (const a of ids) for (const b of ids) least.set(`${a} ${b}`, Math.min(of(a, b), of(a, k) + of(k, b)));
  return least;
}
