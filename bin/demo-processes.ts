/**
 * The demo's two other processes: the sample service, and an agent that is restarted whenever it dies. Both run
 * in sessions of their own, so that a Ctrl-C reaches them only through `up`, which ends them in order.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { adoptOrReplaceAgent } from '#agent';
import { BackOff, definedFields, FrontdoorError, type Log, messageOf } from '#base';
import type { LogOptions } from '#cli';
import { sampleReadyShape, type LockHolder } from '#domain/agent-shapes';
import { isRunning } from '#net/files';
import { nodeFlags } from './node-flags.js';

const HERE = dirname(fileURLToPath(import.meta.url));
const ENTRY = join(HERE, 'frontdoor.ts');
const SAMPLE = join(HERE, '..', 'src', 'agent', 'sample-service.ts');
/** The arguments with which the launcher starts an agent. */
const SMALL_PROCESS = [...process.execArgv, ...nodeFlags('agent')];
/** The sample service is small for all that it does. Flags that size the heap would make Node compile its own modules again. */
const SAMPLE_PROCESS = [
  '--disable-warning=ExperimentalWarning',
  '--disable-sigusr1',
  '--max-semi-space-size=4',
];
const SAMPLE_START_MS = 10_000;
/** The first restart comes within 2 s, later ones within 10 s. */
const RESTART = { minMs: 500, maxMs: 8_000, factor: 2, jitter: 0.2 };
const STEADY_MS = 15_000;
const WATCH_MS = 500;

export interface SampleProcess {
  readonly port: number;
  readonly pid: number;
  close(): Promise<void>;
}

export async function startSampleProcess(logDir: string): Promise<SampleProcess> {
  mkdirSync(logDir, { recursive: true, mode: 0o700 });
  const errors = openSync(join(logDir, 'sample.log'), 'a', 0o600);
  const child = spawn(process.execPath, [...SAMPLE_PROCESS, SAMPLE], {
    stdio: ['ignore', 'pipe', errors, 'ipc'],
    detached: true,
  });
  closeSync(errors);
  const deadline = AbortSignal.timeout(SAMPLE_START_MS);
  const lines = createInterface({ input: child.stdout! });
  try {
    const [line] = (await Promise.race([
      once(lines, 'line', { signal: deadline }),
      once(child, 'exit', { signal: deadline }).then(() => {
        throw new Error('it ended at once');
      }),
    ])) as [string];
    const ready = sampleReadyShape.readText(line);
    if ('problem' in ready) throw new Error(ready.problem);
    return { port: ready.value.port, pid: child.pid!, close: () => endChild(child, 2_000) };
  } catch (cause) {
    child.kill('SIGKILL');
    const message = `the sample service did not start: ${messageOf(cause)}`;
    throw new FrontdoorError('internal', 'sample-failed', message, { cause });
  }
}

export interface AgentSupervisorOptions {
  readonly dataDir: string;
  readonly apiUrl: string;
  readonly logDir: string;
  readonly version: string;
  readonly logFormat: LogOptions['logFormat'];
  readonly log: Log;
  /** Returns a fresh enrollment code; it is called when the agent has no identity. */
  enrollmentCode(): Promise<string | undefined>;
}

export class AgentSupervisor {
  readonly #options: AgentSupervisorOptions;
  readonly #backOff = new BackOff(RESTART);
  #child: ChildProcess | undefined;
  #adopted: LockHolder | undefined;
  #startedMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #isClosing = false;

  private constructor(options: AgentSupervisorOptions) {
    this.#options = options;
  }

  /** Adopts the agent that an earlier `up` left running, or starts one. */
  static async start(options: AgentSupervisorOptions): Promise<AgentSupervisor> {
    const supervisor = new AgentSupervisor(options);
    mkdirSync(options.dataDir, { recursive: true, mode: 0o700 });
    mkdirSync(options.logDir, { recursive: true, mode: 0o700 });
    const adoption = await adoptOrReplaceAgent(options.dataDir, { version: options.version });
    if (adoption.action === 'adopt') supervisor.#adopt(adoption.holder);
    else await supervisor.#spawn();
    return supervisor;
  }

  get pid(): number {
    return this.#child?.pid ?? this.#adopted?.pid ?? 0;
  }

  /** Ends the agent, either at once or after its circuits have ended. */
  async close(drainMs: number): Promise<void> {
    this.#isClosing = true;
    clearTimeout(this.#timer);
    const signal = drainMs > 0 ? 'SIGTERM' : 'SIGINT';
    if (this.#child !== undefined) await endChild(this.#child, drainMs + 3_000, signal);
    else if (this.#adopted !== undefined) await endProcess(this.#adopted, drainMs + 3_000, signal);
  }

  #adopt(holder: LockHolder): void {
    this.#options.log.info({ pid: holder.pid }, 'adopted the running agent');
    this.#adopted = holder;
    const watch = (): void => {
      if (this.#isClosing) return;
      if (isRunning(holder)) this.#timer = setTimeout(watch, WATCH_MS);
      else this.#onExit('the adopted agent ended');
    };
    watch();
  }

  async #spawn(): Promise<void> {
    const { dataDir, apiUrl, logDir, logFormat } = this.#options;
    const code = await this.#options.enrollmentCode();
    if (this.#isClosing) return;
    const out = openSync(join(logDir, 'agent.log'), 'a', 0o600);
    const options = ['--data-dir', dataDir, '--api', apiUrl, '--log-format', logFormat];
    const child = spawn(process.execPath, [...SMALL_PROCESS, ENTRY, 'agent', 'start', ...options], {
      stdio: ['ignore', out, out],
      detached: true,
      // Not on the command line, where every user of the machine could read it.
      env: {
        ...process.env,
        // The file of this program has nothing for the agent of the demo.
        FRONTDOOR_CONFIG: undefined,
        ...definedFields({ FRONTDOOR_ENROLLMENT_TOKEN: code }),
      },
    });
    closeSync(out);
    this.#child = child;
    this.#adopted = undefined;
    this.#startedMs = performance.now();
    child.on('error', (error) =>
      this.#options.log.error({ err: messageOf(error) }, 'cannot start the agent'),
    );
    child.on('exit', (status, signal) => {
      if (this.#child === child) this.#onExit(`agent ended (${signal ?? `status ${status ?? '?'}`})`);
    });
  }

  #onExit(what: string): void {
    this.#child = undefined;
    this.#adopted = undefined;
    if (this.#isClosing) return;
    if (performance.now() - this.#startedMs > STEADY_MS) this.#backOff.reset();
    const delayMs = this.#backOff.next();
    this.#options.log.warn({ restartInMs: delayMs, logs: this.#options.logDir }, what);
    this.#timer = setTimeout(() => {
      this.#spawn().catch((error: unknown) => this.#onExit(messageOf(error)));
    }, delayMs);
  }
}

async function endChild(
  child: ChildProcess,
  timeoutMs: number,
  signal: NodeJS.Signals = 'SIGTERM',
): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill(signal);
  const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
  await ended;
  clearTimeout(timer);
}

async function endProcess(holder: LockHolder, timeoutMs: number, signal: NodeJS.Signals): Promise<void> {
  const deadlineMs = performance.now() + timeoutMs;
  for (const next of [signal, 'SIGKILL'] as const) {
    if (!isRunning(holder)) return;
    try {
      process.kill(holder.pid, next);
    } catch {
      return;
    }
    while (isRunning(holder) && performance.now() < deadlineMs) {
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }
}
