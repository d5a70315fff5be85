/** Files for secrets that are shown once: made before the secret is, because one that cannot be written is lost. */
import { rmSync, writeFileSync } from 'node:fs';
import { FrontdoorError, messageOf } from '#base';

const OWNER_ONLY = 0o600;

/** Creates empty files, which must not exist. They are removed if `work` fails. */
export async function withNewFiles<T>(files: readonly string[], work: () => Promise<T>): Promise<T> {
  const reserved: string[] = [];
  try {
    for (const file of files) {
      reserve(file);
      reserved.push(file);
    }
    return await work();
  } catch (error) {
    for (const file of reserved) rmSync(file, { force: true });
    throw error;
  }
}

export function writeSecretFile(file: string, secret: string): void {
  writeFileSync(file, `${secret}\n`, { mode: OWNER_ONLY });
}

function reserve(file: string): void {
  try {
    writeFileSync(file, '', { mode: OWNER_ONLY, flag: 'wx' });
  } catch (error) {
    const isThere = (error as NodeJS.ErrnoException).code === 'EEXIST';
    const why = isThere ? 'it exists already: choose another name, or remove it' : messageOf(error);
    throw new FrontdoorError('invalid', 'out-file', `cannot write ${file}: ${why}`, { cause: error });
  }
}
