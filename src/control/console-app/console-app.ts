/**
 * Finds the built console, or has it built in a process of its own: once, after the control plane has reported that it is
 * ready. Everything else goes on without it.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { messageOf, type Log } from '#base';
import { loadBuiltConsole, readBuild, type BuiltConsole } from './built-console.ts';
import { cacheFolder, canBuild, PACKAGE_ROOT, packedFolders, sourceKey } from './console-source.ts';
import { watchedKey } from './watched-build.ts';

export interface ConsoleAppOptions {
  /** Keeps the build where the package's own folder cannot be written. */
  readonly dataDir: string;
  readonly log: Log;
  /** The top folder of the package. */
  readonly root?: string | undefined;
  /** Where builds are kept, in the order in which they are tried. */
  readonly folders?: readonly string[] | undefined;
}

/** `missing`: this installation has no built console, and not what builds one. */
export type ConsoleAppState = 'building' | 'built' | 'failed' | 'missing';

const PROGRAM = fileURLToPath(new URL('build-program.ts', import.meta.url));
/** A second of CPU takes minutes at a low priority where there is much else to do. */
const BUILD_MS = 600_000;
const MAX_OUTPUT_CHARS = 4_000;
const RETRY_MS = 60_000;

export class ConsoleApp {
  readonly #log: Log;
  readonly #root: string;
  readonly #folders: readonly string[];
  #current: BuiltConsole | undefined;
  #state: ConsoleAppState = 'building';
  #started: Promise<void> | undefined;
  #failedAtMs = 0;
  #child: ChildProcess | undefined;
  #isClosed = false;

  constructor({ dataDir, log, root = PACKAGE_ROOT, folders }: ConsoleAppOptions) {
    this.#log = log;
    this.#root = root;
    this.#folders = folders ?? [cacheFolder(root), join(dataDir, 'console')];
  }

  get current(): BuiltConsole | undefined {
    return this.#current;
  }

  get state(): ConsoleAppState {
    return this.#state;
  }

  /** Finds or builds the console. Resolves when it is there, or cannot be; never rejects. */
  start(): Promise<void> {
    this.#started ??= this.#findOrBuild().catch((error: unknown) => this.#fail(messageOf(error)));
    return this.#started;
  }

  /** A build that failed a minute ago is tried again: the disk may have room, and the file its end. */
  retry(): void {
    if (this.#state !== 'failed' || performance.now() - this.#failedAtMs < RETRY_MS) return;
    this.#state = 'building';
    this.#started = undefined;
    void this.start();
  }

  /** Takes what a watcher has built last, and returns its key; undefined where none runs. */
  async watched(): Promise<string | undefined> {
    const [folder = ''] = this.#folders;
    const key = await watchedKey(folder);
    if (key !== undefined && key !== this.#current?.key) this.#take(await loadBuiltConsole(folder, key));
    return key;
  }

  close(): void {
    this.#isClosed = true;
    this.#child?.kill('SIGKILL');
  }

  async #findOrBuild(): Promise<void> {
    const key = await sourceKey(this.#root);
    if (key !== undefined)
      for (const folder of this.#folders) if (this.#take(await loadBuiltConsole(folder, key))) return;
    const isBuildable = canBuild(this.#root);
    for (const folder of packedFolders(this.#root)) {
      const packed = await readBuild(folder);
      if (packed !== undefined && (packed.key === key || !isBuildable) && this.#take(packed)) return;
    }
    if (!isBuildable) {
      this.#state = 'missing';
      this.#log.warn(
        {},
        'there is no console: it is not built, and the development dependencies are missing',
      );
      return;
    }
    const problems: string[] = [];
    for (const folder of this.#folders) {
      if (this.#isClosed) return;
      const startedAtMs = performance.now();
      const result = await this.#build(folder);
      if ('key' in result && this.#take(await loadBuiltConsole(folder, result.key))) {
        const durationMs = Math.round(performance.now() - startedAtMs);
        this.#log.info({ folder, durationMs }, 'the console is built');
        return;
      }
      problems.push('problem' in result ? result.problem : `${folder} does not hold the build`);
    }
    this.#fail(problems.join('; '));
  }

  #take(built: BuiltConsole | undefined): boolean {
    if (built === undefined) return false;
    this.#current = built;
    this.#state = 'built';
    return true;
  }

  #fail(problem: string): void {
    if (this.#isClosed) return;
    this.#state = 'failed';
    this.#failedAtMs = performance.now();
    this.#log.error({ problem }, 'the console could not be built; the API does not need it');
  }

  #build(folder: string): Promise<{ readonly key: string } | { readonly problem: string }> {
    return new Promise((done) => {
      const args = [PROGRAM, '--low-priority', '--folder', folder, '--root', this.#root];
      const child = spawn(process.execPath, args, {
        stdio: ['ignore', 'pipe', 'pipe'],
        timeout: BUILD_MS,
        killSignal: 'SIGKILL',
      });
      this.#child = child;
      let [output, problem] = ['', ''];
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        output = (output + text).slice(-MAX_OUTPUT_CHARS);
      });
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        problem = (problem + text).slice(0, MAX_OUTPUT_CHARS);
      });
      child.on('error', (error) => done({ problem: messageOf(error) }));
      child.on('close', (status, signal) => {
        const [key] = /[0-9a-f]+$/.exec(output.trimEnd()) ?? [];
        if (status === 0 && key !== undefined) done({ key });
        else done({ problem: problem.trim() || `the build ended with ${signal ?? status}` });
      });
    });
  }
}
