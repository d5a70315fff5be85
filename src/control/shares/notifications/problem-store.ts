/** The problems that are reported now. A statement that inserts or deletes a row decides which control plane sends the event. */
import type { Selectable } from 'kysely';
import type { Database, Queries } from '../../store/mod.ts';

export type ReportedKind = Selectable<Database['reported_problem']>['kind'];
/** Those whose state is measured. */
export type ProblemKind = Exclude<ReportedKind, 'certificate' | 'quota'>;

export interface ReportedProblem {
  readonly kind: ReportedKind;
  readonly resourceId: string;
}

const ROWS_AT_ONCE = 200;
const MAX_REPORTED = 200_000;

/** Returns those that were not reported before. */
export async function reportProblems(
  trx: Queries,
  kind: ReportedKind,
  organizationId: string,
  resourceIds: readonly string[],
  nowMs: number,
): Promise<ReadonlySet<string>> {
  const won = new Set<string>();
  for (const ids of slicesOf(resourceIds)) {
    const values = ids.map((id) => ({
      kind,
      resource_id: id,
      organization_id: organizationId,
      since: nowMs,
    }));
    const inserted = await trx
      .insertInto('reported_problem')
      .values(values)
      .onConflict((conflict) => conflict.columns(['kind', 'resource_id']).doNothing())
      .returning('resource_id')
      .execute();
    for (const { resource_id: id } of inserted) won.add(id);
  }
  return won;
}

/** Returns those that were reported until now. */
export async function endProblems(
  trx: Queries,
  kind: ReportedKind,
  resourceIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const won = new Set<string>();
  for (const ids of slicesOf(resourceIds)) {
    const deleted = await trx
      .deleteFrom('reported_problem')
      .where('kind', '=', kind)
      .where('resource_id', 'in', ids)
      .returning('resource_id')
      .execute();
    for (const { resource_id: id } of deleted) won.add(id);
  }
  return won;
}

export async function listReported(
  db: Queries,
  kinds: readonly ReportedKind[],
): Promise<readonly ReportedProblem[]> {
  const found = await db
    .selectFrom('reported_problem')
    .select(['kind', 'resource_id'])
    .where('kind', 'in', kinds)
    .limit(MAX_REPORTED)
    .execute();
  return found.map(({ kind, resource_id: resourceId }) => ({ kind, resourceId }));
}

function slicesOf(ids: readonly string[]): readonly (readonly string[])[] {
  const slices = [];
  for (let at = 0; at < ids.length; at += ROWS_AT_ONCE) slices.push(ids.slice(at, at + ROWS_AT_ONCE));
  return slices;
}
