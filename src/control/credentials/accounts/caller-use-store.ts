/** The last uses of callers. Times never go backwards, also when several control planes write. */
import { usesBySecond, type LastUse, type Queries } from '../../store/mod.ts';
import { callerKindAndId, type CallerKind } from './account-store.ts';

/** The ids are those of `callerKey`. */
export async function writeCallerUses(db: Queries, uses: readonly LastUse[]): Promise<void> {
  const byKind = new Map<CallerKind, LastUse[]>([
    ['account', []],
    ['client', []],
  ]);
  for (const use of uses) {
    const { kind, id } = callerKindAndId(use.id);
    byKind.get(kind)!.push({ ...use, id });
  }
  for (const [kind, some] of byKind) {
    const table = kind === 'account' ? 'api_account' : 'oauth_client';
    for (const { ids, atMs } of usesBySecond(some)) {
      await db
        .updateTable(table)
        .set({ last_used_at: atMs })
        .where('id', 'in', ids)
        .where((eb) => eb.or([eb('last_used_at', 'is', null), eb('last_used_at', '<', atMs)]))
        .execute();
    }
  }
}
