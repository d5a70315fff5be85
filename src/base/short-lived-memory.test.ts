import assert from 'node:assert/strict';
import { test } from 'node:test';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { ShortLivedMap } from './short-lived-map.ts';

const VALUES = 20_000;
/** As many as are there at once. */
const LIVING = 32;

function oldMegabytes(): number {
  return (
    getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')!.space_used_size / 2 ** 20
  );
}

test('values that were removed do not outlive collections of the young generation', () => {
  const map = new ShortLivedMap<number, { readonly bytes: number[] }>();
  map.set(-1, { bytes: [] });
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  // Moves the map into the old generation.
  collect();
  collect();
  const before = oldMegabytes();
  for (let i = 0; i < VALUES; i += 1) {
    map.set(i, { bytes: new Array<number>(300).fill(0) });
    map.delete(i - LIVING);
  }
  // A `Map` had kept a third of the 46 MiB.
  assert.ok(oldMegabytes() - before < 2, `${oldMegabytes() - before} MiB`);
});
