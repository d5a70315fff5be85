/**
 * The name that routers know a control plane by: common name of its control certificate. OpenZiti's routers tell
 * several controllers apart by it, so those over one database have names of their own, each the same at every start.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { FrontdoorError } from '#base';
import { writeFileDurably } from '#net';
import { readIfThere } from '../pki/authority-store.ts';
import type { Store } from '../store/store.ts';

const SINGLE = 'frontdoor-control';
const FILE_NAME = 'controller-id';

export async function controllerIdOf(store: Pick<Store, 'isShared'>, dataDir: string): Promise<string> {
  if (!store.isShared) return SINGLE;
  const path = join(dataDir, FILE_NAME);
  const kept = await readIfThere(path);
  if (kept === undefined) {
    const made = `${SINGLE}-${randomBytes(4).toString('hex')}`;
    await writeFileDurably(path, `${made}\n`);
    return made;
  }
  const id = kept.trim();
  if (/^[a-z0-9-]{1,64}$/.test(id)) return id;
  throw new FrontdoorError('invalid', 'controller_id', `${path} holds no controller id: remove it`);
}
