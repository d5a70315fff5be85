/**
 * A hosts file instead of a name server: the names of services are lines of it, which end in a mark of this router. Lines of
 * an earlier run of the router are removed at the start, and all are removed at the end. Other lines stay as they are.
 */
import { readFile, stat, writeFile } from 'node:fs/promises';
import { messageOf, type Log } from '#base';
import { replaceFileDurably } from '#net/files';
import type { InterceptedNames } from './intercepted-names.ts';

const MARK = '# frontdoor';
/** A file that is mounted on its own, such as `/etc/hosts` of a container, can be written but not replaced. */
const NOT_REPLACEABLE = ['EBUSY', 'EXDEV', 'EACCES', 'EPERM', 'EROFS'];
const MODE_BITS = 0o777;

export interface HostsFileOptions {
  readonly path: string;
  readonly names: InterceptedNames;
  /** Place of the option, for messages: file, line and key. */
  readonly place: string;
  readonly log: Log;
}

export class HostsFile {
  readonly #options: HostsFileOptions;
  readonly #lines = new Map<string, string>();
  readonly #unfollow: () => void;
  #hasChanged = false;
  #writing: Promise<void> | undefined;

  private constructor(options: HostsFileOptions) {
    this.#options = options;
    this.#unfollow = options.names.follow({
      given: (name, address) => this.#set(name, `${address}\t${name}\t${MARK}`).catch(() => {}),
      released: (name) => void this.#set(name, undefined).catch(() => {}),
    });
  }

  /** Removes the lines of an earlier run. A file that cannot be written is an error in the log, for each change. */
  static async open(options: HostsFileOptions): Promise<HostsFile> {
    const file = new HostsFile(options);
    await file.#change().catch(() => {});
    return file;
  }

  async close(): Promise<void> {
    this.#unfollow();
    this.#lines.clear();
    await this.#change().catch(() => {});
  }

  #set(name: string, line: string | undefined): Promise<void> {
    if (line === undefined) this.#lines.delete(name);
    else this.#lines.set(name, line);
    return this.#change();
  }

  /** Resolves when the file has the lines of now. Changes that wait are written together. */
  #change(): Promise<void> {
    this.#hasChanged = true;
    this.#writing ??= this.#write().finally(() => (this.#writing = undefined));
    return this.#writing;
  }

  async #write(): Promise<void> {
    await Promise.resolve();
    const { path, place, log } = this.#options;
    try {
      while (this.#hasChanged) {
        this.#hasChanged = false;
        const old = await readFile(path, 'utf8').catch(emptyIfMissing);
        const kept = old.split(/(?<=\n)/).filter((line) => !line.trimEnd().endsWith(MARK));
        if (this.#lines.size > 0 && kept.length > 0 && !kept.at(-1)!.endsWith('\n')) kept.push('\n');
        const text = [...kept, ...Array.from(this.#lines.values(), (line) => `${line}\n`)].join('');
        if (text !== old) await writeText(path, text);
      }
    } catch (error) {
      log.error({ option: place, file: path, err: messageOf(error) }, 'the hosts file cannot be changed');
      throw error;
    }
  }
}

async function writeText(path: string, text: string): Promise<void> {
  const mode = await stat(path).then(
    (found) => found.mode & MODE_BITS,
    () => 0o644,
  );
  try {
    await replaceFileDurably(path, (file) => file.writeFile(text).then(() => file.chmod(mode)), mode);
  } catch (error) {
    if (!NOT_REPLACEABLE.includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    await writeFile(path, text);
  }
}

function emptyIfMissing(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return '';
  throw error;
}
