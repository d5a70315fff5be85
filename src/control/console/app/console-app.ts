/** The built console of this installation: `npm run build` makes it in a clone, and a package has it (ADR 0075). */
import type { Log } from '#base';
import { readBuild, type BuiltConsole } from './built-console.ts';
import { builtFolders, PACKAGE_ROOT } from './console-source.ts';
import { watchedKey } from './watched-build.ts';

export interface ConsoleAppOptions {
  readonly log: Log;
  /** The product's version, which its pages show. */
  readonly version?: string | undefined;
  /** Where it may be, in the order in which they are tried. */
  readonly folders?: readonly string[] | undefined;
}

export class ConsoleApp {
  readonly version: string | undefined;
  readonly #folders: readonly string[];
  #current: BuiltConsole | undefined;

  private constructor(folders: readonly string[], version: string | undefined) {
    this.#folders = folders;
    this.version = version;
  }

  /** An installation without a built console is a warning. */
  static async open({
    log,
    version,
    folders = builtFolders(PACKAGE_ROOT),
  }: ConsoleAppOptions): Promise<ConsoleApp> {
    const app = new ConsoleApp(folders, version);
    for (const folder of folders) app.#current ??= await readBuild(folder);
    if (app.#current === undefined) log.warn({ folders }, 'the console is not built: run "npm run build"');
    return app;
  }

  /** Undefined where it is not built. */
  get current(): BuiltConsole | undefined {
    return this.#current;
  }

  /** Takes what a watcher has built last, and returns its key; undefined where none runs. */
  async watched(): Promise<string | undefined> {
    const [folder = ''] = this.#folders;
    const key = await watchedKey(folder);
    if (key === undefined) return undefined;
    if (key !== this.#current?.key) this.#current = (await readBuild(folder, key)) ?? this.#current;
    return this.#current?.key;
  }
}
