import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { namespaceSkip } from '../../../../test/support/network-namespace.ts';
import { lineOf, recordingLog, type LogRecord } from '../../../../test/support/recording-log.ts';
import { buildInto } from './build-into.ts';
import { readBuild, type BuiltConsole } from './built-console.ts';
import { ConsoleApp } from './console-app.ts';
import { PACKAGE_ROOT, sourceKey } from './console-source.ts';

const PROGRAM = fileURLToPath(new URL('build-program.ts', import.meta.url));
const run = promisify(execFile);

describe('a build of the console', () => {
  let top: string;
  let key: string;
  /** One build for all tests, which none of them changes. */
  let cache: string;
  before(async () => {
    top = mkdtempSync(join(tmpdir(), 'frontdoor-console-'));
    cache = join(top, 'cache');
    key = (await buildInto(cache, PACKAGE_ROOT)).key;
  });
  after(() => rmSync(top, { recursive: true, force: true }));

  const newFolder = (name: string): string => mkdtempSync(join(top, `${name}-`));
  /** Where a build may be put; the folder above is of this build alone. */
  const newPlace = (name: string): string => join(newFolder(name), 'console');

  /** The sources in another place, with or without the packages. */
  function copyOfSources(hasPackages: boolean): string {
    const root = newFolder('copy');
    cpSync(join(PACKAGE_ROOT, 'src/console'), join(root, 'src/console'), { recursive: true });
    for (const name of ['package.json', 'package-lock.json'])
      cpSync(join(PACKAGE_ROOT, name), join(root, name));
    if (hasPackages) symlinkSync(join(PACKAGE_ROOT, 'node_modules'), join(root, 'node_modules'));
    return root;
  }

  /** Three files, one of them with 40 KiB, for tests that do not depend on the content of a build. */
  function smallSources(): string {
    const root = newFolder('small');
    const folder = join(root, 'src/console');
    mkdirSync(folder, { recursive: true });
    for (const [name, text] of [
      [
        'main.tsx',
        `import './main.css';\nvoid import('./later.ts').then(({ TEXT }) => document.write(TEXT));\n`,
      ],
      ['main.css', 'p { color: red; }\n'],
      ['later.ts', `export const TEXT = '${randomBytes(20_480).toString('hex')}';\n`],
    ] as const)
      writeFileSync(join(folder, name), text);
    symlinkSync(join(PACKAGE_ROOT, 'node_modules'), join(root, 'node_modules'));
    return root;
  }

  /** The hash of each file of a folder. */
  async function hashesOf(folder: string): Promise<ReadonlyMap<string, string>> {
    const names = readdirSync(folder).sort();
    const bytes = await Promise.all(names.map((name) => readFile(join(folder, name))));
    return new Map(
      names.map((name, index) => [name, createHash('sha256').update(bytes[index]!).digest('hex')]),
    );
  }

  async function wholeBuild(folder: string, itsKey = key): Promise<BuiltConsole> {
    const built = await readBuild(folder, itsKey);
    assert.ok(built !== undefined, `${folder} holds the build`);
    return built;
  }

  it('is equal in every byte to a build of the same sources in another place', async () => {
    const root = copyOfSources(true);
    const folder = newPlace('other');
    assert.equal((await buildInto(folder, root)).key, key);
    assert.deepEqual(await hashesOf(folder), await hashesOf(cache));
  });

  it('has another key when a source, a style, the kind of modules or the version of a package changes, and not for a test', async () => {
    const root = copyOfSources(true);
    assert.equal(await sourceKey(root), key);
    writeFileSync(join(root, 'src/console/more.test.ts'), 'export {};\n');
    assert.equal(await sourceKey(root), key);
    const keys = new Set([key]);
    for (const [path, change] of [
      ['src/console/main.tsx', (text: string) => `${text}\n`],
      ['src/console/more.css', () => 'p { color: red; }\n'],
      ['package.json', (text: string) => text.replace('"type": "module"', '"type": "commonjs"')],
      [
        'package-lock.json',
        (text: string) => text.replace(/("node_modules\/scheduler": \{\s*"version": )"[^"]+"/, '$1"9.9.9"'),
      ],
    ] as const) {
      const text = existsSync(join(root, path)) ? await readFile(join(root, path), 'utf8') : '';
      assert.notEqual(change(text), text);
      writeFileSync(join(root, path), change(text));
      keys.add((await sourceKey(root))!);
    }
    assert.equal(keys.size, 5);
  });

  it('is made once for the same sources', async () => {
    const { mtimeMs } = statSync(cache);
    assert.equal((await buildInto(cache, PACKAGE_ROOT)).key, key);
    assert.equal(statSync(cache).mtimeMs, mtimeMs);
  });

  it('is served by a control plane, whose installation may lack what builds it; one without it is a warning', async () => {
    const records: LogRecord[] = [];
    const log = recordingLog((record) => records.push(record));
    const app = await ConsoleApp.open({ log, folders: [join(top, 'none'), cache] });
    assert.equal(app.current?.key, key);
    assert.deepEqual(records, []);
    const bare = await ConsoleApp.open({ log, folders: [join(top, 'none')] });
    assert.equal(bare.current, undefined);
    assert.match(records.map(lineOf).join('\n'), /^warn the console is not built: run "npm run build"/);
  });

  it('leaves nothing on a full disk', async () => {
    const folder = newPlace('full');
    const root = smallSources();
    // Files of at most 8 KiB: a write fails in the middle, as on a full disk.
    const script = `ulimit -f 8; exec "$0" "$@"`;
    const args = ['-c', script, process.execPath, PROGRAM, '--root', root, '--folder', folder];
    const failed = await run('bash', args).then(
      () => assert.fail('it was built'),
      (error: { code: number; stderr: string }) => error,
    );
    assert.equal(failed.code, 1);
    assert.match(failed.stderr, /^EFBIG[^\n]*\n$/);
    assert.deepEqual(readdirSync(dirname(folder)), []);
    const { key: itsKey } = await buildInto(folder, root);
    await wholeBuild(folder, itsKey);
  });

  it(
    'leaves nothing on a file system that is full, and reports one that is read-only',
    { skip: namespaceSkip('mount') },
    async () => {
      const root = smallSources();
      // The files that are left there are listed before the mount ends with its namespace.
      const script = 'mount -t tmpfs -o "$1" none "$0"; shift; "$@"; status=$?; ls -A "$0"; exit $status';
      for (const [options, problem] of [
        ['size=16k', 'ENOSPC'],
        ['ro', 'EROFS'],
      ] as const) {
        const folder = newFolder('disk');
        const build = [process.execPath, PROGRAM, '--root', root, '--folder', join(folder, 'console')];
        const failed = await run('unshare', ['--mount', 'sh', '-c', script, folder, options, ...build]).then(
          () => assert.fail('it was built'),
          (error: { code: number; stdout: string; stderr: string }) => error,
        );
        assert.equal(failed.code, 1);
        assert.match(failed.stderr, new RegExp(`^${problem}[^\\n]*\\n$`));
        assert.equal(failed.stdout, '');
      }
    },
  );

  it('that is killed leaves no half result, and the next one is whole', async (test) => {
    const folder = newPlace('killed');
    const child = execFile(process.execPath, [PROGRAM, '--folder', folder]);
    const ended = new Promise<string | null>((resolve) =>
      child.once('exit', (_status, signal) => resolve(signal)),
    );
    const watcher = watch(dirname(folder), (_event, name) => {
      if (name?.includes('.making-') === true) child.kill('SIGKILL');
    });
    test.after(() => watcher.close());
    assert.equal(await ended, 'SIGKILL');
    assert.equal(await readBuild(folder, key), undefined);
    await buildInto(folder, PACKAGE_ROOT);
    assert.ok((await readBuild(folder, key)) !== undefined);
  });

  it('may be made by several processes at once', async () => {
    const folder = newPlace('race');
    const root = smallSources();
    const itsKey = await sourceKey(root);
    const args = [PROGRAM, '--root', root, '--folder', folder];
    const all = await Promise.all([1, 2, 3].map(() => run(process.execPath, args)));
    for (const { stdout } of all) assert.ok(stdout.endsWith(`\n${itsKey}\n`), stdout);
    await wholeBuild(folder, itsKey);
    assert.deepEqual(readdirSync(dirname(folder)), ['console']);
  });

  it('that was damaged is made again', async () => {
    const folder = newPlace('damaged');
    const root = smallSources();
    const { key: itsKey } = await buildInto(folder, root);
    const { files } = await wholeBuild(folder, itsKey);
    const [name] = [...files.keys()];
    for (const damaged of [name!, `${name}.br`, `${name}.gz`, 'files.txt']) {
      const path = join(folder, damaged);
      writeFileSync(path, (await readFile(path)).subarray(0, -1));
      const isList = damaged === 'files.txt';
      // The last byte of the list is a line's end.
      if (!isList) assert.equal(await readBuild(folder, itsKey), undefined, damaged);
      await buildInto(folder, root);
      await wholeBuild(folder, itsKey);
    }
  });

  it('names file, line and column of a mistake', async () => {
    const root = copyOfSources(true);
    writeFileSync(join(root, 'src/console/main.tsx'), `import './nothing.ts';\n`);
    await assert.rejects(buildInto(newPlace('wrong'), root), /src\/console\/main\.tsx:1:7 Could not resolve/);
  });
});
