/**
 * The file in which the addresses of names are kept, so that a name has the same address after a restart: clients keep
 * addresses, and a connection to one must not reach another name. Each line is JSON; a later line replaces
 * earlier ones with the same name or address. Lines are only appended until the file is written again, atomically, at a
 * start or when most of its lines are replaced. A crash can leave an unfinished last line, which is ignored.
 */
import { open, readFile, type FileHandle } from 'node:fs/promises';
import { FrontdoorError, messageOf, type Log } from '#base';
import { namedAddressShape, type NamedAddress } from '#domain/agent-shapes';
import { copyAside, replaceFileDurably } from '#net/files';

/** Below this number of lines, the file is only appended to. */
const MIN_LINES_TO_REPLACE = 4_096;

export interface NameFileOptions {
  readonly path: string;
  /** What the file has to contain now, by any key. */
  readonly entries: ReadonlyMap<unknown, NamedAddress>;
  readonly log: Log;
}

export class NameFile {
  readonly #options: NameFileOptions;
  #file: FileHandle | undefined;
  #lines = 0;
  #waiting: string[] = [];
  #writing: Promise<void> | undefined;

  private constructor(options: NameFileOptions) {
    this.#options = options;
  }

  /** Returns the entries of a file in their order, none if it is missing. Rejects if it is of a newer version. */
  static async load(path: string, log: Log): Promise<NamedAddress[]> {
    const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return '';
      throw fileError(path, error);
    });
    const entries: NamedAddress[] = [];
    let unread = 0;
    for (const line of text.split('\n').slice(0, -1)) {
      const read = namedAddressShape.read(parseLine(line));
      if ('value' in read) entries.push(read.value);
      else if (read.isNewer) throw new FrontdoorError('invalid', 'bad-name-file', `${path}: ${read.problem}`);
      else unread += 1;
    }
    if (unread > 0) {
      // The file is written again without them.
      const copiedTo = await copyAside(path);
      log.warn({ file: path, lines: unread, copiedTo }, 'lines of the file of names cannot be read');
    }
    return entries;
  }

  /** Writes the file again, and keeps it open. Rejects if it cannot be written. */
  static async open(options: NameFileOptions): Promise<NameFile> {
    const file = new NameFile(options);
    try {
      await file.#replace();
    } catch (error) {
      throw fileError(options.path, error as Error);
    }
    return file;
  }

  /**
   * Resolves when the entry is on disk. Entries that wait at the same time are written together. A failure is logged and does not
   * reject, because the address of the name is valid until the next restart.
   */
  append(entry: NamedAddress): Promise<void> {
    this.#waiting.push(lineOf(entry));
    this.#writing ??= this.#write();
    return this.#writing;
  }

  async close(): Promise<void> {
    await this.#writing;
    await this.#file?.close();
    this.#file = undefined;
  }

  async #write(): Promise<void> {
    // Entries of this turn of the event loop, such as all names of a service, are written together.
    await Promise.resolve();
    const { path, entries, log } = this.#options;
    try {
      while (this.#waiting.length > 0) {
        const lines = this.#waiting;
        this.#waiting = [];
        this.#lines += lines.length;
        if (this.#file === undefined || this.#lines > Math.max(MIN_LINES_TO_REPLACE, 2 * entries.size))
          await this.#replace();
        else {
          await this.#file.appendFile(lines.join(''));
          await this.#file.datasync();
        }
      }
    } catch (error) {
      log.error({ file: path, err: messageOf(error) }, 'the file of names could not be written');
      // The next entry writes the whole file.
      await this.#file?.close().catch(() => {});
      this.#file = undefined;
    } finally {
      this.#writing = undefined;
    }
  }

  async #replace(): Promise<void> {
    const { path, entries } = this.#options;
    const lines = Array.from(entries.values(), lineOf);
    await replaceFileDurably(path, (file) => file.writeFile(lines.join('')));
    await this.#file?.close();
    this.#file = undefined;
    this.#file = await open(path, 'a', 0o600);
    this.#lines = lines.length;
  }
}

function lineOf({ name, address }: NamedAddress): string {
  return `${JSON.stringify(namedAddressShape.numbered({ name, address }))}\n`;
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined;
  }
}

function fileError(path: string, cause: Error): FrontdoorError {
  const text = `${path}: the file of names cannot be used: ${cause.message}`;
  return new FrontdoorError('unavailable', 'bad-name-file', text, { cause });
}
