// What browsers load of the console, in bytes: bounds that no change of a page may pass unnoticed.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { bundleConsole, compressed, filesOf } from './console-bundle.ts';
import type { ConsoleFile } from './built-console.ts';
import { PACKAGE_ROOT } from './console-source.ts';

type Bundled = Awaited<ReturnType<typeof bundleConsole>>;

const KB = 1_000;
const FIRST_PAGE = { js: 190 * KB, css: 28 * KB };
const FURTHER_PAGE = 30 * KB;
/** Chunks that may be larger, by the beginning of their names. */
const LARGER: readonly (readonly [name: string, maxBytes: number])[] = [['mesh-map-', 70 * KB]];

describe('the files of the console', () => {
  let bundled: Bundled;
  let files: readonly ConsoleFile[];
  before(async () => {
    bundled = await bundleConsole(PACKAGE_ROOT);
    files = filesOf(bundled).map(compressed);
  });

  const gzipOf = (chosen: readonly ConsoleFile[]): number =>
    chosen.reduce((sum, { gzip }) => sum + gzip.length, 0);

  it('of the first page are 190 kB of JavaScript and 28 kB of CSS at most, with gzip', () => {
    const first = files.filter(({ role }) => role !== 'later');
    for (const [ending, maxBytes] of Object.entries(FIRST_PAGE)) {
      const bytes = gzipOf(first.filter(({ name }) => name.endsWith(`.${ending}`)));
      assert.ok(bytes <= maxBytes, `${ending}: ${bytes} bytes, at most ${maxBytes}`);
    }
  });

  it('of each further page are 30 kB at most, of the map 70 kB', () => {
    for (const { name, role, gzip } of files) {
      const [, maxBytes = FURTHER_PAGE] = LARGER.find(([start]) => name.startsWith(start)) ?? [];
      if (role === 'later')
        assert.ok(gzip.length <= maxBytes, `${name}: ${gzip.length} bytes, at most ${maxBytes}`);
    }
  });

  it('hold nothing twice: no file of the sources, and no package in two places', () => {
    const places = new Map<string, string[]>();
    const folders = new Map<string, Set<string>>();
    for (const [output, { inputs }] of Object.entries(bundled.metafile.outputs)) {
      for (const [input, { bytesInOutput }] of Object.entries(inputs)) {
        if (bytesInOutput > 0) places.set(input, [...(places.get(input) ?? []), output]);
        const [, folder = '', name] = /^(.*node_modules\/)((?:@[^/]+\/)?[^/]+)\//.exec(input) ?? [];
        if (name !== undefined) folders.set(name, (folders.get(name) ?? new Set()).add(folder));
      }
    }
    assert.deepEqual(
      [...places].filter(([, outputs]) => outputs.length > 1),
      [],
    );
    assert.deepEqual(
      [...folders].filter(([, found]) => found.size > 1),
      [],
    );
  });

  it('have no map of the sources, and no address of this machine', () => {
    for (const { name, bytes } of files) {
      const text = Buffer.from(bytes).toString('latin1');
      assert.ok(!name.endsWith('.map') && !text.includes('sourceMappingURL'), name);
      assert.ok(!text.includes(PACKAGE_ROOT), name);
    }
  });
});
