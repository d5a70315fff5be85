/** The program of an application: installs its packages once, starts it, and ends it. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { startProcess, untilReady } from '../support/child-process.ts';
import { runClient } from './client-run.ts';
import type { AppPlace, AppServer, PrivateApp, PublicApp } from './row.ts';

/** Home Assistant installs what it needs at its first start. */
const START_MS = 240_000;

export async function startApp(app: PublicApp | PrivateApp, place: AppPlace): Promise<AppServer> {
  await install(app, place);
  const program = await app.program(place);
  if ('stop' in program) return program;
  const { command, args, env } = program;
  const running = startProcess(command, args, env, place.folder);
  const kill = (): void => void running.child.kill('SIGKILL');
  process.once('exit', kill);
  running.child.once('exit', () => process.off('exit', kill));
  try {
    await untilReady(`a listening ${app.name}`, running, START_MS, async () => {
      const socket = connect({ port: place.port, host: '127.0.0.1' });
      await once(socket, 'connect');
      socket.destroy();
    });
    return { port: place.port, tail: running.tail, stop: () => running.stop() };
  } catch (error) {
    await running.stop();
    throw new Error(`${app.name} did not get ready: ${running.tail()}`, { cause: error });
  }
}

async function install(
  { npm = [], pip = [], python: base = 'python3' }: PublicApp | PrivateApp,
  { folder }: AppPlace,
): Promise<void> {
  const digest = createHash('sha256')
    .update([...npm, ...pip, base].join())
    .digest('hex');
  const ready = join(folder, `ready-${digest}`);
  if (existsSync(ready)) return;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  if (npm.length > 0)
    await runClient('npm', ['install', '--silent', '--no-audit', '--no-fund', '--prefix', folder, ...npm]);
  if (pip.length > 0) {
    const python = join(folder, 'python');
    await runClient(base, ['-m', 'venv', '--clear', python]);
    const quiet = ['--quiet', '--disable-pip-version-check'];
    await runClient(join(python, 'bin', 'python'), ['-m', 'pip', 'install', ...quiet, ...pip]);
  }
  writeFileSync(ready, '');
}
