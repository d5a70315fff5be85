// Programs run from the bundle that was made for them, and from their sources as soon as one of these has changed.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { JsonClient } from '#net';
import { nodeFlags } from '../../bin/node-flags.js';
import type { DemoReady } from '../../bin/ready-file.ts';
import { bundleIndex, currentBundle, PACKAGE_ROOT, type CurrentBundle } from '../../bin/program-bundle.ts';
import { startDemoProcess } from '../support/product-process.ts';
import { httpGet } from '../support/world.ts';

const RUN_MS = 60_000;
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
): { root: string; source: string; bundle: CurrentBundle } {
  const top = join(folder, name);
  const source = join(top, 'source.ts');
  const bundles = dirname(bundleIndex(top));
  const script = join(bundles, 'one', 'program.cjs');
  const module = join(bundles, 'one', 'program.mjs');
  mkdirSync(dirname(script), { recursive: true });
  for (const path of [script, module]) writeFileSync(path, '');
  writeFileSync(source, 'text');
  const { mtimeMs, size } = statSync(source);
  writeFileSync(
    bundleIndex(top),
    JSON.stringify({ root, folder: 'one', files: [['source.ts', mtimeMs, size]] }),
  );
  return { root: top, source, bundle: { script, moduleUrl: pathToFileURL(module).href } };
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

/** Runs a script as the entry does, until its code is there, and reports whether that was there before. */
const RUN = `
import { existsSync } from 'node:fs';
import { watch } from 'node:fs/promises';
import { dirname, join } from 'node:path';
const [path, heapFlags, bundleScript] = process.argv.slice(1);
const { resetHeapFlags, setHeapFlags } = await import(heapFlags);
resetHeapFlags();
const { runScript } = await import(bundleScript);
const { exports, hasCode } = runScript(path, 'up', 10);
setHeapFlags();
const saved = join(dirname(path), 'up.code');
const changes = watch(dirname(path));
const next = changes.next();
if (!hasCode && !existsSync(saved)) for (await next; !existsSync(saved);) await changes.next();
console.log(JSON.stringify({ answer: exports.answer(), hasCode }));
process.exit(0);
`;

test('a script runs with the code of its first run, and without code that was damaged', async () => {
  const script = join(mkdtempSync(join(folder, 'script-')), 'program.cjs');
  writeFileSync(script, '(function(exports,require,module){exports.answer=()=>require("node:path").sep})');
  const urls = ['heap-flags.ts', 'bundle-script.ts'].map(
    (name) => pathToFileURL(join(PACKAGE_ROOT, 'bin', name)).href,
  );
  const run = async (): Promise<unknown> => {
    const args = [...nodeFlags('up'), '--input-type=module', '--eval', RUN, script, ...urls];
    return JSON.parse((await promisify(execFile)(process.execPath, args, { timeout: RUN_MS })).stdout);
  };
  assert.deepEqual(await run(), { answer: '/', hasCode: false });
  assert.deepEqual(await run(), { answer: '/', hasCode: true });
  const code = join(dirname(script), 'up.code');
  const bytes = readFileSync(code);
  bytes[bytes.length - 8]! ^= 1;
  writeFileSync(code, bytes);
  assert.deepEqual(await run(), { answer: '/', hasCode: false });
});

test('a program uses the code that Node has of its own modules, in spite of its flags', async () => {
  const args = [...nodeFlags('up'), join(PACKAGE_ROOT, 'bin/frontdoor.ts'), '--version'];
  const env = { ...process.env, NODE_DEBUG_NATIVE: 'CODE_CACHE' };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { env, timeout: RUN_MS });
  const wasAccepted = (name: string): boolean =>
    new RegExp(`Code cache of ${name} .* is accepted`).test(stdout + stderr);
  for (const name of ['child_process', 'net', 'worker_threads']) assert.ok(wasAccepted(name), name);
});

/** Allocates what is used for a short while, as requests are, and reports the size of the young generation in MiB. */
const ALLOCATE = `
import { getHeapSpaceStatistics } from 'node:v8';
const { resetHeapFlags, setHeapFlags } = await import(process.argv[1]);
resetHeapFlags();
setHeapFlags();
const recent = [];
for (let i = 0; i < 1_000_000; i += 1) recent[i % 5_000] = { i };
const { space_size } = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
console.log(space_size / 2 ** 20);
`;

test('the young generation of a program that has started grows to its limit at once', async () => {
  const heapFlags = pathToFileURL(join(PACKAGE_ROOT, 'bin/heap-flags.ts')).href;
  const args = [...nodeFlags('up'), '--input-type=module', '--eval', ALLOCATE, heapFlags];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: RUN_MS });
  // Two halves of 8 MiB; 4 when it is doubled.
  assert.equal(Number(stdout), 16);
});

test('frontdoor up with its agent serves from a bundle, made from an empty state and with it', async () => {
  await promisify(execFile)(process.execPath, [join(PACKAGE_ROOT, 'bin/bundle-program.ts')]);
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
