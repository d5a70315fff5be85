/** Enrollments of agents as their frontdoor's owner sees them. The code is stored nowhere in clear. */
import { sql } from 'kysely';
import type { GrantedFrontdoor } from './frontdoor-store.ts';
import { MAX_REFUSED_CSRS } from '../../overlay/records/mod.ts';
import { type Page, type PageRequest, lockedForUpdate, type Queries } from '../../store/mod.ts';

export interface AgentEnrollmentRecord {
  readonly id: string;
  readonly name: string | null;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  /** Null until an agent has enrolled with it. */
  readonly claimedAtMs: number | null;
  /** The environment of the agent that enrolled with it; null if there is none, or none any more. */
  readonly environmentId: string | null;
  /** Whether it ended because too many requests for a certificate were refused. */
  readonly isRefused: boolean;
}

/** The newest first. */
export async function listAgentEnrollments(
  db: Queries,
  frontdoor: GrantedFrontdoor,
  { page, size }: Pick<PageRequest, 'page' | 'size'>,
): Promise<Page<AgentEnrollmentRecord>> {
  const query = enrollmentsOf(db, frontdoor);
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
  frontdoor: GrantedFrontdoor,
  id: string,
): Promise<AgentEnrollmentRecord | undefined> {
  await lockedForUpdate(trx, trx.selectFrom('enrollment').select('id').where('id', '=', id)).execute();
  const row = await enrollmentsOf(trx, frontdoor).where('enrollment.id', '=', id).executeTakeFirst();
  return row === undefined ? undefined : recordOf(row);
}

/** Its code and its enrollment tokens are refused from then on. */
export async function deleteEnrollment(trx: Queries, { id }: AgentEnrollmentRecord): Promise<void> {
  await trx.deleteFrom('enrollment').where('id', '=', id).execute();
}

function enrollmentsOf(db: Queries, frontdoor: GrantedFrontdoor) {
  return db
    .selectFrom('enrollment')
    .leftJoin('identity', 'identity.id', 'enrollment.identity_id')
    .where('enrollment.frontdoor_id', '=', frontdoor.id)
    .where('enrollment.kind', '=', 'environment')
    .select([
      ...(['enrollment.id', 'enrollment.name', 'enrollment.created_at', 'enrollment.expires_at'] as const),
      ...(['enrollment.claimed_at', 'enrollment.refused_csr_count'] as const),
      'identity.id as environment_id',
    ]);
}

function recordOf(row: {
  id: string;
  name: string | null;
  created_at: number;
  expires_at: number;
  claimed_at: number | null;
  refused_csr_count: number;
  environment_id: string | null;
}): AgentEnrollmentRecord {
  return {
    id: row.id,
    name: row.name,
    createdAtMs: row.created_at,
    expiresAtMs: row.expires_at,
    claimedAtMs: row.claimed_at,
    environmentId: row.environment_id,
    isRefused: row.refused_csr_count >= MAX_REFUSED_CSRS,
  };
}
