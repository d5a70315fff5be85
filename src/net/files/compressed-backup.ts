/** A backup in its form on disk and wire: gzip around the lines that `BackupDecoder` reads. */
import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { FrontdoorError, messageOf } from '#base';
import { BackupDecoder, type BackupItem, type BackupSummary } from '#domain/backup';

/** The last item, after everything has been verified. Nothing may be trusted before. */
export interface BackupEnd {
  readonly type: 'end';
  readonly summary: BackupSummary;
}

/** Throws `invalid` for data that is no backup or damaged, and any error of reading `compressed`. */
export async function* decodeBackup(
  compressed: AsyncIterable<Uint8Array>,
): AsyncGenerator<readonly (BackupItem | BackupEnd)[], void> {
  const hash = createHash('sha256');
  const decoder = new BackupDecoder({
    update: (bytes) => void hash.update(bytes),
    digest: () => hash.copy().digest('hex'),
  });
  const lines = createGunzip();
  // Its failures surface where the lines are read.
  pipeline(compressed, lines, () => {});
  try {
    for await (const bytes of lines as AsyncIterable<Uint8Array>) yield decoder.push(bytes);
  } catch (error) {
    const code = String((error as NodeJS.ErrnoException).code);
    if (!code.startsWith('Z_')) throw error;
    const message = `the backup is damaged, or not a backup: ${messageOf(error)}`;
    throw new FrontdoorError('invalid', 'backup-damaged', message, { cause: error });
  }
  yield [{ type: 'end', summary: decoder.end() }];
}

/** Appends the bytes of a backup to a file while it verifies them. Throws `invalid` if they are no whole backup. */
export async function verifiedBackup(
  file: Pick<FileHandle, 'appendFile'>,
  compressed: AsyncIterable<Uint8Array>,
): Promise<BackupSummary> {
  const kept = async function* (): AsyncGenerator<Uint8Array> {
    for await (const bytes of compressed) {
      await file.appendFile(bytes);
      yield bytes;
    }
  };
  for await (const items of decodeBackup(kept())) {
    for (const item of items) if (item.type === 'end') return item.summary;
  }
  throw new FrontdoorError('invalid', 'backup-damaged', 'the backup is truncated');
}
