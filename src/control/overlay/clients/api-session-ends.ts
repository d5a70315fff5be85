/**
 * The ends of stored API sessions: of one, of those that a certificate, a signer or an authority opened, and of those of
 * identities whose log-in changed. All but the first run inside the caller's transaction.
 */
import type { Queries, Store, Touch } from '../../store/mod.ts';
import { batchesOf, idsOf, wayOf, type LogInMethod, type SessionWay } from './api-session-rows.ts';

/**
 * Deletes a session. The end of one with signed tokens is kept for routers, which may accept its tokens until they
 * expire.
 */
export async function endRow(store: Store, id: string, nowMs: number): Promise<void> {
  await store.transaction(async (trx, touch) => {
    await endIn(trx, touch, [id], nowMs);
    touch('api-session', id);
  });
}

/**
 * Ends, inside the caller's transaction, the sessions that were opened with one of these certificates. Control planes drop
 * them, and routers end their channels.
 */
export async function endSessionsOf(
  trx: Queries,
  touch: Touch,
  fingerprints: readonly string[],
  nowMs: number,
): Promise<void> {
  for (const batch of batchesOf(fingerprints)) {
    const opened = await trx
      .selectFrom('api_session')
      .select('id')
      .where('fingerprint', 'in', batch)
      .execute();
    await endIn(trx, touch, idsOf(opened), nowMs);
  }
}

/** Which sessions a change leaves open. `administrator` gets undefined if the method is not known. */
export interface KeptLogIns {
  readonly session: (way: SessionWay) => boolean;
  readonly administrator: (method: LogInMethod) => boolean;
}

export const NONE_KEPT: KeptLogIns = { session: () => false, administrator: () => false };

/** Ends, inside the caller's transaction, sessions of these identities, also those of administrators. */
export async function endLogIns(
  trx: Queries,
  touch: Touch,
  identityIds: readonly string[],
  keeps: KeptLogIns,
  nowMs: number,
): Promise<void> {
  for (const batch of batchesOf(identityIds)) {
    const opened = await trx
      .selectFrom('api_session')
      .select(['id', 'method', 'signer_id', 'second_signer_id'])
      .where('identity_id', 'in', batch)
      .execute();
    const over = opened.filter((row) => !keeps.session(wayOf(row)));
    await endIn(trx, touch, idsOf(over), nowMs);
    const managing = await trx
      .selectFrom('management_session')
      .select(['id', 'method'])
      .where('identity_id', 'in', batch)
      .execute();
    const ended = managing.filter(({ method }) => !keeps.administrator(method));
    for (const some of batchesOf(idsOf(ended)))
      await trx.deleteFrom('management_session').where('id', 'in', some).execute();
  }
}

/**
 * Ends, inside the caller's transaction, the sessions of an identity that its password opened, here and at the edge management
 * API. `keptId` is the session that changes the password.
 */
export async function endPasswordLogIns(
  trx: Queries,
  touch: Touch,
  identityId: string,
  nowMs: number,
  keptId?: string,
): Promise<void> {
  const opened = await trx
    .selectFrom('api_session')
    .select('id')
    .where('identity_id', '=', identityId)
    .where('method', '=', 'password')
    .execute();
  const over = idsOf(opened).filter((id) => id !== keptId);
  await endIn(trx, touch, over, nowMs);
  await trx
    .deleteFrom('management_session')
    .where('identity_id', '=', identityId)
    .where('method', '=', 'password')
    .execute();
}

/** Ends, inside the caller's transaction, all sessions that tokens of the signer opened, also as second factor. */
export async function endTokenLogIns(
  trx: Queries,
  touch: Touch,
  signerId: string,
  nowMs: number,
): Promise<void> {
  const opened = await trx
    .selectFrom('api_session')
    .select(['id', 'method', 'signer_id', 'second_signer_id'])
    .where((by) => by.or([by('method', '=', 'ext-jwt'), by('second_signer_id', '=', signerId)]))
    .execute();
  const meant = opened.map((row) => ({ ...wayOf(row), id: row.id }));
  const over = meant.filter((way) => way.secondSignerId === signerId || way.signerId === signerId);
  await endIn(trx, touch, idsOf(over), nowMs);
}

/** Ends, inside the caller's transaction, all sessions of identities that the authority named in their certificates. */
export async function endClaimedLogIns(
  trx: Queries,
  touch: Touch,
  authorityId: string,
  nowMs: number,
): Promise<void> {
  const opened = trx.selectFrom('api_session').select('id').where('signer_id', '=', authorityId);
  await endIn(trx, touch, idsOf(await opened.where('method', '=', 'cert').execute()), nowMs);
}

async function endIn(trx: Queries, touch: Touch, ids: readonly string[], nowMs: number): Promise<void> {
  for (const batch of batchesOf(ids)) {
    const ended = await trx
      .deleteFrom('api_session')
      .where('id', 'in', batch)
      .returning(['id', 'form', 'second_signer_id'])
      .execute();
    for (const { id } of ended) touch('api-session', id);
    // The token of a log-in that waited for a second signer opens no session again.
    const kept = ended.filter(({ form, second_signer_id: second }) => form === 'signed' || second !== null);
    if (kept.length === 0) continue;
    const values = kept.map(({ id }) => ({ session_id: id, ended_at: nowMs }));
    await trx
      .insertInto('session_revocation')
      .values(values)
      .onConflict((conflict) => conflict.column('session_id').doNothing())
      .execute();
    for (const { id } of kept) touch('session-revocation', id);
  }
}

/** Whether the end of the session is kept, so that nothing opens it again. */
export async function hasEnded(db: Queries, sessionId: string): Promise<boolean> {
  const query = db.selectFrom('session_revocation').select('session_id').where('session_id', '=', sessionId);
  return (await query.executeTakeFirst()) !== undefined;
}
