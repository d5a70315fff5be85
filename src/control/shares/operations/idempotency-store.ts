/**
 * First responses to requests with an Idempotency-Key, stored in the transaction of their change, so that a
 * repeated request finds either no change, or the whole change with its response. The responses per organization
 * are limited: the oldest are evicted first. Each change of them first locks the organization's row of
 * `idempotency_usage`.
 */
import { sql } from 'kysely';
import { IDEMPOTENCY_KEY_TTL_MS } from '#domain';
import { lockedByName, lockedForUpdate, type Queries, type Store } from '../../store/mod.ts';

/** Limits per organization. */
export const MAX_KEPT_ANSWERS = 20_000;
export const MAX_KEPT_BYTES = 64 * 1_048_576;
/** A creation evicts at most so many; the sweep evicts the rest. */
const EVICTED_AT_ONCE = 100;

export interface KeyedRequest {
  /** HMAC of the caller, the operation and the key. */
  readonly id: string;
  readonly organizationId: string;
  /** HMAC of the request. */
  readonly requestHmac: string;
}

export interface KeptAnswer {
  /** HMAC of the request that it answered. */
  readonly requestHmac: string;
  readonly answerSealed: string;
}

/** The limits, for tests. */
export interface KeptLimits {
  readonly answers: number;
  readonly bytes: number;
}

/**
 * Returns the response that was stored for this key. Of concurrent requests with one key, at any control plane,
 * the others wait here until the first one's transaction ends, or until the database's deadline.
 */
export async function findKeptAnswer(
  trx: Queries,
  { id }: KeyedRequest,
  nowMs: number,
): Promise<KeptAnswer | undefined> {
  await lockedByName(trx, `idempotency ${id}`);
  const row = await trx
    .selectFrom('idempotency_answer')
    .select(['request_hmac', 'answer_sealed'])
    .where('id', '=', id)
    .where('expires_at', '>', nowMs)
    .executeTakeFirst();
  return row === undefined ? undefined : { requestHmac: row.request_hmac, answerSealed: row.answer_sealed };
}

export async function keepAnswer(
  trx: Queries,
  { id, organizationId, requestHmac }: KeyedRequest,
  answerSealed: string,
  nowMs: number,
  limits: KeptLimits = { answers: MAX_KEPT_ANSWERS, bytes: MAX_KEPT_BYTES },
): Promise<void> {
  const bytes = Buffer.byteLength(answerSealed);
  const used = await addUsage(trx, organizationId, bytes);
  // Expired, and not removed yet.
  const over = await remove(trx, organizationId, [id]);
  await trx
    .insertInto('idempotency_answer')
    .values({
      id,
      organization_id: organizationId,
      request_hmac: requestHmac,
      answer_sealed: answerSealed,
      bytes,
      created_at: nowMs,
      expires_at: nowMs + IDEMPOTENCY_KEY_TTL_MS,
    })
    .execute();
  const left = { answers: used.answers - over.answers, bytes: used.bytes - over.bytes };
  if (left.answers <= limits.answers && left.bytes <= limits.bytes) return;
  const oldest = await trx
    .selectFrom('idempotency_answer')
    .select(['id', 'bytes'])
    .where('organization_id', '=', organizationId)
    .where('id', '<>', id)
    .orderBy('created_at')
    .limit(EVICTED_AT_ONCE)
    .execute();
  const evicted: string[] = [];
  for (const answer of oldest) {
    if (left.answers <= limits.answers && left.bytes <= limits.bytes) break;
    evicted.push(answer.id);
    left.answers -= 1;
    left.bytes -= answer.bytes;
  }
  await remove(trx, organizationId, evicted);
}

/** Removes at most `most` expired responses of one organization. Returns false if no organization has any. */
export function sweepKeptAnswers(
  store: Pick<Store, 'transaction'>,
  nowMs: number,
  most: number,
): Promise<boolean> {
  return store.transaction(async (trx) => {
    const over = trx.selectFrom('idempotency_answer').where('expires_at', '<=', nowMs);
    const first = await over.select('organization_id').orderBy('expires_at').limit(1).executeTakeFirst();
    if (first === undefined) return false;
    const { organization_id: organizationId } = first;
    const usage = trx
      .selectFrom('idempotency_usage')
      .selectAll()
      .where('organization_id', '=', organizationId);
    await lockedForUpdate(trx, usage).execute();
    const rows = await over.select('id').where('organization_id', '=', organizationId).limit(most).execute();
    await remove(
      trx,
      organizationId,
      rows.map(({ id }) => id),
    );
    await trx
      .deleteFrom('idempotency_usage')
      .where('organization_id', '=', organizationId)
      .where('answers', '<=', 0)
      .execute();
    return true;
  });
}

/** Called when the organization is deleted. */
export async function forgetKeptAnswers(trx: Queries, organizationId: string): Promise<void> {
  for (const table of ['idempotency_usage', 'idempotency_answer'] as const)
    await trx.deleteFrom(table).where('organization_id', '=', organizationId).execute();
}

interface Usage {
  readonly answers: number;
  readonly bytes: number;
}

/** Adds one response and returns the new sums. The row stays locked. */
function addUsage(trx: Queries, organizationId: string, bytes: number): Promise<Usage> {
  return trx
    .insertInto('idempotency_usage')
    .values({ organization_id: organizationId, answers: 1, bytes })
    .onConflict((conflict) =>
      conflict.column('organization_id').doUpdateSet({
        answers: sql<number>`idempotency_usage.answers + 1`,
        bytes: sql<number>`idempotency_usage.bytes + ${bytes}`,
      }),
    )
    .returning(['answers', 'bytes'])
    .executeTakeFirstOrThrow();
}

async function remove(trx: Queries, organizationId: string, ids: readonly string[]): Promise<Usage> {
  if (ids.length === 0) return { answers: 0, bytes: 0 };
  const rows = await trx.deleteFrom('idempotency_answer').where('id', 'in', ids).returning('bytes').execute();
  const gone = { answers: rows.length, bytes: rows.reduce((sum, row) => sum + row.bytes, 0) };
  if (gone.answers > 0)
    await trx
      .updateTable('idempotency_usage')
      .set({
        answers: sql<number>`answers - ${gone.answers}`,
        bytes: sql<number>`bytes - ${gone.bytes}`,
      })
      .where('organization_id', '=', organizationId)
      .execute();
  return gone;
}
