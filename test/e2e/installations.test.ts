// The product as it is installed in other ways than by `npm ci` in a clone: the package that `npm pack` makes, below
// `node_modules` of an empty folder, and a clone without development dependencies. Packages are linked, so nothing is loaded
// from a registry.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type * as Archives from '../../tools/release/archive.ts';
import { repositoryRoot } from '../../tools/pinned-process.ts';
import { buildConsoleNow } from '../support/built-console.ts';
import { logInAtConsole } from '../support/console-stream.ts';
import { until } from '../support/deadline.ts';
import { makeDataDir, runLauncher, startDemoProcess, type DemoProcess } from '../support/product-process.ts';
import { httpGet } from '../support/world.ts';

const run = promisify(execFile);
const PACK_MS = 300_000;
/** The bit of SIGTERM, the fifteenth signal, in the masks of /proc. */
const SIGTERM_BIT = 1n << 14n;
/** Where the page of a clone without a console says that builds are kept. */
const BUILT = 'dist/console';
const LIBRARY = '@frontdoor-dev/frontdoor/sdk';

interface Manifest {
  readonly name: string;
  readonly bin: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
}

interface LockRow {
  readonly dev?: boolean;
}

function readJson<T>(path: string): T {
  return JSON.parse(readFileSync(path, 'utf8')) as T;
}

/** Links packages that are installed here into another `node_modules`; optional ones of other systems are not here. */
function linkPackages(modules: string, names: Iterable<string>): void {
  for (const name of names) {
    const installed = join(repositoryRoot, 'node_modules', name);
    if (!existsSync(installed)) continue;
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(installed, join(modules, name));
  }
}

