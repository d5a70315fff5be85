/** Frontends: zones below which public shares are served. Every frontdoor may use each of them. */
import { randomUUID } from 'node:crypto';
import type { Queries } from '../../store/mod.ts';

export interface FrontendRecord {
  readonly id: string;
  readonly publicName: string;
  readonly zone: string;
}

/** Public shares that name no frontend are served by the default one. */
export async function createDefaultFrontend(
  trx: Queries,
  { publicName, zone, nowMs }: Omit<FrontendRecord, 'id'> & { readonly nowMs: number },
): Promise<void> {
  const names = { public_name: publicName, zone };
  await trx
    .insertInto('frontend')
    .values({ id: randomUUID(), ...names, is_default: 1, created_at: nowMs })
    .execute();
}

/** Returns the default one first, then the others by age. */
export async function listFrontends(db: Queries): Promise<FrontendRecord[]> {
  const rows = await db
    .selectFrom('frontend')
    .select(['id', 'public_name', 'zone'])
    .orderBy('is_default', 'desc')
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map((row) => ({ id: row.id, publicName: row.public_name, zone: row.zone }));
}
