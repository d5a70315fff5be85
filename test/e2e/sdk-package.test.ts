// `@frontdoor-dev/frontdoor/sdk` as its users get it: compiled, packed, unpacked into another folder, and used by the examples and by a
// TypeScript program against a whole product.
import assert from 'node:assert/strict';
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { buildLibrary, LIBRARY_FOLDER } from '../../tools/build-library.ts';
import { repositoryRoot } from '../../tools/pinned-process.ts';
import { within } from '../support/deadline.ts';
import { openWorld, type World } from '../support/world.ts';

const RUN_MS = 60_000;
/** The Node that runs the examples; users have others than ours. */
const NODE = process.env['FRONTDOOR_TEST_LIBRARY_NODE'] ?? process.execPath;
/** What the examples import beside the library. */
const OTHER_PACKAGES = ['undici', 'ws', '@types/node', 'undici-types'];

let world: World;
let folder: string;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'frontdoor-library-'));
  assert.equal(await buildLibrary(), 0);
  unpackInto(folder);
  cpSync(join(repositoryRoot, 'examples/sdk'), folder, { recursive: true });
  world = await openWorld();
});
after(async () => {
  await world?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** As an installation would, without a registry: packages that are installed here are linked. */
function unpackInto(target: string): void {
  const modules = join(target, 'node_modules');
  const library = join(modules, '@frontdoor-dev/frontdoor');
  cpSync(join(repositoryRoot, LIBRARY_FOLDER), library, { recursive: true });
  const manifest = JSON.parse(readFileSync(join(library, 'package.json'), 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  for (const name of new Set([...Object.keys(manifest.dependencies), ...OTHER_PACKAGES])) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(repositoryRoot, 'node_modules', name), join(modules, name));
  }
}

/** Runs an example to its end, which it reaches only if nothing of the overlay is left. */
async function run(script: string, ...args: string[]): Promise<string> {
  const options = { cwd: folder, timeout: RUN_MS };
  const { stdout } = await promisify(execFile)(NODE, [join(folder, script), ...args], options);
  return stdout;
}

async function startHost(identityFile: string, service: string): Promise<ChildProcess> {
  const host = spawn(NODE, [join(folder, 'host-http.mjs'), identityFile, service], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await within('a host', once(host.stdout, 'data'));
  return host;
}

async function enrolled(name: string): Promise<{ readonly file: string; readonly id: string }> {
  const tokenFile = join(folder, `${name}.jwt`);
  const file = join(folder, `${name}.json`);
  writeFileSync(tokenFile, await world.enrollmentJwt(), { mode: 0o600 });
  const [, id = ''] = /^enrolled as (\S+)/.exec(await run('enroll.mjs', tokenFile, file)) ?? [];
  return { file, id };
}

test('a packed library dials and hosts from plain JavaScript: node:http, undici and ws', async (t) => {
  const [host, guest] = [await enrolled('host'), await enrolled('guest')];
  const created = await world.call('POST', '/shares', {
    environmentId: host.id,
    name: 'hello',
    shareMode: 'private',
    backendMode: 'proxy',
    target: 'http://127.0.0.1:9',
    grants: [guest.id],
  });
  assert.ok(created.status < 300, created.text);
  const hosting = await startHost(host.file, 'hello');
  t.after(() => hosting.kill('SIGKILL'));
  const line = 'hello from hello: GET /path\n';
  assert.equal(await run('get-http.mjs', guest.file, 'hello', '/path'), line + line);
  assert.equal(await run('get-undici.mjs', guest.file, 'hello', '/path'), line);
  assert.equal(await run('websocket.mjs', guest.file, 'hello', 'text'), 'echo text\n');
  const ended = once(hosting, 'exit');
  hosting.kill('SIGTERM');
  assert.deepEqual(await within('the end of the host', ended), [0, null]);
});

test('a TypeScript program finds the types, and only what is exported', async () => {
  const compilerOptions = {
    strict: true,
    noEmit: true,
    target: 'es2024',
    module: 'nodenext',
    types: ['node'],
    lib: ['es2024', 'esnext.disposable'],
    exactOptionalPropertyTypes: true,
  };
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['typed.ts'] }));
  const compiler = createRequire(import.meta.url).resolve('typescript/package.json');
  const args = [join(dirname(compiler), 'bin/tsc'), '-p', folder];
  const checked = await promisify(execFile)(process.execPath, args, { timeout: RUN_MS }).catch(
    (error: unknown) => error as { readonly stdout: string },
  );
  assert.equal(checked.stdout, '');
});

test('the manifest of the library names what it imports, and no more', () => {
  const read = (path: string): Record<string, unknown> =>
    JSON.parse(readFileSync(join(repositoryRoot, path), 'utf8')) as Record<string, unknown>;
  const { dependencies, scripts, exports } = read(`${LIBRARY_FOLDER}/package.json`);
  assert.deepEqual(Object.keys(dependencies as object), [
    '@peculiar/x509',
    'jose',
    'reflect-metadata',
    'typebox',
    'ws',
  ]);
  assert.equal(scripts, undefined);
  const exported = exports as { './sdk': { types: string; default: string } };
  const root = read('package.json')['exports'] as typeof exported;
  for (const kind of ['types', 'default'] as const)
    assert.equal(root['./sdk'][kind], exported['./sdk'][kind].replace('./', `./${LIBRARY_FOLDER}/`));
});
