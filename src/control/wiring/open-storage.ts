/** Opens what an installation keeps: the store, the master keys and the authorities. */
import { mkdirSync } from 'node:fs';
import { beginInstallation } from '../installation/mod.ts';
import { seedFirstStart, type FirstStart } from '../shares/records/mod.ts';
import { openPki, type Pki } from '../pki/mod.ts';
import { controllerIdOf } from '../replica/mod.ts';
import { SealingKeys, type Secrets } from '../secrets/mod.ts';
import type { Store } from '../store/mod.ts';
import type { Opening } from './opening.ts';

export const TRUST_DOMAIN = 'frontdoor.internal';

export interface Storage {
  readonly store: Store;
  readonly secrets: Secrets;
  readonly pki: Pki;
  readonly sealing: SealingKeys;
  /** The common name of the control certificate, by which routers know this control plane. */
  readonly controllerId: string;
  /** Undefined after the first start. */
  readonly firstStart: FirstStart | undefined;
}

export async function openStorage(opening: Opening): Promise<Storage> {
  const { options, closers, addresses, clock, log } = opening;
  const { dataDir, database, copies, zone } = options;
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const { store, secrets } = await beginInstallation({ dataDir, database, copies, clock, log });
  closers.push(() => store.close());
  const firstStart = await seedFirstStart(store, secrets, { zone, clock });
  // Called at once, because these secrets cannot be made again if a later step fails.
  if (firstStart !== undefined) await options.onFirstStart?.(firstStart);
  const controllerId = await controllerIdOf(store, dataDir, log);
  const sealing = new SealingKeys({ store, secrets, dataDir, name: controllerId, clock, log });
  closers.push(() => sealing.close());
  await sealing.look();
  const pki = await openPki({
    dataDir,
    db: store.db,
    secrets,
    trustDomain: TRUST_DOMAIN,
    hosts: addresses.hosts,
    ctrlHost: options.ctrlHost,
    controllerId,
    clock,
    log,
  });
  closers.push(() => pki.close());
  return { store, secrets, pki, sealing, controllerId, firstStart };
}
