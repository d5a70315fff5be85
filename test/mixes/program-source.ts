/**
 * The programs of another version, ready to run: of a commit or tag of this repository, unpacked below `.cache/versions/`, or of a
 * release that was unpacked from its archive. Both run by the Node that they are pinned to.
 */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { repositoryRoot } from '../../tools/pinned-process.ts';

/** What a process of a version is started with. */
export interface ProgramSource {
  /** As the table names it. */
  readonly name: string;
  readonly node: string;
  /** The file that takes the words of the command line. */
  readonly entry: string;
  /** The module of the library for programs. */
  readonly library: string;
}

const CACHE = join(repositoryRoot, '.cache', 'versions');
const MIGRATIONS = 'src/control/store/migrations';
/** The schema step that the version after this one would have. */
export const NEXT_STEP = '0099-next';

export function currentPrograms(): ProgramSource {
  return sourcesIn(repositoryRoot, 'this version');
}

/**
 * `named` is a commit, a tag, or the folder of an unpacked release. By default the newest tag, and before the first release the
 * oldest commit with the present schema.
 */
export function earlierPrograms(named: string | undefined): ProgramSource {
  if (named !== undefined && existsSync(join(named, 'lib/frontdoor'))) return releaseIn(resolve(named));
  const ref = named ?? newestTag() ?? git('log', '-1', '--format=%H', '--', MIGRATIONS);
  return programsOf(git('rev-parse', '--verify', `${ref}^{commit}`));
}

function programsOf(commit: string): ProgramSource {
  const short = commit.slice(0, 12);
  return sourcesIn(
    unpacked(commit, short, () => {}),
    short,
  );
}

/** This version with one more step of the schema: what the next version is to this one. */
export function nextPrograms(): ProgramSource {
  const commit = git('rev-parse', 'HEAD');
  const folder = unpacked(commit, `${commit.slice(0, 12)}-next`, addSchemaStep);
  return sourcesIn(folder, 'the next version');
}

function addSchemaStep(folder: string): void {
  const table = join(folder, MIGRATIONS, 'migration-table.ts');
  const step = `{
    effect: 'adds a column and a table',
    up: async (db: any) => {
      await db.schema.alterTable('share').addColumn('of_next_version', 'text').execute();
      await db.schema.createTable('table_of_next_version').addColumn('id', 'text').execute();
    },
  }`;
  const text = readFileSync(table, 'utf8');
  const changed = text.replace(/^};$/m, `  '${NEXT_STEP}': ${step},\n};`);
  if (changed === text) throw new Error(`${table} has another form than this test changes`);
  writeFileSync(table, changed);
}

function newestTag(): string | undefined {
  const [tag] = git('tag', '--list', 'v*', '--sort=-version:refname').split('\n');
  return tag === '' ? undefined : tag;
}

function sourcesIn(folder: string, name: string): ProgramSource {
  return {
    name,
    node: pinnedNode(folder),
    entry: join(folder, 'bin/frontdoor.ts'),
    library: join(folder, 'src/sdk/library/mod.ts'),
  };
}

function releaseIn(folder: string): ProgramSource {
  const top = join(folder, 'lib/frontdoor');
  const [node] = globSync('node_modules/node-*/bin/node', { cwd: top });
  if (node === undefined) throw new Error(`${folder} has no Node: unpack the archive of this machine`);
  return {
    name: folder.slice(folder.lastIndexOf('/') + 1),
    node: join(top, node),
    entry: join(top, 'dist/programs/bin/frontdoor.js'),
    library: join(top, 'dist/programs/src/sdk/library/mod.js'),
  };
}

/** Node of the platform's package, as the launcher finds it. */
function pinnedNode(folder: string): string {
  if (folder === repositoryRoot) return process.execPath;
  const [, packages = ''] =
    /PACKAGES = \{([^}]*)\}/.exec(readFileSync(join(folder, 'bin/frontdoor.js'), 'utf8')) ?? [];
  const [, name] = new RegExp(`'${process.platform}-${process.arch}': '([^']+)'`).exec(packages) ?? [];
  const manifest = createRequire(join(folder, 'bin/frontdoor.js')).resolve(`${name!}/package.json`);
  return join(manifest, '../bin/node');
}

/** The tree of a commit with the packages of its lock file; there once it is whole. */
function unpacked(commit: string, name: string, change: (folder: string) => void): string {
  const folder = join(CACHE, name);
  if (existsSync(folder)) return folder;
  mkdirSync(CACHE, { recursive: true });
  const made = mkdtempSync(`${folder}-`);
  const maxBuffer = 512 * 1024 * 1024;
  const tar = execFileSync('git', ['archive', '--format=tar', commit], { cwd: repositoryRoot, maxBuffer });
  execFileSync('tar', ['-xf', '-', '-C', made], { input: tar });
  change(made);
  if (packagesOf(made) === packagesOf(repositoryRoot))
    symlinkSync(join(repositoryRoot, 'node_modules'), join(made, 'node_modules'));
  else execFileSync('npm', ['ci', '--omit=dev', '--no-audit', '--no-fund'], { cwd: made, stdio: 'inherit' });
  renameSync(made, folder);
  return folder;
}

/** The packages that a tree installs, without its own name. */
function packagesOf(folder: string): string {
  const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, { readonly dev?: boolean }>>;
  };
  return JSON.stringify(Object.entries(packages).filter(([path, { dev }]) => path !== '' && dev !== true));
}

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: repositoryRoot, encoding: 'utf8' }).trim();
}
