import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { billOfMaterials } from './bill-of-materials.ts';
import { differentFiles } from './release.ts';

test('files that differ between two releases are named', (t) => {
  const top = mkdtempSync(join(tmpdir(), 'frontdoor-release-'));
  t.after(() => rmSync(top, { recursive: true, force: true }));
  const [one, other] = [join(top, 'one'), join(top, 'other')];
  for (const folder of [one, other]) {
    mkdirSync(join(folder, 'site'), { recursive: true });
    writeFileSync(join(folder, 'same.tgz'), 'same');
    writeFileSync(join(folder, 'site/page.html'), 'same');
  }
  assert.deepEqual(differentFiles(one, other), []);
  writeFileSync(join(one, 'only-here'), '');
  writeFileSync(join(other, 'site/page.html'), 'else');
  assert.deepEqual(differentFiles(one, other), ['only-here', 'site/page.html']);
});

test('the bill of materials is the same each time', () => {
  assert.equal(billOfMaterials(), billOfMaterials());
});