describe('an installation', () => {
  let top: string;
  let clone: string;
  /** An empty folder into which the package was installed. */
  let folder: string;
  let installed: string;
  let command: string;

  before(async () => {
    top = mkdtempSync(join(tmpdir(), 'frontdoor-installations-'));
    clone = join(top, 'clone');
    folder = join(top, 'folder');
    installed = join(folder, 'node_modules/@frontdoor-dev/frontdoor');
    command = join(folder, 'node_modules/.bin/frontdoor');
    const { stdout } = await run('git', ['ls-files', '-co', '--exclude-standard', '-z'], {
      cwd: repositoryRoot,
    });
    for (const path of stdout.split('\0').filter((name) => existsSync(join(repositoryRoot, name))))
      if (path !== '') cpSync(join(repositoryRoot, path), join(clone, path));
    symlinkSync(join(repositoryRoot, 'node_modules'), join(clone, 'node_modules'));
    await run('npm', ['pack', '--offline', '--pack-destination', top], { cwd: clone, timeout: PACK_MS });
    const [tarball = ''] = readdirSync(top).filter((name) => name.endsWith('.tgz'));
    mkdirSync(installed, { recursive: true });
    await run('tar', ['-xzf', join(top, tarball), '--strip-components=1', '-C', installed]);
    const { bin, dependencies, optionalDependencies } = readJson<Manifest>(join(installed, 'package.json'));
    linkPackages(join(folder, 'node_modules'), Object.keys({ ...dependencies, ...optionalDependencies }));
    mkdirSync(dirname(command));
    symlinkSync(join('../@frontdoor-dev/frontdoor', bin['frontdoor']!), command);
  });
  after(() => rmSync(top, { recursive: true, force: true }));

  async function startUp(test: TestContext, launcher: string, dataDir = makeDataDir()): Promise<DemoProcess> {
    const demo = await startDemoProcess(dataDir, ['--any-port'], launcher);
    test.after(async () => {
      await demo.destroy();
      rmSync(dataDir, { recursive: true, force: true });
    });
    return demo;
  }

  /** The document at the address of the console, for a person with a session. */
  async function askConsole({
    ready,
  }: DemoProcess): Promise<{ readonly status: number; readonly text: string }> {
    const { apiUrl, consoleUrl } = ready;
    const cookie = await logInAtConsole({ apiUrl, consoleUrl }, ready);
    const answer = await fetch(consoleUrl!, { headers: { cookie } });
    return { status: answer.status, text: await answer.text() };
  }

  async function checkServes(demo: DemoProcess): Promise<void> {
    const { apiUrl, frontdoorId, accountId, apiToken, shareHost } = demo.ready;
    assert.equal((await httpGet(demo.port, shareHost, '/')).status, 200);
    const authorization = `Basic ${accountId}:${apiToken}`;
    const answer = await fetch(`${apiUrl}/frontdoor/${frontdoorId}/shares`, { headers: { authorization } });
    assert.equal(answer.status, 200);
  }

  async function checkServesConsole(demo: DemoProcess): Promise<void> {
    const { status, text } = await askConsole(demo);
    assert.equal(status, 200, text);
    const addresses = [...text.matchAll(/(?:src|href)="([^"]*\/assets\/[^"]+)"/g)].map(([, path]) => path!);
    assert.ok(
      addresses.some((path) => path.endsWith('.js')) && addresses.some((path) => path.endsWith('.css')),
    );
    for (const path of addresses) {
      const asset = await fetch(new URL(path, demo.ready.consoleUrl));
      assert.equal(asset.status, 200, path);
      assert.ok((await asset.bytes()).length > 0);
    }
  }

  describe('of the package', () => {
    it('has the programs, the library and the built console, and no sources or tests', () => {
      const names = globSync('**/*', { cwd: installed, exclude: (name) => name === 'node_modules' });
      for (const name of [
        'dist/programs/bin/frontdoor.js',
        'dist/programs/bundle/program.mjs',
        'dist/sdk/library/mod.js',
        'dist/console/files.txt',
      ])
        assert.ok(names.includes(name), name);
      const others = names.filter((name) =>
        /(?<!\.d)\.tsx?$|\.test\.|-(?:fixture|suite)\.|\/testing\//.test(name),
      );
      assert.deepEqual(others, []);
    });

    it('has every file that one of its programs imports or starts', () => {
      const missing: string[] = [];
      const programs = join(installed, 'dist/programs');
      for (const path of globSync('{bin,src}/**/*.js', { cwd: programs })) {
        const text = readFileSync(join(programs, path), 'utf8');
        for (const [, name] of text.matchAll(/['"](\.{1,2}\/[\w./-]+\.js)['"]/g))
          if (!existsSync(join(programs, dirname(path), name!))) missing.push(`${path}: ${name}`);
      }
      assert.deepEqual(missing, ['bin/frontdoor.js: ./dev.js']);
    });

    it('starts the demo, and serves the built console', async (test) => {
      const demo = await startUp(test, command);
      await checkServes(demo);
      await checkServesConsole(demo);
    });

    it('has the library', async () => {
      const script = `console.log(Object.keys(await import('${LIBRARY}')).join(' '))`;
      const args = ['--input-type=module', '--eval', script];
      const { stdout } = await run(process.execPath, args, { cwd: folder });
      assert.equal(stdout, 'SdkError enroll openOverlay\n');
    });

    it('reports that development commands need a clone', async () => {
      const { exit, output } = runLauncher(['dev', 'check'], {}, command);
      assert.equal((await exit).status, 69);
      assert.match(output(), /development commands need a clone of the repository/);
    });
  });

  describe('of an archive', () => {
    const sumOf = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex');
    let packTree: typeof Archives.packTree;
    let release: string;
    let name: string;
    let archive: string;
    before(async () => {
      const address = pathToFileURL(join(clone, 'tools/release/archive.ts')).href;
      const { makeTree, PLATFORMS, ...archives } = (await import(address)) as typeof Archives;
      packTree = archives.packTree;
      const platform = `${process.platform}-${process.arch}`;
      release = join(top, 'release');
      name = `frontdoor-0.1.0-${platform}`;
      archive = join(release, `${name}.tar.gz`);
      mkdirSync(release);
      const tree = join(top, 'tree', name);
      makeTree(tree, { bill: '{}' }, { ...PLATFORMS[platform]!, strip: undefined }, 'all');
      packTree(join(top, 'tree'), name, archive, 0, 1);
      writeFileSync(join(release, 'SHA256SUMS'), `${sumOf(archive)}  ${name}.tar.gz\n`);
      cpSync(join(repositoryRoot, 'tools/release/install.sh'), join(release, 'install.sh'));
    });

    /** Without a Node in PATH. */
    const install = async (...args: string[]): Promise<{ status: number; output: string }> => {
      const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', HOME: top };
      const child = run('sh', [join(release, 'install.sh'), ...args], { env, cwd: top });
      return child.then(
        ({ stdout }) => ({ status: 0, output: stdout }),
        ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({
          status: code,
          output: stdout + stderr,
        }),
      );
    };

    it('is installed by its script, says what it did, and starts the demo with its own Node', async (test) => {
      const { status, output } = await install('--prefix', 'prefix');
      assert.equal(status, 0, output);
      const prefix = join(top, 'prefix');
      assert.ok(output.includes(`Installed ${name} in ${prefix}/lib/frontdoor.`), output);
      assert.ok(
        output.includes(`To remove it: rm -rf ${prefix}/bin/frontdoor ${prefix}/bin/frontdoor-agent`),
      );
      for (const command of ['frontdoor', 'frontdoor-agent']) {
        const { stdout } = await run(join(prefix, 'bin', command), ['--version'], { env: {} });
        assert.match(stdout, /^0\.1\.0/);
      }
      const demo = await startUp(test, join(prefix, 'lib/frontdoor', name, 'lib/frontdoor/bin/frontdoor.js'));
      await checkServes(demo);
      await checkServesConsole(demo);
    });

    it('ends by SIGTERM as process 1 of a container, also before it serves', async (test) => {
      const isRoot = process.getuid?.() === 0;
      const asFirst = [...(isRoot ? [] : ['--user', '--map-root-user']), '--pid', '--fork', '--kill-child'];
      const waiting = ['agent', 'start', '--enrollment-token-file', '-', '--data-dir', join(top, 'first')];
      const launcher = join(top, 'prefix/bin/frontdoor');
      // A group of its own, in which unshare blocks the signal.
      const child = spawn('unshare', [...asFirst, launcher, ...waiting], {
        stdio: ['pipe', 'ignore', 'ignore'],
        detached: true,
      });
      test.after(() => child.kill('SIGKILL'));
      // Until the first line of its own code, process 1 ignores the signal.
      await until(
        'process 1 to end',
        () => {
          if (child.exitCode !== null) return child.exitCode;
          // Before unshare blocks the signal, it would end by it.
          const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
          const blocked = BigInt(`0x${/^SigBlk:\s+(\w+)/m.exec(status)![1]}`);
          if ((blocked & SIGTERM_BIT) !== 0n) process.kill(-child.pid!, 'SIGTERM');
          return null;
        },
        (status) => status !== null,
      );
      assert.equal(child.exitCode, 143);
    });

    it('is the same however its files came to be', () => {
      const trees = [join(top, 'tree', name), join(top, 'other')];
      cpSync(join(trees[0]!, 'share'), join(trees[1]!, 'share'), { recursive: true });
      const sums = trees.map((tree, at) => {
        const packed = join(top, `${at}.tar.gz`);
        packTree(tree, 'share', packed, 0);
        return sumOf(packed);
      });
      assert.equal(sums[0], sums[1]);
    });

    it('checks an upgrade to its version, packed and unpacked', async () => {
      const program = join(top, 'prefix/bin/frontdoor');
      for (const place of [archive, join(top, 'tree', name)]) {
        const words = ['upgrade', '--check', place, '--json', '--data-dir', join(top, 'none')];
        const { stdout } = await run(program, words, { env: { PATH: process.env['PATH'], HOME: top } });
        const { version, attention } = JSON.parse(stdout) as { version: string; attention: number };
        assert.deepEqual([version, attention], ['0.1.0', 0]);
      }
    });

    it('replaces an installed version, and leaves nothing else behind', async () => {
      for (let time = 0; time < 2; time += 1) assert.equal((await install('--prefix', 'twice')).status, 0);
      assert.deepEqual(readdirSync(join(top, 'twice/lib/frontdoor')), [name]);
      assert.deepEqual(readdirSync(join(top, 'twice/bin')), ['frontdoor', 'frontdoor-agent']);
    });

    it('refuses the agent over the product, and takes over the command of the agent with a word', async () => {
      const agent = `frontdoor-agent-0.1.0-${process.platform}-${process.arch}`;
      const bin = join(top, 'small', agent, 'bin');
      mkdirSync(bin, { recursive: true });
      writeFileSync(join(bin, 'frontdoor-agent'), '#!/bin/sh\necho 0.1.0\n', { mode: 0o755 });
      const packed = join(top, 'small', `${agent}.tar.gz`);
      packTree(join(top, 'small'), agent, packed, 0, 1);
      writeFileSync(join(top, 'small/SHA256SUMS'), `${sumOf(packed)}  ${agent}.tar.gz\n`);
      const refused = await install('--prefix', 'twice', '--archive', packed);
      assert.equal(refused.status, 1);
      assert.match(refused.output, /belongs to the whole product in .*\/twice\/lib\/frontdoor, .*--prefix/);
      assert.deepEqual(readdirSync(join(top, 'twice/bin')), ['frontdoor', 'frontdoor-agent']);
      assert.equal((await install('--prefix', 'mixed', '--archive', packed)).status, 0);
      const { status, output } = await install('--prefix', 'mixed');
      assert.equal(status, 0, output);
      const replaced = join(top, 'mixed/lib/frontdoor-agent');
      assert.ok(
        output.includes(`The agent in ${replaced} is replaced. Remove it: rm -rf ${replaced}\n`),
        output,
      );
      mkdirSync(join(top, 'foreign/bin'), { recursive: true });
      symlinkSync(join(bin, 'frontdoor-agent'), join(top, 'foreign/bin/frontdoor-agent'));
      assert.match(
        (await install('--prefix', 'foreign')).output,
        /which is another installation: remove that one/,
      );
    });

    it('gives back what a killed installation had moved, although the next one is refused', async () => {
      const library = join(top, 'twice/lib/frontdoor');
      // No process has so high a number.
      const left = join(library, '.new-4194304-abcdef');
      mkdirSync(join(left, 'old'), { recursive: true });
      renameSync(join(library, name), join(left, 'old', name));
      const link = join(top, 'twice/bin/frontdoor-agent');
      rmSync(link);
      writeFileSync(link, '');
      const { output } = await install('--prefix', 'twice');
      assert.match(output, /frontdoor-agent exists, and is no link to a program: move it away/);
      assert.deepEqual(readdirSync(library), [name]);
      assert.ok(existsSync(join(top, 'twice/bin/frontdoor')));
    });

    it('is refused when it is damaged or for another system, and what is installed stays', async () => {
      const wrong = join(top, 'wrong');
      mkdirSync(wrong);
      const sums = readFileSync(join(release, 'SHA256SUMS'), 'utf8');
      writeFileSync(join(wrong, 'SHA256SUMS'), sums);
      writeFileSync(join(wrong, `${name}.tar.gz`), readFileSync(archive).subarray(0, 1_000_000));
      const damaged = await install('--prefix', 'prefix', '--archive', join(wrong, `${name}.tar.gz`));
      assert.equal(damaged.status, 1);
      assert.match(damaged.output, /is damaged: its sum is not that of SHA256SUMS\. Download it again/);
      writeFileSync(join(wrong, 'frontdoor-0.1.0-other-x64.tar.gz'), '');
      const other = await install('--archive', join(wrong, 'frontdoor-0.1.0-other-x64.tar.gz'));
      assert.match(other.output, /is for another system; this one is /);
      const second = join(release, name.replace('-0.1.0-', '-0.10.0-') + '.tar.gz');
      writeFileSync(second, '');
      assert.match((await install()).output, /there are several archives beside install\.sh: name one/);
      rmSync(second);
      const unknown = await install('--to', 'x');
      assert.match(unknown.output, /"--to" is no option/);
      assert.ok(existsSync(join(top, 'prefix/bin/frontdoor')));
    });
  });

  it('without development dependencies serves, explains how to get a console, and serves one that was copied', async (test) => {
    rmSync(join(clone, 'dist'), { recursive: true });
    rmSync(join(clone, 'node_modules'));
    const { packages } = readJson<{ packages: Readonly<Record<string, LockRow>> }>(
      join(clone, 'package-lock.json'),
    );
    const names = Object.entries(packages)
      .filter(([path, { dev }]) => path.lastIndexOf('node_modules/') === 0 && dev !== true)
      .map(([path]) => path.slice('node_modules/'.length));
    linkPackages(join(clone, 'node_modules'), names);
    const launcher = join(clone, 'bin/frontdoor.js');
    const demo = await startUp(test, launcher);
    await checkServes(demo);
    const { status, text } = await askConsole(demo);
    assert.equal(status, 503);
    assert.match(text, /<code>npm ci<\/code>.*<code>npm run build<\/code>/s);
    assert.ok(text.includes(`<code>${BUILT}</code>`));
    await buildConsoleNow();
    cpSync(join(repositoryRoot, BUILT), join(clone, BUILT), { recursive: true });
    await checkServesConsole(await startUp(test, launcher));
  });
});
