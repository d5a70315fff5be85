/**
 * The product as real processes: `frontdoor up --demo` through its launcher, as a user starts it, and agents alone.
 * It serves tests that need processes: signals, sudden deaths, memory, exit statuses.
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { callAgent } from '#cli';
import { AGENT_SOCKET_FILE, type AgentShareResult } from '#domain/agent-shapes';
import type { DemoReady } from '../../bin/ready-file.ts';
import { repositoryRoot } from '../../tools/pinned-process.ts';
import { until, within } from './deadline.ts';

const LAUNCHER = join(repositoryRoot, 'bin/frontdoor.js');
const ENTRY = join(repositoryRoot, 'bin/frontdoor.ts');
const START_MS = 90_000;
const MAX_OUTPUT = 200_000;
const LAST_WORDS_MS = 1_000;

export interface Exit {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface RunningProcess {
  readonly child: ChildProcess;
  /** Resolves when it has ended. */
  readonly exit: Promise<Exit>;
  /** Its output so far, of both streams. */
  output(): string;
}

export interface DemoProcess extends RunningProcess {
  readonly ready: DemoReady;
  readonly port: number;
  readonly readyFile: string;
  /** Ends the process and all processes that it started, in any state. */
  destroy(): Promise<void>;
}

export function makeDataDir(): string {
  return mkdtempSync(join(tmpdir(), 'frontdoor-process-'));
}

/** `launcher` is that of another installation. */
export function runLauncher(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  launcher = LAUNCHER,
): RunningProcess {
  return run([launcher, ...args], env);
}

/** Starts `up --demo` in `dataDir`, and waits until its ready file exists. */
export async function startDemoProcess(
  dataDir: string,
  args: readonly string[] = ['--any-port'],
  launcher = LAUNCHER,
  env: NodeJS.ProcessEnv = {},
): Promise<DemoProcess> {
  const readyFile = join(dataDir, 'ready.json');
  rmSync(readyFile, { force: true });
  const words = ['up', '--demo', '--data-dir', dataDir, '--ready-file', readyFile, ...args];
  const running = runLauncher(words, env, launcher);
  let isOver = false;
  void running.exit.then(() => (isOver = true));
  await until('the ready file', () => isOver || existsSync(readyFile), Boolean, START_MS);
  if (isOver) throw new Error(`frontdoor up ended: ${running.output()}`);
  const ready = JSON.parse(readFileSync(readyFile, 'utf8')) as DemoReady;
  return {
    ...running,
    ready,
    readyFile,
    port: Number(new URL(ready.gatewayUrl).port),
    destroy: async () => {
      if (!isOver) running.child.kill('SIGINT');
      await within('the end of frontdoor up', running.exit).catch(() => {});
      for (const pid of [ready.pids.up, agentPid(dataDir) ?? ready.pids.agent, ready.pids.sample])
        kill(pid, 'SIGKILL');
      running.child.kill('SIGKILL');
    },
  };
}

/** The process id in the agent's lock file. */
export function agentPid(dataDir: string): number | undefined {
  try {
    const lock = JSON.parse(readFileSync(join(dataDir, 'agent', 'agent.lock'), 'utf8')) as { pid?: number };
    return lock.pid;
  } catch {
    return undefined;
  }
}

export interface AgentProcess extends RunningProcess {
  readonly pid: number;
  readonly environmentId: string;
  readonly socketPath: string;
  share(target: string, name: string): Promise<AgentShareResult>;
}

/** `frontdoor agent start` without the launcher: the process id is the agent's own. */
export async function startAgentProcess(options: {
  readonly dataDir: string;
  readonly apiUrl: string;
  readonly code?: string;
}): Promise<AgentProcess> {
  const { dataDir, apiUrl, code } = options;
  const running = run(
    [
      '--disable-warning=ExperimentalWarning',
      ENTRY,
      'agent',
      'start',
      '--data-dir',
      dataDir,
      '--api',
      apiUrl,
    ],
    code === undefined ? {} : { FRONTDOOR_ENROLLMENT_TOKEN: code },
  );
  const socketPath = join(dataDir, AGENT_SOCKET_FILE);
  let isOver = false;
  void running.exit.then(() => (isOver = true));
  const { value } = await until(
    'an answer of the agent',
    () => {
      if (isOver) return undefined;
      return callAgent(socketPath, { op: 'version' }, 2_000);
    },
    (answer) => isOver || answer?.pid === running.child.pid,
    START_MS,
  );
  if (value === undefined) throw new Error(`the agent ended: ${running.output()}`);
  return {
    ...running,
    pid: value.pid,
    environmentId: value.environmentId,
    socketPath,
    share: (target, name) => callAgent(socketPath, { op: 'share', mode: 'public', target, name, grants: [] }),
  };
}

/** False when there is no such process. */
export function kill(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}

/** Resident bytes of a process. */
export async function residentBytes(pid: number): Promise<number> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(pid)]);
  return Number(stdout.trim()) * 1_024;
}

function run(args: readonly string[], env: NodeJS.ProcessEnv): RunningProcess {
  const child = spawn(process.execPath, args, {
    cwd: repositoryRoot,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NODE_TEST_CONTEXT: undefined, ...env },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      if (output.length < MAX_OUTPUT) output += text;
    });
  }
  const { promise: exit, resolve, reject } = Promise.withResolvers<Exit>();
  child.once('error', reject);
  // Its last output may come after its end; a process that it left behind may keep the pipes open.
  child.once('close', (status, signal) => resolve({ status, signal }));
  child.once('exit', (status, signal) => {
    setTimeout(() => resolve({ status, signal }), LAST_WORDS_MS).unref();
  });
  return { child, exit, output: () => output };
}
