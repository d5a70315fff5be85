/** The networks that each person has signed in to the console from, as many as people use, the latest ones. */
import type { Queries } from '../../store/mod.ts';

/** The network that was not used for the longest time is forgotten. */
export const MAX_NETWORKS = 50;

/** Returns whether the person has signed in before, and never from this network. The person is locked, or is new. */
export async function noteNetwork(
  trx: Queries,
  personId: string,
  network: string,
  nowMs: number,
): Promise<boolean> {
  const known = await trx
    .selectFrom('person_network')
    .select('network')
    .where('person_id', '=', personId)
    .orderBy('last_seen_at', 'desc')
    .orderBy('network')
    .execute();
  await trx
    .insertInto('person_network')
    .values({ person_id: personId, network, last_seen_at: nowMs })
    .onConflict((conflict) => conflict.columns(['person_id', 'network']).doUpdateSet({ last_seen_at: nowMs }))
    .execute();
  if (known.length === 0 || known.some((each) => each.network === network)) return false;
  const forgotten = known.slice(MAX_NETWORKS - 1).map((each) => each.network);
  if (forgotten.length > 0)
    await trx
      .deleteFrom('person_network')
      .where('person_id', '=', personId)
      .where('network', 'in', forgotten)
      .execute();
  return true;
}
