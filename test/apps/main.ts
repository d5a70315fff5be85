/**
 * `npm run apps`: real applications, each behind a share of a running Frontdoor, used by their real clients. Each is a file of
 * `rows/`; arguments are texts that names of rows contain. The applications install themselves below `.cache/`.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pinnedEnvironment, repositoryRoot } from '../../tools/pinned-process.ts';
import { run } from '../clients/tool-run.ts';
import { findCommand } from '../support/child-process.ts';
import { freePort } from '../support/free-port.ts';
import { startApp } from './app-program.ts';
import { AppWorld } from './app-world.ts';
import type { App, PrivateApp, PublicApp, TestedApp } from './row.ts';

const cache = join(repositoryRoot, '.cache', 'apps');
const rowFolder = join(import.meta.dirname, 'rows');

async function main(patterns: readonly string[]): Promise<number> {
  const apps = await loadApps(patterns);
  let passed = 0;
  let skipped = 0;
  const world = await AppWorld.open();
  try {
    for (const app of apps) {
      const missing = missingOf(app);
      if (missing !== undefined) {
        skipped += 1;
        console.log(`skipped ${app.name}: ${missing}`);
        continue;
      }
      const problem = await judge(world, app);
      if (problem === undefined) passed += 1;
      console.log(`${problem === undefined ? 'ok     ' : 'FAILED '} ${app.name}: ${app.shows}`);
      if (problem !== undefined) console.log(`        ${problem.replaceAll('\n', '\n        ')}`);
    }
  } finally {
    await world.close();
  }
  console.log(
    `${passed} of ${apps.length - skipped} applications work${skipped === 0 ? '' : `, ${skipped} skipped`}`,
  );
  return passed === apps.length - skipped ? 0 : 1;
}

async function loadApps(patterns: readonly string[]): Promise<readonly App[]> {
  const files = readdirSync(rowFolder).filter((name) => name.endsWith('.ts'));
  const rows = await Promise.all(
    files.toSorted().map(async (name) => (await import(join(rowFolder, name))) as { readonly app: App }),
  );
  const apps = rows.map(({ app }) => app);
  return patterns.length === 0
    ? apps
    : apps.filter(({ name }) => patterns.some((each) => name.includes(each)));
}

/** What to do so that the row runs, or undefined if it does. */
function missingOf(app: App): string | undefined {
  if ('test' in app && app.variable !== undefined && process.env[app.variable] === undefined)
    return `set ${app.variable} to its program`;
  const packages = Object.entries(app.needs ?? {})
    .filter(([program]) => findCommand(program) === undefined)
    .map(([, name]) => name);
  return packages.length === 0 ? undefined : `install ${packages.join(', ')} (Debian)`;
}

/** Returns the problem, or undefined if the application works. */
async function judge(world: AppWorld, app: App): Promise<string | undefined> {
  try {
    await ('test' in app ? runTest(app) : useApp(world, app));
    return undefined;
  } catch (error) {
    const { stack, cause } = error as Error;
    return cause instanceof Error ? `${stack}\n${cause.stack}` : String(stack);
  }
}

async function useApp(world: AppWorld, app: PublicApp | PrivateApp): Promise<void> {
  const place = { folder: join(cache, app.name), port: await freePort() };
  const running = await startApp(app, place);
  try {
    if ('check' in app) {
      const target = `http://127.0.0.1:${place.port}${app.path ?? ''}`;
      await app.check(await world.publish(app.name, target, app.options ?? []), place);
    } else {
      const share = await world.sharePrivately(app.name, `tcp://127.0.0.1:${place.port}`);
      await app.checkPrivate(share, place);
    }
    await world.release(app.name);
  } catch (error) {
    throw new Error(`${app.name} printed: ${running.tail()}`, { cause: error });
  } finally {
    await running.stop();
  }
}

async function runTest({ test, pattern }: TestedApp): Promise<void> {
  const options = ['--test', '--test-reporter=tap', `--test-name-pattern=${pattern}`];
  const { status, output } = await run(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', ...options, join(repositoryRoot, test)],
    pinnedEnvironment(),
  );
  const countOf = (name: string): number => Number(new RegExp(`^# ${name} (\\d+)$`, 'm').exec(output)?.[1]);
  if (status !== 0 || !(countOf('pass') > 0) || countOf('skipped') > 0) throw new Error(output);
}

process.exitCode = await main(process.argv.slice(2));
