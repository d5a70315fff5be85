/** Enrollments of agents as their owner sees them. The code is stored nowhere in clear. */
import { sql } from 'kysely';
import { MAX_REFUSED_CSRS } from './enrollment-store.ts';
import { type Page, type PageRequest, lockedForUpdate, type Queries } from '../../store/mod.ts';

export interface AgentEnrollmentRecord {
  readonly id: string;
  readonly name: string | null;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  /** Null until an agent has enrolled with it. */
  readonly claimedAtMs: number | null;
  /** The environment of the agent that enrolled with it; null if there is none, or it was deleted. */
  readonly identityId: string | null;
  /** Whether it ended because too many requests for a certificate were refused. */
  readonly isRefused: boolean;
}

/** The newest first. */
export async function listAgentEnrollments(
  db: Queries,
  ownerId: string,
  { page, size }: Pick<PageRequest, 'page' | 'size'>,
): Promise<Page<AgentEnrollmentRecord>> {
  const query = enrollmentsOf(db, ownerId);
  const { total } = await query
    .clearSelect()
    .select(sql<number>`count(*)`.as('total'))
    .executeTakeFirstOrThrow();
  const rows = await query
    .orderBy('enrollment.created_at', 'desc')
    .orderBy('enrollment.id')
    .limit(size)
    .offset(page * size)
    .execute();
  return { content: rows.map(recordOf), total: Number(total) };
}

/** Returns the enrollment, locked until the transaction ends. */
export async function lockAgentEnrollment(
  trx: Queries,
  ownerId: string,
  id: string,
): Promise<AgentEnrollmentRecord | undefined> {
  await lockedForUpdate(trx, trx.selectFrom('enrollment').select('id').where('id', '=', id)).execute();
  const row = await enrollmentsOf(trx, ownerId).where('enrollment.id', '=', id).executeTakeFirst();
  return row === undefined ? undefined : recordOf(row);
}

function enrollmentsOf(db: Queries, ownerId: string) {
  return db
    .selectFrom('enrollment')
    .leftJoin('identity', 'identity.id', 'enrollment.identity_id')
    .where('enrollment.frontdoor_id', '=', ownerId)
    .where('enrollment.kind', '=', 'environment')
    .select([
      ...(['enrollment.id', 'enrollment.name', 'enrollment.created_at', 'enrollment.expires_at'] as const),
      ...(['enrollment.claimed_at', 'enrollment.refused_csr_count'] as const),
      'identity.id as made_id',
    ]);
}

function recordOf(row: {
  id: string;
  name: string | null;
  created_at: number;
  expires_at: number;
  claimed_at: number | null;
  refused_csr_count: number;
  made_id: string | null;
}): AgentEnrollmentRecord {
  return {
    id: row.id,
    name: row.name,
    createdAtMs: row.created_at,
    expiresAtMs: row.expires_at,
    claimedAtMs: row.claimed_at,
    identityId: row.made_id,
    isRefused: row.refused_csr_count >= MAX_REFUSED_CSRS,
  };
}
