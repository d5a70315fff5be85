/**
 * The TXT records that a gateway creates, a file for each from before it is created until it is removed. So a record that
 * an order leaves behind, because it failed or was killed, is known and removed later.
 */
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { challengeRecordShape, type KeptChallengeRecord } from '#domain/agent-shapes';
import { writeFileDurably } from '#net/files';
import { providerFailure, type ChallengeRecord } from './dns-provider.ts';

/** Records of orders that run, and some dozens that could not be removed. */
const MAX_RECORDS = 100;
const FILE = /^[0-9a-f]{32}\.json$/;

export class RecordJournal {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Rejects with `dns-provider-failed` if too many records are left behind. */
  async note(record: KeptChallengeRecord): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    if ((await this.#files()).length >= MAX_RECORDS)
      throw providerFailure(
        `${MAX_RECORDS} TXT records could not be removed, and no further ones are created: correct what the log reports ` +
          `about their removal, or remove them by hand and then their files in ${this.#folder}`,
      );
    await writeFileDurably(this.#file(record), JSON.stringify(challengeRecordShape.numbered(record)));
  }

  async forget(record: ChallengeRecord): Promise<void> {
    await rm(this.#file(record), { force: true });
  }

  /** A file that cannot be read is removed: nothing can be done about its record. */
  async list(): Promise<readonly KeptChallengeRecord[]> {
    const found: KeptChallengeRecord[] = [];
    for (const name of await this.#files()) {
      const file = join(this.#folder, name);
      const read = challengeRecordShape.readText(await readFile(file, 'utf8').catch(() => ''));
      if ('value' in read) found.push(read.value);
      else await rm(file, { force: true });
    }
    return found;
  }

  async #files(): Promise<string[]> {
    const names = await readdir(this.#folder).catch(() => []);
    return names.filter((name) => FILE.test(name));
  }

  #file({ name, target, value }: ChallengeRecord): string {
    const hash = createHash('sha256').update([name, target, value].join('\n')).digest('hex');
    return join(this.#folder, `${hash.slice(0, 32)}.json`);
  }
}
