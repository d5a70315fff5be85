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

interface Verdict {
  readonly state: 'ok' | 'failed' | 'skipped';
  /** What works, what is missing, or the problem. */
  readonly lines: string;
}

async function main(patterns: readonly string[]): Promise<number> {
  const apps = await loadApps(patterns);
  const counts = { ok: 0, failed: 0, skipped: 0 };
  const world = await AppWorld.open();
  try {
    for (const app of apps) {
      const { state, lines } = await judge(world, app);
      counts[state] += 1;
      console.log(`${state.padEnd('skipped'.length)} ${app.name}: ${lines.replaceAll('\n', '\n        ')}`);
    }
  } finally {
    await world.close();
  }
  const { ok, failed, skipped } = counts;
  console.log(`${ok} of ${ok + failed} applications work${skipped === 0 ? '' : `, ${skipped} skipped`}`);
  return failed === 0 ? 0 : 1;
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

async function judge(world: AppWorld, app: App): Promise<Verdict> {
  const missing = missingOf(app);
  if (missing !== undefined) return { state: 'skipped', lines: missing };
  try {
    if ('test' in app) return await runTest(app);
    await useApp(world, app);
    return { state: 'ok', lines: app.shows };
  } catch (error) {
    const { stack, cause } = error as Error;
    const causes = cause instanceof Error ? `\n${cause.stack}` : '';
    return { state: 'failed', lines: `${app.shows}\n${stack}${causes}` };
  }
}

async function useApp(world: AppWorld, app: PublicApp | PrivateApp): Promise<void> {
  const place = { folder: join(cache, app.name), port: await freePort() };
  const server = await startApp(app, place);
  try {
    if ('check' in app) {
      const target = `http://127.0.0.1:${server.port}${app.path ?? ''}`;
      await app.check(await world.publish(app.name, target, app.options ?? []), place);
    } else {
      const share = await world.sharePrivately(app.name, `tcp://127.0.0.1:${server.port}`);
      await app.checkPrivate(share, place);
    }
    await world.release(app.name);
  } catch (error) {
    throw new Error(`${app.name} printed: ${server.tail()}`, { cause: error });
  } finally {
    await server.stop();
  }
}

async function runTest({ test, pattern, shows }: TestedApp): Promise<Verdict> {
  const options = ['--test', '--test-reporter=tap', `--test-name-pattern=${pattern}`];
  const { status, output } = await run(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', ...options, join(repositoryRoot, test)],
    pinnedEnvironment(),
  );
  const passed = Number(/^# pass (\d+)$/m.exec(output)?.[1]);
  const [, reason] = /# SKIP (.+)/.exec(output) ?? [];
  if (status === 0 && passed > 0) return { state: 'ok', lines: `${shows} (${test})` };
  if (status === 0 && reason !== undefined) return { state: 'skipped', lines: reason };
  return { state: 'failed', lines: `${shows}\n${output}` };
}

// The program of the current row ends with this process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
process.exitCode = await main(process.argv.slice(2));
