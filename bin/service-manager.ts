/**
 * What a program reports to systemd, which started it with `Type=notify`: that it is ready, reads its files again, stops, and lives.
 * Node opens no sockets of datagrams in the file system, so `systemd-notify` sends each message (ADR 0101). A failure is
 * logged once and ends nothing. Without NOTIFY_SOCKET there is nothing to report to.
 */
import { execFile } from 'node:child_process';
import process from 'node:process';
import { promisify } from 'node:util';
import { messageOf, silentLog, type Log } from '#base';
import { launcherPipe } from './launcher-pipe.ts';

const run = promisify(execFile);

/** The variables of the protocol, which processes that this one starts must not have. */
const VARIABLES = ['NOTIFY_SOCKET', 'WATCHDOG_USEC', 'WATCHDOG_PID'] as const;

type ServiceVariables = Readonly<Partial<Record<(typeof VARIABLES)[number], string>>>;

type Message = 'READY=1' | 'RELOADING=1' | 'STOPPING=1' | 'WATCHDOG=1';

const SEND_MS = 10_000;
const MIN_WATCHDOG_MS = 100;
const MAX_WATCHDOG_MS = 600_000;

export interface ServiceManagerOptions {
  readonly variables: ServiceVariables;
  /** For whose life the watchdog waits: this process, or the launcher that waits for it. */
  readonly pids: readonly number[];
}

export class ServiceManager {
  readonly #socket: string | undefined;
  readonly #watchdogMs: number | undefined;
  /** Each message at most once, in the order in which they are sent. */
  #waiting: Message[] = [];
  #sending: Promise<void> | undefined;
  #log: Log = silentLog;
  #hasFailed = false;
  #isReady = false;
  #watchdog: NodeJS.Timeout | undefined;

  constructor({ variables, pids }: ServiceManagerOptions) {
    this.#socket = variables.NOTIFY_SOCKET || undefined;
    this.#watchdogMs = watchdogMs(variables, pids);
  }

  /** Failures are written to it. */
  logTo(log: Log): void {
    this.#log = log;
  }

  /** The program serves. From now on the watchdog expects a message while its event loop turns. */
  ready(): void {
    if (this.#socket === undefined) return;
    this.#isReady = true;
    this.#add('READY=1');
    if (this.#watchdogMs === undefined || this.#watchdog !== undefined) return;
    this.#watchdog = setInterval(() => this.#add('WATCHDOG=1'), this.#watchdogMs / 2);
    this.#watchdog.unref();
  }

  /** Does nothing in a program that is not ready. `ready` ends it. */
  reloading(): void {
    if (this.#isReady) this.#add('RELOADING=1');
  }

  reloaded(): void {
    if (this.#isReady) this.#add('READY=1');
  }

  stopping(): void {
    clearInterval(this.#watchdog);
    if (this.#socket === undefined) return;
    this.#isReady = false;
    this.#waiting = [];
    this.#add('STOPPING=1');
  }

  /** Resolves when all messages so far have been sent, or have failed. */
  async sent(): Promise<void> {
    await this.#sending;
  }

  #add(message: Message): void {
    // The last of two equal messages counts: after READY, RELOADING and READY the program is ready.
    this.#waiting = [...this.#waiting.filter((each) => each !== message), message];
    this.#sending ??= this.#sendAll();
  }

  async #sendAll(): Promise<void> {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      try {
        const env = { PATH: process.env['PATH'], NOTIFY_SOCKET: this.#socket };
        await run('systemd-notify', [next], { env, timeout: SEND_MS, killSignal: 'SIGKILL' });
        this.#hasFailed = false;
      } catch (error) {
        if (!this.#hasFailed)
          this.#log.warn({ message: next, err: messageOf(error) }, 'systemd could not be notified');
        this.#hasFailed = true;
      }
    }
    this.#sending = undefined;
  }
}

/** Undefined without a watchdog, or if it watches another process. */
function watchdogMs({ WATCHDOG_USEC: usec, WATCHDOG_PID: pid }: ServiceVariables, pids: readonly number[]) {
  const ms = /^\d{1,18}$/.test(usec ?? '') ? Number(usec) / 1_000 : 0;
  if (ms === 0 || (pid !== undefined && !pids.includes(Number(pid)))) return undefined;
  return Math.min(Math.max(ms, MIN_WATCHDOG_MS), MAX_WATCHDOG_MS);
}

function takeVariables(): ServiceVariables {
  const variables: Partial<Record<(typeof VARIABLES)[number], string>> = {};
  for (const name of VARIABLES) {
    const value = process.env[name];
    if (value !== undefined) variables[name] = value;
    delete process.env[name];
  }
  return variables;
}

/** The one of this process. */
export const serviceManager = new ServiceManager({
  variables: takeVariables(),
  pids: launcherPipe === undefined ? [process.pid] : [process.pid, process.ppid],
});
