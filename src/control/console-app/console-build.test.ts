import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { constants, getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { silentLog } from '#base';
import { until } from '../../../test/support/deadline.ts';
import { namespaceSkip } from '../../../test/support/network-namespace.ts';
import { lineOf, recordingLog, type LogRecord } from '../../../test/support/recording-log.ts';
import { buildInto, packInto } from './build-into.ts';
import { loadBuiltConsole, type BuiltConsole } from './built-console.ts';
import { ConsoleApp } from './console-app.ts';
import { PACKAGE_ROOT, sourceKey } from './console-source.ts';

const PROGRAM = fileURLToPath(new URL('build-program.ts', import.meta.url));
const run = promisify(execFile);

function childrenOf(pid: number): readonly number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
}

/** Undefined for a process that has ended. */
function priorityOf(pid: number): number | undefined {
  try {
    return pid > 0 ? getPriority(pid) : undefined;
  } catch {
    return undefined;
  }
}

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
    const built = await loadBuiltConsole(folder, itsKey);
    assert.ok(built !== undefined, `${folder} holds the build`);
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.startsWith('.')),
      [],
    );
    return built;
  }

  function appOf(test: TestContext, root: string, folders: readonly string[]) {
    const records: LogRecord[] = [];
    const log = recordingLog((record) => records.push(record));
    const app = new ConsoleApp({ dataDir: top, log, root, folders });
    test.after(() => app.close());
    return { app, lines: () => records.map(lineOf) };
  }

  it('is equal in every byte to a build of the same sources in another place', async () => {
    const root = copyOfSources(true);
    const folder = newFolder('other');
    assert.equal((await buildInto(folder, root)).key, key);
    assert.deepEqual(await hashesOf(join(folder, key)), await hashesOf(join(cache, key)));
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

  it('is made once: the second start finds it, also without what builds it', async (test) => {
    const { mtimeMs } = statSync(join(cache, key));
    const { app, lines } = appOf(test, copyOfSources(false), [cache]);
    await app.start();
    assert.deepEqual([app.state, app.current?.key], ['built', key]);
    assert.deepEqual(lines(), []);
    assert.equal(statSync(join(cache, key)).mtimeMs, mtimeMs);
  });

  it('is made in a process of its own, and kept in the first folder that can be written', async (test) => {
    const isFile = join(newFolder('file'), 'no-folder');
    writeFileSync(isFile, '');
    const folder = newFolder('second');
    const root = smallSources();
    const itsKey = await sourceKey(root);
    const { app, lines } = appOf(test, root, [isFile, folder]);
    assert.equal(app.state, 'building');
    await app.start();
    assert.deepEqual([app.state, app.current?.key], ['built', itsKey]);
    assert.match(lines().join('\n'), /^info the console is built/);
    await wholeBuild(folder, itsKey);
  });

  it('fails with one clear line where no folder can be written', async (test) => {
    const isFile = join(newFolder('file'), 'no-folder');
    writeFileSync(isFile, '');
    const { app, lines } = appOf(test, smallSources(), [isFile]);
    await app.start();
    assert.equal(app.state, 'failed');
    assert.equal(lines().length, 1);
    assert.match(lines()[0]!, /^error the console could not be built.*E(EXIST|NOTDIR)/);
  });

  it('leaves nothing on a full disk', async () => {
    const folder = newFolder('full');
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
    assert.deepEqual(readdirSync(folder), []);
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
        const build = [process.execPath, PROGRAM, '--root', root, '--folder', folder];
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
    const folder = newFolder('killed');
    const child = execFile(process.execPath, [PROGRAM, '--folder', folder]);
    const ended = new Promise<string | null>((resolve) =>
      child.once('exit', (_status, signal) => resolve(signal)),
    );
    const watcher = watch(folder, (_event, name) => {
      if (name?.startsWith('.making-') === true) child.kill('SIGKILL');
    });
    test.after(() => watcher.close());
    assert.equal(await ended, 'SIGKILL');
    assert.equal(await loadBuiltConsole(folder, key), undefined);
    await buildInto(folder, PACKAGE_ROOT);
    assert.ok((await loadBuiltConsole(folder, key)) !== undefined);
  });

  it('may be made by several processes at once', async () => {
    const folder = newFolder('race');
    const root = smallSources();
    const itsKey = await sourceKey(root);
    const args = [PROGRAM, '--root', root, '--folder', folder];
    const all = await Promise.all([1, 2, 3].map(() => run(process.execPath, args)));
    assert.deepEqual(
      all.map(({ stdout }) => stdout),
      all.map(() => `${itsKey}\n`),
    );
    await wholeBuild(folder, itsKey);
    assert.deepEqual(readdirSync(folder), [itsKey]);
  });

  it('that was damaged is made anew', async () => {
    const folder = newFolder('damaged');
    const root = smallSources();
    const { key: itsKey } = await buildInto(folder, root);
    const { files } = await wholeBuild(folder, itsKey);
    const [name] = [...files.keys()];
    for (const damaged of [name!, `${name}.br`, `${name}.gz`, 'files.txt']) {
      const path = join(folder, itsKey, damaged);
      writeFileSync(path, (await readFile(path)).subarray(0, -1));
      const isList = damaged === 'files.txt';
      // The last byte of the list is a line's end.
      if (!isList) assert.equal(await loadBuiltConsole(folder, itsKey), undefined, damaged);
      await buildInto(folder, root);
      await wholeBuild(folder, itsKey);
    }
  });

  it('is not there without development dependencies, unless it came with the package', async (test) => {
    const root = smallSources();
    const pack = join(newFolder('pack'), 'console');
    await packInto(pack, root);
    rmSync(join(root, 'node_modules'));
    const bare = appOf(test, root, [newFolder('empty')]);
    await bare.app.start();
    assert.equal(bare.app.state, 'missing');
    assert.match(bare.lines().join('\n'), /^warn there is no console: .*development dependencies/);
    cpSync(pack, join(root, 'dist/console'), { recursive: true });
    const packed = appOf(test, root, [newFolder('empty')]);
    await packed.app.start();
    assert.deepEqual([packed.app.state, packed.app.current?.key], ['built', await sourceKey(root)]);
  });

  it('names file, line and column of a mistake', async () => {
    const root = copyOfSources(true);
    writeFileSync(join(root, 'src/console/main.tsx'), `import './nothing.ts';\n`);
    await assert.rejects(
      buildInto(newFolder('wrong'), root),
      /src\/console\/main\.tsx:1:7 Could not resolve/,
    );
  });

  it('keeps the newest five', async () => {
    const folder = newFolder('many');
    for (let index = 0; index < 7; index += 1) await mkdir(join(folder, `${index}`.padStart(20, '0')));
    const { key: itsKey } = await buildInto(folder, smallSources());
    assert.equal(readdirSync(folder).length, 5);
    await wholeBuild(folder, itsKey);
  });

  it('has a low priority, and is killed with its control plane', async () => {
    const folders = [newFolder('priority')];
    const app = new ConsoleApp({ dataDir: top, log: silentLog, root: PACKAGE_ROOT, folders });
    const started = app.start();
    const { value: build } = await until(
      'a build of low priority',
      () =>
        childrenOf(process.pid).find((pid) => priorityOf(pid) === constants.priority.PRIORITY_BELOW_NORMAL),
      (pid) => pid !== undefined,
    );
    app.close();
    await started;
    assert.ok(!childrenOf(process.pid).includes(build!));
    assert.equal(app.current, undefined);
  });

  it('ends with its control plane', async () => {
    const app = new ConsoleApp({
      dataDir: top,
      log: silentLog,
      root: PACKAGE_ROOT,
      folders: [newFolder('ended')],
    });
    const started = app.start();
    app.close();
    await started;
    assert.equal(app.current, undefined);
  });
});
