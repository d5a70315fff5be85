/** Frontends: zones below which public shares are served. Every frontdoor may use each of them. */
import type { Queries } from '../../store/mod.ts';

export interface FrontendRecord {
  readonly id: string;
  readonly publicName: string;
  readonly zone: string;
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
