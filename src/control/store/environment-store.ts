/** Environments of a granted frontdoor. An agent is its environment: the same id, one record. */
import type { GrantedFrontdoor } from './frontdoor-store.ts';
import { pageOfIdentities } from './identity-page.ts';
import type { Page, PageRequest } from './page.ts';
import type { Queries, Touch } from './store.ts';

export interface EnvironmentRecord {
  readonly id: string;
  readonly name: string;
  /** Null until an agent of ours told it. */
  readonly agentVersion: string | null;
  readonly createdAtMs: number;
}

export async function listEnvironments(
  db: Queries,
  frontdoor: GrantedFrontdoor,
  request: PageRequest,
): Promise<Page<EnvironmentRecord>> {
  const inFrontdoor = environmentsOf(db, frontdoor);
  const { total } = await inFrontdoor
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const query = inFrontdoor.select(['id', 'name', 'agent_version', 'created_at']);
  const rows = await pageOfIdentities(query, request);
  return { content: rows.map(recordOf), total };
}

export async function findEnvironment(
  db: Queries,
  frontdoor: GrantedFrontdoor,
  id: string,
): Promise<EnvironmentRecord | undefined> {
  const row = await environmentsOf(db, frontdoor)
    .select(['id', 'name', 'agent_version', 'created_at'])
    .where('id', '=', id)
    .executeTakeFirst();
  return row === undefined ? undefined : recordOf(row);
}

/** Removes an environment with its certificates, sessions, shares and grants. False: it is not there. */
export async function deleteEnvironment(
  trx: Queries,
  touch: Touch,
  frontdoor: GrantedFrontdoor,
  id: string,
): Promise<boolean> {
  const hosted = await trx.selectFrom('share').select('id').where('environment_id', '=', id).execute();
  const granting = await trx
    .selectFrom('share_grant')
    .select('share_id')
    .where('environment_id', '=', id)
    .execute();
  const removed = await trx
    .deleteFrom('identity')
    .where('id', '=', id)
    .where('kind', '=', 'environment')
    .where('frontdoor_id', '=', frontdoor.id)
    .returning('id')
    .execute();
  if (removed.length === 0) return false;
  for (const share of hosted) touch('share', share.id);
  for (const share of granting) touch('share', share.share_id);
  touch('identity', id);
  return true;
}

function environmentsOf(db: Queries, frontdoor: GrantedFrontdoor) {
  return db.selectFrom('identity').where('frontdoor_id', '=', frontdoor.id).where('kind', '=', 'environment');
}

function recordOf(row: { id: string; name: string; agent_version: string | null; created_at: number }) {
  return { id: row.id, name: row.name, agentVersion: row.agent_version, createdAtMs: row.created_at };
}
