/** The last uses of identities. Times never go backwards, also when several control planes write. */
import { definedFields } from '#base';
import { usesBySecond, type LastUse, type Queries } from '../../store/mod.ts';

/** An address is written with each use that has one. */
export async function writeIdentityUses(db: Queries, uses: readonly LastUse[]): Promise<void> {
  for (const [address, some] of Map.groupBy(uses, (use) => use.address)) {
    for (const { ids, atMs } of usesBySecond(some)) {
      await db
        .updateTable('identity')
        .set(definedFields({ last_seen_at: atMs, remote_address: address }))
        .where('id', 'in', ids)
        .where((eb) => eb.or([eb('last_seen_at', 'is', null), eb('last_seen_at', '<', atMs)]))
        .execute();
    }
  }
}
