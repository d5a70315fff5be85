import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { PLACES } from './place-table.ts';

const folder = fileURLToPath(new URL('.', import.meta.url));
const code = globSync(['api/*.{ts,tsx}', 'frame/*.{ts,tsx}', 'pages/**/*.{ts,tsx}'], { cwd: folder })
  .filter((path) => !path.endsWith('kind-table.ts') && !path.endsWith('.test.ts'))
  .map((path) => readFileSync(join(folder, path), 'utf8'))
  .join('\n');

/** `may('createShare')` only asks for the permission. */
const calls = code.replaceAll(/\bmay\('\w+'\)/g, '');

// The compiler holds that every operation has a row.
test('an operation without a page has the reason', () => {
  for (const [id, place] of Object.entries(PLACES)) {
    if ('noPage' in place) assert.match(place.noPage, /\w.+\.$/, id);
  }
});

test('the console calls every operation that has a page, and no other', () => {
  // Parts get an operation as an attribute: `<DeleteButton operation="deleteRouter">`.
  const isCalled = (id: string): boolean => calls.includes(`'${id}'`) || calls.includes(`operation="${id}"`);
  const [missing, others] = [[] as string[], [] as string[]];
  for (const [id, place] of Object.entries(PLACES)) {
    if ('page' in place && !isCalled(id)) missing.push(id);
    if ('noPage' in place && isCalled(id)) others.push(id);
  }
  assert.deepEqual({ missing, others }, { missing: [], others: [] });
});
