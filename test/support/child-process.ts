/** Child processes: start, wait for a sign of life, stop for certain; CPU time and memory of any. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { delimiter, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

export { freePort } from './free-port.ts';

const CLOCK_TICKS = Number(spawnSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }).stdout) || 100;
const LISTENING_DEADLINE_MS = 10_000;

/** Where a command is in PATH (and in /usr/sbin, where servers live), if it is there. */
export function findCommand(name: string): string | undefined {
  for (const folder of [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin']) {
    const path = join(folder, name);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // not in this folder
    }
  }
  return undefined;
}

export interface Running {
  readonly child: ChildProcess;
  /** The last lines that it printed, for messages. */
  tail(): string;
  /** Ends it by `signal`, by SIGKILL after `graceMs`. */
  stop(signal?: NodeJS.Signals, graceMs?: number): Promise<void>;
}

/** `env` is added to ours; `cwd` is where it runs, here when absent. */
export function startProcess(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  cwd?: string,
): Running {
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
    cwd,
  });
  let text = '';
  const keep = (chunk: string): void => {
    text = (text + chunk).slice(-4_000);
  };
  child.stdout.setEncoding('utf8').on('data', keep);
  child.stderr.setEncoding('utf8').on('data', keep);
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', (error) => {
      keep(error.message);
      resolve();
    });
  });
  return {
    child,
    tail: () => text.trimEnd(),
    stop: async (signal = 'SIGTERM', graceMs = 10_000) => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill(signal);
      const timer = setTimeout(() => child.kill('SIGKILL'), graceMs);
      await ended;
      clearTimeout(timer);
    },
  };
}

/** Tries `attempt` until it gives a value; throws with what `what` was and why it failed after `deadlineMs`. */
export async function until<T>(what: string, deadlineMs: number, attempt: () => Promise<T> | T): Promise<T> {
  const endMs = performance.now() + deadlineMs;
  let last: unknown;
  while (performance.now() < endMs) {
    try {
      return await attempt();
    } catch (error) {
      last = error;
      await pause(10);
    }
  }
  throw new Error(`${what} did not happen within ${deadlineMs / 1000} s`, { cause: last });
}

/** Like `until`, for a sign of life of a program: throws at once when this has ended, also by a signal. */
export async function untilReady<T>(
  what: string,
  { child, tail }: Running,
  deadlineMs: number,
  attempt: () => Promise<T> | T,
): Promise<T> {
  const ready = await until(what, deadlineMs, async () => {
    const end = child.signalCode ?? child.exitCode;
    return end === null ? { value: await attempt() } : { end };
  });
  if ('end' in ready) throw new Error(`it ended before (${ready.end}): ${tail()}`);
  return ready.value;
}

/** Waits until it accepts connections at `port`; when it does not, it is ended and its last lines are the error. */
export async function untilListening(name: string, running: Running, port: number): Promise<void> {
  try {
    await untilReady(`a listening ${name}`, running, LISTENING_DEADLINE_MS, async () => {
      const socket = connect({ port, host: '127.0.0.1' });
      await once(socket, 'connect');
      socket.destroy();
    });
  } catch (error) {
    await running.stop('SIGKILL');
    throw new Error(`${name} did not get ready: ${running.tail()}`, { cause: error });
  }
}

/** CPU time of a process with all its threads, in microseconds. */
export function cpuTimeUs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  // The name in brackets may hold spaces; utime and stime are the 12th and 13th field after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[11]) + Number(fields[12])) * 1_000_000) / CLOCK_TICKS;
}

/** Resident memory, in bytes. */
export function residentBytes(pid: number): number {
  const match = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'));
  return Number(match?.[1] ?? 0) * 1024;
}

export function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1')
    .trim()
    .split(' ')
    .filter(Boolean)
    .map(Number);
}
