/**
 * `frontdoor dev …`: the development commands behind `npm run check`, `npm test` and so on. They need a
 * clone of the repository with its development dependencies; an installed product does not carry them.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot, runPinned } from '../tools/pinned-process.ts';

const USAGE = `usage: frontdoor dev check [STEP…] [--fix]
       frontdoor dev test [--all | --rest | --long | --changed] [PATTERN…] [--name TEXT] [--spec] [--jobs N] [--keep-durations]
       frontdoor dev battery [ROW…] [--quick] [--seed N]
       frontdoor dev bench|bench:api|bench:edge|bench:fabric|bench:gateway|bench:tcp
                     [--quick] [--rounds N] [--seconds N] [--scenario TEXT]
                     [--cpu-profile DIR] [--compare FILE FILE]
       frontdoor dev bench … [--shape up|separate|both]
       frontdoor dev interop
       frontdoor dev docs
       frontdoor dev commit-subject FILE
       frontdoor dev chaos [--rounds N] [--seed N]
       frontdoor dev chaos fabric [--row ROW]… [--quick] [--relay] [--rounds N] [--seed N]
       frontdoor dev chaos stops [--row ROW]… [--rounds N] [--rate N] [--streams N] [--stream-ms N]
       frontdoor dev fuzz api [--seed N] [--examples N] [--runs N]
       frontdoor dev fuzz frames [--seed N] [--frames N]
       frontdoor dev mixes [parts] [database] [--old COMMIT | TAG | FOLDER]
       frontdoor dev clients
       frontdoor dev apps [NAME…]
       frontdoor dev installs [NAME…]
       frontdoor dev console [--watch | --style-page] [--folder FOLDER]
       frontdoor dev library
       frontdoor dev dist [npm|archives|deb|image|sbom|site]… [--twice]
       frontdoor dev release VERSION [--dry-run] | --tagged
       frontdoor dev build
       frontdoor dev node ARGUMENTS…
`;

const BUILD_CONSOLE = 'src/control/console/app/build-program.ts';

/** Runs one development command; resolves to the exit status. */
export async function runDev(args: readonly string[]): Promise<number> {
  const [command, ...rest] = args;
  // Each command loads its own part: `npm start` waits for the build.
  if (command === 'build') return buildClone();
  if (!existsSync(join(repositoryRoot, 'node_modules/typescript'))) {
    process.stderr.write('frontdoor dev: the development dependencies are not installed; run "npm ci"\n');
    return 69;
  }
  switch (command) {
    case 'check':
      return (await import('../tools/check.ts')).runCheck(rest);
    case 'test':
      return (await import('../tools/test-run.ts')).runTests(rest);
    case 'battery':
      return (await runPinned(['test/battery/main.ts', ...rest])).status;
    case 'bench':
    case 'bench:api':
    case 'bench:edge':
    case 'bench:fabric':
    case 'bench:gateway':
    case 'bench:tcp':
      return (await runPinned(['test/bench/main.ts', command, ...rest])).status;
    case 'interop':
      return (await import('../tools/test-run.ts')).runTests([
        'test/interop/',
        'test/compat/openziti/',
        '--jobs',
        '1',
        '--spec',
        ...rest,
      ]);
    case 'chaos':
      return (await runPinned(['test/chaos/main.ts', ...rest])).status;
    case 'commit-subject':
      return (await runPinned(['tools/commit-subject.ts', ...rest])).status;
    case 'docs':
      return (await import('../tools/generate-docs.ts')).runDocs(rest);
    case 'fuzz':
      return (await runPinned(['test/fuzz/main.ts', ...rest])).status;
    case 'console':
      return (await runPinned([BUILD_CONSOLE, ...rest])).status;
    case 'library':
      return buildPackage();
    case 'dist':
      return (await import('../tools/release/release.ts')).makeRelease(rest, buildPackage);
    case 'release':
      return makeVersionHere(rest);
    case 'node':
      return (await runPinned(rest)).status;
    case 'mixes':
      return (await runPinned(['test/mixes/main.ts', ...rest])).status;
    case 'clients':
      return (await runPinned(['test/clients/main.ts', ...rest])).status;
    case 'apps':
      return (await runPinned(['test/apps/main.ts', ...rest])).status;
    case 'installs':
      return (await runPinned(['test/installs/main.ts', ...rest])).status;
    default:
      process.stderr.write(USAGE);
      return command === undefined || command === '--help' ? 0 : 2;
  }
}

/**
 * `npm start` begins with it: the program bundle and the console of this clone, each unless it was made from the sources as they
 * are (ADR 0075). Without a build, programs run from their sources, and there is no console.
 */
async function buildClone(): Promise<number> {
  if (!existsSync(join(repositoryRoot, 'node_modules/esbuild'))) {
    process.stderr.write('frontdoor: nothing was built, because esbuild is not installed: run "npm ci"\n');
    return 1;
  }
  const { bundleProgram } = await import('./bundle-program.ts');
  const programs = bundleProgram(repositoryRoot).then(
    () => 0,
    (error: Error) => {
      process.stderr.write(`frontdoor: ${error.message}\n`);
      return 1;
    },
  );
  const [ofPrograms, { status }] = await Promise.all([programs, runPinned([BUILD_CONSOLE, '--quiet'])]);
  return ofPrograms === 0 ? status : ofPrograms;
}

async function makeVersionHere(args: readonly string[]): Promise<number> {
  const { makeVersion } = await import('../tools/release/make-version.ts');
  return makeVersion(args, {
    root: repositoryRoot,
    day: new Date().toISOString().slice(0, 10),
    makeFiles: async () => (await import('../tools/release/release.ts')).makeRelease([], buildPackage),
    print: (line) => void process.stdout.write(`${line}\n`),
  });
}

/** The library, and what `npm pack` of the repository contains beside it: the programs and the built console. */
async function buildPackage(): Promise<number> {
  const { buildLibrary } = await import('../tools/build-library.ts');
  const status = await buildLibrary();
  if (status !== 0) return status;
  const { buildPrograms, PROGRAMS_FOLDER } = await import('../tools/build-programs.ts');
  const { cloneCommit, commitDay } = await import('./build-facts.ts');
  const commit = cloneCommit(repositoryRoot);
  buildPrograms(commit, commit && commitDay(repositoryRoot, commit));
  const { bundlePackage } = await import('./bundle-program.ts');
  await bundlePackage(join(repositoryRoot, PROGRAMS_FOLDER));
  return (await runPinned([BUILD_CONSOLE])).status;
}
