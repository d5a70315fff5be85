// Files do not import each other in cycles, imports of types included: files in a cycle have no order in
// which they can be read.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sourceFiles, targetOf } from '../../tools/source-tree.ts';

type Graph = ReadonlyMap<string, readonly string[]>;

/** The first cycle found from each unvisited node, as the path that closes it. */
function cyclesOf(graph: Graph): string[][] {
  const done = new Set<string>();
  const cycles: string[][] = [];
  const visit = (node: string, path: readonly string[]): void => {
    const at = path.indexOf(node);
    if (at >= 0) {
      cycles.push([...path.slice(at), node]);
      return;
    }
    if (done.has(node)) return;
    for (const next of graph.get(node) ?? []) visit(next, [...path, node]);
    done.add(node);
  };
  for (const node of graph.keys()) visit(node, []);
  return cycles;
}

test('a cycle is found', () => {
  const graph = new Map([
    ['a', ['b']],
    ['b', ['c']],
    ['c', ['b']],
  ]);
  assert.deepEqual(cyclesOf(graph), [['b', 'c', 'b']]);
});

test('no file imports itself through other files, not for types either', () => {
  const graph = new Map(
    sourceFiles('src', 'bin', 'test', 'tools').map(({ path, imports }) => [
      path,
      imports.map(({ specifier }) => targetOf(path, specifier)).filter((target) => target !== undefined),
    ]),
  );
  assert.deepEqual(
    cyclesOf(graph).map((cycle) => cycle.join(' → ')),
    [],
  );
});
