// Modules that a program loads at its start stay in its memory for as long as it runs. ADR 0018 has the
// measurements.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { DOORED, FOLDERS } from './folder-table.ts';
import { isTest, root, sourceFiles, targetOf } from '../../tools/source-tree.ts';

const LOAD_MS = 60_000;

/** By the file that a command loads: the parts of module addresses and names that its start must not load. */
const LEFT_OUT: Readonly<Record<string, readonly string[]>> = {
  'bin/run-up.ts': ['/typebox/', '/@peculiar/', '/reflect-metadata/', '/pg/', '/acme-client/', 'deps/undici'],
  'bin/run-control.ts': ['/typebox/', '/@peculiar/', '/pg/', '/src/router/', '/src/gateway/', 'deps/undici'],
  'bin/run-router.ts': ['/typebox/', '/ajv/', '/@peculiar/', '/src/control/', '/src/gateway/', 'deps/undici'],
  'bin/run-gateway.ts': [
    '/typebox/',
    '/ajv/',
    '/@peculiar/',
    '/acme-client/',
    '/kysely/',
    '/fastify/',
    '/yaml/',
    'deps/undici',
  ],
  'bin/run-agent.ts': [
    '/typebox/',
    '/ajv/',
    '/@peculiar/',
    '/yaml/',
    '/jose/',
    '/src/contract/',
    '/src/sdk/hosting/',
    '/@fastify/send/',
    '/mime/',
    'deps/undici',
  ],
  'src/agent/sample-service.ts': ['/src/base/', '/src/net/', 'deps/undici'],
  'bin/run-tunnel.ts': ['/typebox/', '/@peculiar/', '/yaml/', '/jose/', '/src/contract/', 'deps/undici'],
};

const REPORT = `
import { registerHooks } from 'node:module';
const loaded = [];
registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
await import(process.argv[1]);
console.log(JSON.stringify([...loaded, ...process.moduleLoadList]));
`;

/** Addresses and names of all modules that a process has loaded after an import of this file. */
async function loadedBy(entry: string): Promise<string[]> {
  const { href } = pathToFileURL(join(root, entry));
  const args = ['--input-type=module', '--eval', REPORT, href];
  const options = { cwd: root, timeout: LOAD_MS, maxBuffer: 16_777_216 };
  const { stdout } = await promisify(execFile)(process.execPath, args, options);
  const loaded = JSON.parse(stdout) as string[];
  assert.ok(loaded.includes(href), 'it was loaded');
  return loaded;
}

for (const [entry, unwanted] of Object.entries(LEFT_OUT)) {
  test(`${entry} loads no module that its start does not need`, async () => {
    const loaded = await loadedBy(entry);
    assert.ok(
      loaded.some((name) => name.includes(entry.startsWith('bin/') ? '/src/net/mod.ts' : entry)),
      'it was loaded whole',
    );
    const found = unwanted.map((part) => loaded.find((name) => name.includes(part)));
    assert.deepEqual(
      found.filter((name) => name !== undefined),
      [],
    );
  });
}

test('node:http is fetched without what an import of it would load, in one place and by the sample service', () => {
  const files = sourceFiles('src', 'bin').filter(({ path }) => !isTest(path));
  const fetching = files
    .filter(({ text }) => text.includes("getBuiltinModule('node:http')"))
    .map(({ path }) => path);
  assert.deepEqual(fetching, ['src/agent/sample-service.ts', 'src/net/http/node-http.ts']);
});

/** For each part of the control plane, itself and the parts below it. */
const below = new Map<string, ReadonlySet<string>>();
for (const [part, { may }] of Object.entries(FOLDERS[DOORED] ?? {})) {
  below.set(part, new Set([part, ...may.flatMap((each) => [...(below.get(each) ?? [])])]));
}

const partAt = (path: string): string | undefined => /\bsrc\/control\/([^/]+)\//.exec(path)?.[1];

test('a test of a part of the control plane loads that part, the parts below it, and those that its row names', () => {
  const files = sourceFiles('src', 'test');
  const loads = new Map(
    files.map(({ path, imports }) => [
      path,
      imports
        .filter(({ typeOnly }) => !typeOnly)
        .map(({ specifier }) => targetOf(path, specifier))
        .filter((target) => target !== undefined),
    ]),
  );
  const tests = files.filter(({ path }) => path.endsWith('.test.ts') && partAt(path) !== undefined);
  assert.ok(tests.some(({ path }) => partAt(path) === 'store'));
  const wrong = tests.flatMap(({ path }) => {
    const reached = new Set([path]);
    for (const file of reached) for (const next of loads.get(file) ?? []) reached.add(next);
    const parts = new Set([...reached].map(partAt).filter((part) => part !== undefined));
    const own = partAt(path) ?? '';
    const extra = (FOLDERS[DOORED]?.[own]?.tests ?? []).flatMap((part) => [...(below.get(part) ?? [])]);
    const allowed = new Set([...(below.get(own) ?? []), ...extra]);
    const others = [...parts].filter((part) => !allowed.has(part));
    if (reached.has(`${DOORED}/mod.ts`)) others.push('the whole control plane');
    return others.length === 0 ? [] : [`${path} loads ${others.join(', ')}`];
  });
  assert.deepEqual(wrong, []);
});

test('the store loads the parts below it, and nothing of an API', async () => {
  const loaded = await loadedBy('src/control/store/mod.ts');
  const parts = new Set(loaded.map(partAt).filter((part) => part !== undefined));
  assert.deepEqual([...parts], ['store']);
  const heavy = ['/fastify/', '/ajv/', '/typebox/', '/@peculiar/', '/src/contract/'];
  assert.deepEqual(
    loaded.filter((name) => heavy.some((part) => name.includes(part))),
    [],
  );
});
