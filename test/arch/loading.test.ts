// What a program loads at its start stays in its memory for as long as it runs: ADR 0018 says what was measured.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { isTest, root, sourceFiles } from './source-tree.ts';

const LOAD_MS = 60_000;

/** By the file that a command loads: what its start does without, as it stands in a module's address or name. */
const LEFT_OUT: Readonly<Record<string, readonly string[]>> = {
  'bin/run-parts.ts': ['/typebox/', '/@peculiar/', '/reflect-metadata/', '/pg/', 'deps/undici'],
  'bin/run-gateway.ts': ['/typebox/', '/@peculiar/', '/kysely/', '/fastify/', '/yaml/', 'deps/undici'],
  'bin/run-agent.ts': ['/typebox/', '/@peculiar/', '/yaml/', '/jose/', '/src/contract/', 'deps/undici'],
};

const REPORT = `
import { registerHooks } from 'node:module';
const loaded = [];
registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
await import(process.argv[1]);
console.log(JSON.stringify([...loaded, ...process.moduleLoadList]));
`;

for (const [entry, unwanted] of Object.entries(LEFT_OUT)) {
  test(`${entry} loads nothing that its start does without`, async () => {
    const { href } = pathToFileURL(join(root, entry));
    const args = ['--input-type=module', '--eval', REPORT, href];
    const options = { cwd: root, timeout: LOAD_MS, maxBuffer: 16_777_216 };
    const { stdout } = await promisify(execFile)(process.execPath, args, options);
    const loaded = JSON.parse(stdout) as string[];
    assert.ok(
      loaded.includes(href) && loaded.some((name) => name.includes('/src/net/mod.ts')),
      'it was loaded',
    );
    const found = unwanted.map((part) => loaded.find((name) => name.includes(part)));
    assert.deepEqual(
      found.filter((name) => name !== undefined),
      [],
    );
  });
}

test('node:http is fetched in one place, without what an import of it would load', () => {
  const files = sourceFiles('src', 'bin').filter(({ path }) => !isTest(path));
  const fetching = files.filter(({ text }) => text.includes('getBuiltinModule')).map(({ path }) => path);
  assert.deepEqual(fetching, ['src/net/node-http.ts']);
});
