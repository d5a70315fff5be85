/**
 * The name by which routers know a control plane: the common name of its control certificate. OpenZiti's routers
 * distinguish several controllers by it, so each control plane over one database has its own, the same at every
 * start.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Log } from '#base';
import { setAside, writeFileDurably } from '#net/files';
import { readIfThere } from '../pki/mod.ts';
import type { Store } from '../store/mod.ts';

const SINGLE = 'frontdoor-control';
const FILE_NAME = 'controller-id';

/** A file without a valid name is set aside with a warning, and a new name is made. */
export async function controllerIdOf(
  store: Pick<Store, 'isShared'>,
  dataDir: string,
  log: Log,
): Promise<string> {
  if (!store.isShared) return SINGLE;
  const path = join(dataDir, FILE_NAME);
  const kept = (await readIfThere(path))?.trim();
  if (kept !== undefined && /^[a-z0-9-]{1,64}$/.test(kept)) return kept;
  if (kept !== undefined) {
    const movedTo = await setAside(path);
    log.warn({ file: path, movedTo }, 'the file has no controller id; this control plane gets a new one');
  }
  const made = `${SINGLE}-${randomBytes(4).toString('hex')}`;
  await writeFileDurably(path, `${made}\n`);
  return made;
}
