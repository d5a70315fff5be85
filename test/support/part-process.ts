/**
 * One program of the product as a process of its own, started as an operator would start it but for the launcher: the
 * process id is the program's. It is ready when its ready file exists, and ends for certain.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { nodeEnvironment, nodeFlags } from '../../bin/node-flags.js';
import { repositoryRoot } from '../../tools/pinned-process.ts';
import type { ControlGroup } from './control-group.ts';
import { afterRunning } from './deadline.ts';

const ENTRY = join(repositoryRoot, 'bin/frontdoor.ts');
const OWN_PROGRAM: InstalledProgram = { node: process.execPath, entry: ENTRY };
const READY_MS = 90_000;
const COMMAND_MS = 90_000;
const KEPT_CHARS = 20_000;
const LOOK_MS = 20;
const LAST_WORDS_MS = 1_000;

/** Programs of another version, or of another installation. */
export interface InstalledProgram {
  readonly node: string;
  /** The file that takes the words of the command line. */
  readonly entry: string;
}

export interface PartOptions<Ready> {
  readonly name: string;
  /** Called at each start; by default that of this tree. */
  readonly program?: (() => InstalledProgram) | undefined;
  /** Called at each start, because a second start takes the ports of the first. */
  readonly args: (last: Ready | undefined) => readonly string[] | Promise<readonly string[]>;
  readonly nodeArgs?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Bounds its memory from its first page on. */
  readonly group?: ControlGroup | undefined;
  /** The file that it writes when it is ready; `probe` for a program that writes none. */
  readonly readyFile?: string;
  readonly probe?: () => Promise<Ready>;
}

export class PartProcess<Ready = unknown> {
  readonly name: string;
  readonly #options: PartOptions<Ready>;
  #child: ChildProcess | undefined;
  #ready: Ready | undefined;
  #output = '';
  readonly #watchers = new Set<(line: string) => void>();

  constructor(options: PartOptions<Ready>) {
    this.name = options.name;
    this.#options = options;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** The ready file of its last start. */
  get ready(): Ready {
    if (this.#ready === undefined) throw new Error(`${this.name} was never ready`);
    return this.#ready;
  }

  /** Its log, the last lines. */
  get output(): string {
    return this.#output;
  }

  /** Each line that it prints from now on, through all its starts; call the answer to stop. */
  watch(onLine: (line: string) => void): () => void {
    this.#watchers.add(onLine);
    return () => this.#watchers.delete(onLine);
  }

  get isRunning(): boolean {
    const child = this.#child;
    return child !== undefined && child.exitCode === null && child.signalCode === null;
  }

  /** Resolves when it works; rejects with what it printed. */
  async start(): Promise<Ready> {
    const { args, nodeArgs = [], env, group, readyFile } = this.#options;
    if (this.isRunning) throw new Error(`${this.name} runs already`);
    if (readyFile !== undefined) rmSync(readyFile, { force: true });
    const words = await args(this.#ready);
    const program = this.#options.program?.() ?? OWN_PROGRAM;
    const node = [...nodeFlags(words[0], group?.limitBytes), ...nodeArgs, program.entry, ...words];
    const command = group?.command(program.node, node) ?? { file: program.node, args: node };
    const child = spawn(command.file, command.args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...nodeEnvironment(words[0], group?.limitBytes), ...process.env, ...env },
    });
    this.#child = child;
    if (child.pid !== undefined) group?.watch(child.pid);
    const keep = (text: string): void => {
      this.#output = (this.#output + text).slice(-KEPT_CHARS);
    };
    child.stdout.setEncoding('utf8').on('data', keep);
    child.stderr.setEncoding('utf8').on('data', keep);
    createInterface({ input: child.stderr }).on('line', (line) => {
      for (const onLine of this.#watchers) onLine(line);
    });
    child.on('error', (error) => keep(error.message));
    let isLate = false;
    const stop = afterRunning(READY_MS, () => (isLate = true));
    try {
      for (;;) {
        const ready = await this.#look();
        if (ready !== undefined) return (this.#ready = ready);
        if (!this.isRunning || isLate) {
          child.kill('SIGKILL');
          throw new Error(`${this.name} did not get ready:\n${this.#output}`);
        }
        await pause(LOOK_MS);
      }
    } finally {
      stop();
    }
  }

  /** Ends it as a crash would: at once, with no chance to tidy up. */
  async kill(): Promise<void> {
    await this.stop('SIGKILL');
  }

  /**
   * Resolves to the exit status, undefined when a signal ended it, once its last output is read. Sends
   * SIGKILL after `graceMs`.
   */
  async stop(signal: NodeJS.Signals = 'SIGINT', graceMs = 30_000): Promise<number | undefined> {
    const child = this.#child;
    if (child === undefined) return undefined;
    if (this.isRunning) {
      const ended = once(child, 'exit');
      const isRead = new Promise((resolve) => child.once('close', resolve));
      child.kill(signal);
      const cancel = afterRunning(graceMs, () => child.kill('SIGKILL'));
      await ended.finally(cancel);
      // A process that it left behind may keep the pipes open.
      await Promise.race([isRead, pause(LAST_WORDS_MS, undefined, { ref: false })]);
    }
    return child.exitCode ?? undefined;
  }

  async #look(): Promise<Ready | undefined> {
    const { readyFile, probe } = this.#options;
    try {
      if (probe !== undefined) return await probe();
      return JSON.parse(readFileSync(readyFile!, 'utf8')) as Ready;
    } catch {
      return undefined;
    }
  }
}

/** Runs one command to its end and resolves to what it printed; rejects with that when it fails. */
export async function runCommand(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  { node, entry }: InstalledProgram = OWN_PROGRAM,
): Promise<string> {
  const child = spawn(node, [...nodeFlags(args[0]), entry, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...nodeEnvironment(args[0]), ...process.env, ...env },
  });
  const stop = afterRunning(COMMAND_MS, () => child.kill());
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  const ended = once(child, 'close').finally(stop);
  const [code, signal] = (await ended) as [number | null, string | null];
  if (code === 0) return out;
  throw new Error(`frontdoor ${args.slice(0, 3).join(' ')} failed (${code ?? signal ?? '?'}): ${err}${out}`);
}
