/**
 * The log files of a data directory, as one log by time. Reads at most a bounded part of the end of each file. While it follows
 * them, it looks for what was added; a file that was emptied because it had grown is read from its beginning again.
 */
import { open, readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { FrontdoorError } from '#base';
import { parseLogLine } from './log-line.ts';
import type { LogLine } from '#base/terminal';

const MAX_TAIL_BYTES = 4 << 20;
/** What one look at a file reads. */
const MAX_STEP_BYTES = 1 << 20;
const LOOK_MS = 250;

export interface FoundLine {
  /** Name of the program, from the name of its file. */
  readonly program: string;
  readonly text: string;
  /** Undefined for a line of another form. */
  readonly line: LogLine | undefined;
}

interface LogFile {
  readonly path: string;
  /** Everything before it was read. */
  position: number;
}

export class LogFiles {
  readonly #files: readonly LogFile[];

  private constructor(files: readonly LogFile[]) {
    this.#files = files;
  }

  /** Throws `notFound` if the directory has no log files. */
  static async open(dataDir: string): Promise<LogFiles> {
    const folder = join(dataDir, 'logs');
    const names = await readdir(folder).catch((): string[] => []);
    const files = names.filter((name) => name.endsWith('.log')).map((name) => join(folder, name));
    if (files.length > 0) return new LogFiles(files.toSorted().map((path) => ({ path, position: 0 })));
    const message =
      `${folder} has no log files: "frontdoor up --demo" writes them. Other programs log to standard error, which a service ` +
      'manager keeps ("journalctl --unit NAME")';
    throw new FrontdoorError('notFound', 'no-log-files', message);
  }

  /** The last wanted lines of all files, in the order of their times. */
  async last(
    count: number,
    isWanted: (found: FoundLine) => boolean = () => true,
  ): Promise<readonly FoundLine[]> {
    const timed: { readonly found: FoundLine; readonly timeMs: number }[] = [];
    for (const file of this.#files) {
      const size = (await stat(file.path)).size;
      file.position = Math.max(0, size - MAX_TAIL_BYTES);
      const isCut = file.position > 0;
      const lines = await added(file, MAX_TAIL_BYTES);
      // A line of another form belongs behind the one that it follows.
      let timeMs = 0;
      for (const found of isCut ? lines.slice(1) : lines) {
        timeMs = found.line?.timeMs ?? timeMs;
        if (isWanted(found)) timed.push({ found, timeMs });
      }
    }
    const sorted = timed.sort((a, b) => a.timeMs - b.timeMs).map(({ found }) => found);
    return count === 0 ? [] : sorted.slice(-count);
  }

  /** Passes on the lines that are added, until `signal` aborts. */
  async follow(onLines: (lines: readonly FoundLine[]) => void, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      for (const file of this.#files) {
        const lines = await added(file, MAX_STEP_BYTES);
        if (lines.length > 0) onLines(lines);
      }
      await setTimeout(LOOK_MS, undefined, { signal }).catch(() => {});
    }
  }
}

/** The whole lines behind the position, which moves. A line that is longer than the bound is left out. */
async function added(file: LogFile, maxBytes: number): Promise<FoundLine[]> {
  const handle = await open(file.path).catch(() => undefined);
  if (handle === undefined) return [];
  try {
    const { size } = await handle.stat();
    if (size < file.position) file.position = 0;
    const length = Math.min(size - file.position, maxBytes);
    if (length === 0) return [];
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, file.position);
    const end = buffer.subarray(0, bytesRead).lastIndexOf('\n') + 1;
    file.position += end === 0 && bytesRead === maxBytes ? bytesRead : end;
    const lines = buffer.toString('utf8', 0, end).split('\n');
    const program = basename(file.path, '.log');
    return lines.filter((text) => text !== '').map((text) => ({ program, text, line: parseLogLine(text) }));
  } finally {
    await handle.close();
  }
}
