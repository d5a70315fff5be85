/** A backup as it lies on disk or comes over the wire: gzip around the lines that `BackupDecoder` reads. */
import { createHash } from 'node:crypto';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { FrontdoorError, messageOf } from '#base';
import { BackupDecoder, type BackupItem, type BackupSummary } from '#domain';

/** Comes last, once everything before it has proven right: nothing counts until then. */
export interface BackupEnd {
  readonly type: 'end';
  readonly summary: BackupSummary;
}

/** Throws `invalid` for what is no backup or a damaged one, and whatever reading `compressed` throws. */
export async function* decodeBackup(
  compressed: AsyncIterable<Uint8Array>,
): AsyncGenerator<readonly (BackupItem | BackupEnd)[], void> {
  const hash = createHash('sha256');
  const decoder = new BackupDecoder({
    update: (bytes) => void hash.update(bytes),
    digest: () => hash.copy().digest('hex'),
  });
  const lines = createGunzip();
  // Its failures show where the lines are read.
  pipeline(compressed, lines, () => {});
  try {
    for await (const bytes of lines as AsyncIterable<Uint8Array>) yield decoder.push(bytes);
  } catch (error) {
    const code = String((error as NodeJS.ErrnoException).code);
    if (!code.startsWith('Z_')) throw error;
    const message = `the backup is damaged or none at all: ${messageOf(error)}`;
    throw new FrontdoorError('invalid', 'backup_damaged', message, { cause: error });
  }
  yield [{ type: 'end', summary: decoder.end() }];
}
