/** Frontends: the zones below which public shares appear. Every frontdoor may use every one. */
import type { Queries } from '../engine/store.ts';

export interface FrontendRecord {
  readonly id: string;
  readonly publicName: string;
  readonly zone: string;
}

/** The default one first, then by age. */
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
