/**
 * `npm run apps`: real applications, each behind a share of a running Frontdoor, asked as their visitors ask them. Each is a
 * file of `rows/`; arguments are texts that names of rows contain. The applications install themselves below `.cache/`.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { delimiter, join } from 'node:path';
import { definedFields } from '#base';
import { callAgent } from '#cli';
import { repositoryRoot } from '../../tools/pinned-process.ts';
import { run } from '../clients/tool-run.ts';
import { freePort } from '../support/free-port.ts';
import { eventually, openWorld, type World, type WorldAgent } from '../support/world.ts';
import { AppShare, type App, type AppPlace } from './app.ts';

/** Not below `localhost`, whose names development servers accept. */
const ZONE = 'apps.example';
const START_MS = 60_000;
const cache = join(repositoryRoot, '.cache', 'apps');
const rowFolder = join(import.meta.dirname, 'rows');

async function main(patterns: readonly string[]): Promise<number> {
  const apps = await loadApps(patterns);
  const world = await openWorld({ zone: ZONE });
  let passed = 0;
  let skipped = 0;
  try {
    const agent = await world.startAgent('apps');
    for (const app of apps) {
      const missing = (app.needs ?? []).filter((name) => !isInPath(name));
      if (missing.length > 0) {
        skipped += 1;
        console.log(`skipped ${app.name}: needs ${missing.join(', ')} in PATH`);
        continue;
      }
      const problem = await judge(world, agent, app).catch((error: unknown) =>
        String((error as Error).stack),
      );
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

/** Returns the problem, or undefined if the application works. */
async function judge(world: World, { agent }: WorldAgent, app: App): Promise<string | undefined> {
  const place = { folder: join(cache, app.name), port: await freePort() };
  await install(app, place);
  const { child, output } = start(app, place);
  try {
    await listening(child, place.port, output);
    const { name, upstream, path = '' } = app;
    const target = `http://127.0.0.1:${place.port}${path}`;
    await callAgent(
      agent.socketPath,
      definedFields({ op: 'share', mode: 'public', target, name, grants: [], upstream }),
    );
    const host = `${name}.${ZONE}`;
    const set = async (change: object): Promise<void> => {
      const { status, text } = await world.call('PATCH', `/shares/${name}/upstream`, change);
      if (status !== 200) throw new Error(text);
    };
    const share = new AppShare(host, world.up.httpPort, set);
    await eventually(
      () => share.ask('/'),
      ({ status }) => status < 500 && status !== 404,
    );
    await app.check(share);
    return undefined;
  } catch (error) {
    return `${String((error as Error).stack)}\nits output: ${output()}`;
  } finally {
    await stop(child);
  }
}

async function install({ npm = [], pip = [], name }: App, { folder }: AppPlace): Promise<void> {
  const ready = join(
    folder,
    `ready-${Buffer.from([...npm, ...pip].join())
      .toString('hex')
      .slice(0, 64)}`,
  );
  if (existsSync(ready)) return;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const steps: (readonly [string, readonly string[]])[] = [];
  if (npm.length > 0)
    steps.push(['npm', ['install', '--silent', '--no-audit', '--no-fund', '--prefix', folder, ...npm]]);
  if (pip.length > 0) {
    const python = join(folder, 'python');
    steps.push(['python3', ['-m', 'venv', '--clear', python]]);
    const quiet = ['--quiet', '--disable-pip-version-check'];
    steps.push([join(python, 'bin', 'python'), ['-m', 'pip', 'install', ...quiet, ...pip]]);
  }
  for (const [command, args] of steps) {
    const { status, output } = await run(command, args);
    if (status !== 0) throw new Error(`${name}: ${command} ${args.join(' ')} failed:\n${output}`);
  }
  writeFileSync(ready, '');
}

function start(app: App, place: AppPlace): { readonly child: ChildProcess; readonly output: () => string } {
  const { command, args, env } = app.program(place);
  const child = spawn(command, args, {
    cwd: place.folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8');
    stream.on('data', (part: string) => (text = (text + part).slice(-4_000)));
  }
  child.on('error', (error) => (text += error.message));
  return { child, output: () => text };
}

async function listening(child: ChildProcess, port: number, output: () => string): Promise<void> {
  const isOpen = (): Promise<boolean> =>
    new Promise((resolve) => {
      if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}: ${output()}`);
      const socket = connect(port, '127.0.0.1', () => resolve(true));
      socket.once('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
  await eventually(isOpen, (is) => is, START_MS);
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.pid === undefined) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

function isInPath(name: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => existsSync(join(folder, name)));
}

process.exitCode = await main(process.argv.slice(2));
