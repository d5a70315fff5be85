// Programs run from the bundle that was made for them, and from their sources as soon as one of these has changed.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { JsonClient } from '#net/http';
import type { DemoReady } from '../../bin/ready-file.ts';
import { bundleIndex, currentBundle, PACKAGE_ROOT } from '../../bin/program-bundle.ts';
import { bundleProgram } from '../../bin/bundle-program.ts';
import { startDemoProcess } from '../support/product-process.ts';
import { httpGet } from '../support/world.ts';

/** Tests run from sources, unless a test is about the bundle. */
const VARIABLE = 'FRONTDOOR_FROM_SOURCES';
let kept: string | undefined;
let folder: string;

before(() => {
  kept = process.env[VARIABLE];
  delete process.env[VARIABLE];
  folder = mkdtempSync(join(tmpdir(), 'frontdoor-bundle-'));
});
after(() => {
  if (kept !== undefined) process.env[VARIABLE] = kept;
  rmSync(folder, { recursive: true });
});

/** A package of one source with a bundle. */
function makePackage(
  name: string,
  root = join(folder, name),
): { root: string; source: string; bundle: string } {
  const top = join(folder, name);
  const source = join(top, 'source.ts');
  const bundles = dirname(bundleIndex(top));
  const module = join(bundles, 'one', 'program.mjs');
  mkdirSync(dirname(module), { recursive: true });
  writeFileSync(module, '');
  writeFileSync(source, 'text');
  const { mtimeMs, size } = statSync(source);
  writeFileSync(
    bundleIndex(top),
    JSON.stringify({ root, folder: 'one', files: [['source.ts', mtimeMs, size]] }),
  );
  return { root: top, source, bundle: pathToFileURL(module).href };
}

test('a bundle is used while its sources are as they were', () => {
  const { root, source, bundle } = makePackage('whole');
  assert.deepEqual(currentBundle(root), bundle);
  utimesSync(source, 1, 1);
  assert.equal(currentBundle(root), undefined);
});

test('a bundle is not used without one of its sources or its program, or where the package was moved', () => {
  const missing = makePackage('missing');
  rmSync(missing.source);
  assert.equal(currentBundle(missing.root), undefined);
  const torn = makePackage('torn');
  rmSync(join(dirname(bundleIndex(torn.root)), 'one'), { recursive: true });
  assert.equal(currentBundle(torn.root), undefined);
  assert.equal(currentBundle(makePackage('moved', '/elsewhere').root), undefined);
  assert.equal(currentBundle(join(folder, 'none')), undefined);
});

test('options for Node and a variable make programs run from their sources', () => {
  const { root, bundle } = makePackage('debugged');
  for (const name of [VARIABLE, 'FRONTDOOR_NODE_OPTIONS']) {
    process.env[name] = '1';
    assert.equal(currentBundle(root), undefined, name);
    delete process.env[name];
    assert.deepEqual(currentBundle(root), bundle);
  }
});

async function statusOfNewDomain(ready: DemoReady, hostname: string): Promise<number> {
  const { apiUrl, frontdoorId, accountId, apiToken } = ready;
  const headers = { authorization: `Basic ${accountId}:${apiToken}` };
  const client = new JsonClient({ origin: apiUrl });
  const ask = (method: 'GET' | 'POST', path: string, body?: object) =>
    client.request({ method, path: `/frontdoor/${frontdoorId}${path}`, headers, body });
  try {
    const [frontend] = (await ask('GET', '/frontends')).json as readonly { readonly id: string }[];
    return (await ask('POST', '/custom-frontends', { hostname, frontendId: frontend!.id })).status;
  } finally {
    await client.close();
  }
}

test('frontdoor up with its agent serves from a bundle, made from an empty state and with it', async () => {
  await bundleProgram(PACKAGE_ROOT);
  assert.ok(currentBundle() !== undefined);
  const dataDir = join(folder, 'data');
  mkdirSync(dataDir);
  for (const state of ['empty', 'present']) {
    const demo = await startDemoProcess(dataDir);
    try {
      const { status } = await httpGet(demo.port, demo.ready.shareHost, '/');
      assert.equal(status, 200, state);
      // The operation loads a package later than the start.
      const hostname = `apps.${state}.example.com`;
      assert.equal(await statusOfNewDomain(demo.ready, hostname), 201, hostname);
    } finally {
      await demo.destroy();
    }
  }
});
