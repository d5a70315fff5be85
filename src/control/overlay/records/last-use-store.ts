/**
 * The last uses of callers and identities. Times never go backwards, also when several control planes write; uses
 * within a second are written with one statement.
 */
import { definedFields } from '#base';
import type { LastUse, Queries } from '../../store/mod.ts';
import { callerKindAndId, type CallerKind } from '../../credentials/accounts/mod.ts';

const SECOND_MS = 1_000;
const IDS_A_STATEMENT = 500;

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
    for (const { ids, atMs } of together(some)) {
      await db
        .updateTable(table)
        .set({ last_used_at: atMs })
        .where('id', 'in', ids)
        .where((eb) => eb.or([eb('last_used_at', 'is', null), eb('last_used_at', '<', atMs)]))
        .execute();
    }
  }
}

/** An address is written with each use that has one. */
export async function writeIdentityUses(db: Queries, uses: readonly LastUse[]): Promise<void> {
  for (const [address, some] of Map.groupBy(uses, (use) => use.address)) {
    for (const { ids, atMs } of together(some)) {
      await db
        .updateTable('identity')
        .set(definedFields({ last_seen_at: atMs, remote_address: address }))
        .where('id', 'in', ids)
        .where((eb) => eb.or([eb('last_seen_at', 'is', null), eb('last_seen_at', '<', atMs)]))
        .execute();
    }
  }
}

/** Returns the ids of each second with its latest time, sorted, so that two writers lock rows in the same order. */
function together(uses: readonly LastUse[]): { readonly ids: string[]; readonly atMs: number }[] {
  const groups = Map.groupBy(uses, ({ atMs }) => Math.floor(atMs / SECOND_MS));
  return [...groups]
    .sort(([a], [b]) => a - b)
    .flatMap(([, group]) => {
      const atMs = Math.max(...group.map((use) => use.atMs));
      const ids = group.map(({ id }) => id).sort();
      const count = Math.ceil(ids.length / IDS_A_STATEMENT);
      return Array.from({ length: count }, (_, at) => ({
        ids: ids.slice(at * IDS_A_STATEMENT, (at + 1) * IDS_A_STATEMENT),
        atMs,
      }));
    });
}
