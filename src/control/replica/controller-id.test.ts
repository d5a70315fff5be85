import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { silentLog } from '#base';
import { controllerIdOf } from './controller-id.ts';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'frontdoor-controller-'))));
afterEach(() => rmSync(folder, { recursive: true }));

test('a control plane with a database of its own keeps the name that its routers use', async () => {
  assert.equal(await controllerIdOf({ isShared: false }, folder, silentLog), 'frontdoor-control');
});

test('those over one database have names of their own, each the same at every start', async () => {
  const first = await controllerIdOf({ isShared: true }, folder, silentLog);
  assert.match(first, /^frontdoor-control-[0-9a-f]{8}$/);
  assert.notEqual(
    await controllerIdOf({ isShared: true }, mkdtempSync(join(folder, 'other-')), silentLog),
    first,
  );
  assert.equal(await controllerIdOf({ isShared: true }, folder, silentLog), first);
});

test('a file that holds no name is set aside, and the control plane starts under a new one', async () => {
  writeFileSync(join(folder, 'controller-id'), 'CN=x, O=y\n');
  const made = await controllerIdOf({ isShared: true }, folder, silentLog);
  assert.match(made, /^frontdoor-control-[0-9a-f]{8}$/);
  assert.equal(readFileSync(join(folder, 'controller-id.unreadable'), 'utf8'), 'CN=x, O=y\n');
  assert.equal(await controllerIdOf({ isShared: true }, folder, silentLog), made);
});
