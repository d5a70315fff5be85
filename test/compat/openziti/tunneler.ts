/** `ziti tunnel` as a process of a test (OpenZiti's Go SDK with the tunneler around it), and identities for it. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonAnswer } from '#net/http';
import { runZiti, zitiEnvironment } from '../../support/ziti-command.ts';

const STOP_GRACE_MS = 10_000;
const KEPT_CHARS = 500_000;

export interface Tunneler {
  /** What it logged so far. */
  output(): string;
  readonly isRunning: boolean;
  /** Ends it as an operator would, by force when that takes too long. */
  stop(): Promise<void>;
}

/**
 * `mode`: `host`, which looks for new services every second, or `proxy` with `service:port` arguments after it, which
 * keeps to what it found at its start.
 */
export function startTunneler(
  binary: string,
  folder: string,
  identityFile: string,
  ...mode: string[]
): Tunneler {
  const args = ['tunnel', ...mode, '-i', identityFile, '--cli-agent=false'];
  if (mode[0] === 'host') args.push('--svcPollRate', '1');
  const child = spawn(binary, args, {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: zitiEnvironment(folder),
  });
  let output = '';
  const keep = (text: string): void => {
    output = (output + text).slice(-KEPT_CHARS);
  };
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', keep);
  child.once('error', (error) => keep(error.message));
  const isRunning = (): boolean =>
    child.pid !== undefined && child.exitCode === null && child.signalCode === null;
  return {
    output: () => output,
    get isRunning() {
      return isRunning();
    },
    stop: async () => {
      if (!isRunning()) return;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_GRACE_MS);
      await ended;
      clearTimeout(timer);
    },
  };
}

export interface GoIdentity {
  readonly file: string;
  readonly environmentId: string;
  /** The token that it was made with. */
  readonly jwt: string;
}

/** What enrolling needs of the product. */
export interface Management {
  call(method: 'GET', path: string): Promise<JsonAnswer>;
  enrollmentJwt(): Promise<string>;
}

/** `ziti edge enroll` with a new token of `management`; `more` are further options. Fails with what it printed. */
export async function enrollGo(
  management: Management,
  place: { readonly binary: string; readonly folder: string; readonly name: string },
  ...more: string[]
): Promise<GoIdentity> {
  const { binary, folder, name } = place;
  const known = await environmentIds(management);
  const [jwt, file] = [join(folder, `${name}.jwt`), join(folder, `${name}.json`)];
  writeFileSync(jwt, await management.enrollmentJwt(), { mode: 0o600 });
  const { status, output } = await runZiti(binary, folder, enrollArgs(jwt, file, ...more));
  assert.equal(status, 0, output);
  const added = (await environmentIds(management)).filter((id) => !known.includes(id));
  assert.equal(added.length, 1);
  return { file, environmentId: added[0]!, jwt };
}

export function enrollArgs(jwt: string, file: string, ...more: string[]): string[] {
  return ['edge', 'enroll', '--jwt', jwt, '--out', file, ...more];
}

async function environmentIds(management: Management): Promise<string[]> {
  const { json } = await management.call('GET', '/environments');
  return (json as { content: { id: string }[] }).content.map(({ id }) => id);
}
