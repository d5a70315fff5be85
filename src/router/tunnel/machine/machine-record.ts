/**
 * The file in which a router notes what it changes on its machine (rules, routes and addresses), before it changes it, and
 * until it has changed it back. A router that was killed finds its changes by the file, whatever its configuration is now.
 */
import { createHash } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { FrontdoorError, messageOf, type Log } from '#base';
import { machineChangesShape } from '#domain/agent-shapes';
import { setAside, writeFileDurably } from '#net/files';

const FILE_MODE = 0o600;
const ID_DIGITS = 8;

/** Returns the id of what one listener or part of a router changes: eight hex digits. */
export function machineIdOf(routerId: string, part: string): string {
  return createHash('sha256').update(`${routerId} ${part}`).digest('hex').slice(0, ID_DIGITS);
}

export class MachineRecord {
  readonly #path: string;
  readonly #ids: Set<string>;
  #writing: Promise<void> = Promise.resolve();

  private constructor(path: string, ids: Iterable<string>) {
    this.#path = path;
    this.#ids = new Set(ids);
  }

  /** A file that is missing has no ids, and one that cannot be read has none either, which is logged. */
  static async load(path: string, log: Log): Promise<MachineRecord> {
    try {
      const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return undefined;
        throw error;
      });
      if (text === undefined) return new MachineRecord(path, []);
      const read = machineChangesShape.read(JSON.parse(text));
      if (!('value' in read)) throw new Error(read.problem);
      return new MachineRecord(path, read.value.ids);
    } catch (error) {
      const err = messageOf(recordError(path, error as Error));
      log.error({ err, movedTo: await setAside(path) }, 'what an earlier run left is not known');
      return new MachineRecord(path, []);
    }
  }

  get path(): string {
    return this.#path;
  }

  get ids(): readonly string[] {
    return [...this.#ids];
  }

  /** Resolves when the id is on disk. Rejects with `bad-machine-record` if the file cannot be written. */
  async add(id: string): Promise<void> {
    if (this.#ids.has(id)) return;
    this.#ids.add(id);
    await this.#write();
  }

  async delete(id: string): Promise<void> {
    if (this.#ids.delete(id)) await this.#write();
  }

  #write(): Promise<void> {
    const write = async (): Promise<void> => {
      try {
        const ids = this.ids;
        if (ids.length === 0) await rm(this.#path, { force: true });
        else
          await writeFileDurably(
            this.#path,
            JSON.stringify(machineChangesShape.numbered({ ids })),
            FILE_MODE,
          );
      } catch (error) {
        throw recordError(this.#path, error as Error);
      }
    };
    const written = this.#writing.then(write);
    this.#writing = written.catch(() => {});
    return written;
  }
}

function recordError(path: string, cause: Error): FrontdoorError {
  const text = `${path}: the record of changes on this machine cannot be used: ${cause.message}`;
  return new FrontdoorError('unavailable', 'bad-machine-record', text, { cause });
}
