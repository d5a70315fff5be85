import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { controllerIdOf } from './controller-id.ts';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'frontdoor-controller-'))));
afterEach(() => rmSync(folder, { recursive: true }));

test('a control plane with a database of its own keeps the name that its routers know', async () => {
  assert.equal(await controllerIdOf({ isShared: false }, folder), 'frontdoor-control');
});

test('those over one database have names of their own, each the same at every start', async () => {
  const first = await controllerIdOf({ isShared: true }, folder);
  assert.match(first, /^frontdoor-control-[0-9a-f]{8}$/);
  assert.notEqual(await controllerIdOf({ isShared: true }, mkdtempSync(join(folder, 'other-'))), first);
  assert.equal(await controllerIdOf({ isShared: true }, folder), first);
  writeFileSync(join(folder, 'controller-id'), 'CN=x, O=y\n');
  await assert.rejects(controllerIdOf({ isShared: true }, folder), { code: 'controller_id' });
});
