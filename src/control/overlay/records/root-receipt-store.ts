/**
 * The identities that were given the newest root, and those that still use a former intermediate: the next step of a
 * rotation would cut off the peers among them that are not prepared (ADR 0062). Receipts are stored only while a root is being replaced.
 */
import { sql } from 'kysely';
import {
  generationKindOf,
  INTERMEDIATE,
  type Generation,
  type LoadedAuthorities,
  type Rotation,
} from '../../pki/mod.ts';
import type { Queries } from '../../store/mod.ts';

/** Must be called when the bundle was sent to that identity. */
export async function noteRootReceipt(
  db: Queries,
  { roots, newestRoot }: Pick<LoadedAuthorities, 'roots' | 'newestRoot'>,
  identityId: string,
  nowMs: number,
): Promise<void> {
  if (roots.length < 2) return;
  const known = db.selectFrom('identity').select(['id', sql.lit(newestRoot.name).as('root')]);
  await db
    .insertInto('root_receipt')
    .columns(['identity_id', 'root', 'received_at'])
    .expression(known.select(sql.lit(nowMs).as('received_at')).where('id', '=', identityId))
    .onConflict((conflict) =>
      conflict
        .column('identity_id')
        .doUpdateSet({ root: newestRoot.name, received_at: nowMs })
        .where('root_receipt.root', '!=', newestRoot.name),
    )
    .execute();
}

export interface CutOffIdentity {
  readonly id: string;
  readonly kind: 'environment' | 'gateway' | 'router' | 'edge';
  readonly name: string;
  /** Null for one that never called a control plane. */
  readonly lastSeenAtMs: number | null;
}

export interface CutOff {
  readonly count: number;
  /** Those that were seen last come first. */
  readonly identities: readonly CutOffIdentity[];
}

/** Returns who would be cut off by the next step, with at most `limit` of them in the list. */
export async function cutOffByNextStep(
  db: Queries,
  rotation: Rotation<Generation>,
  nowMs: number,
  limit: number,
): Promise<CutOff> {
  const isOfRoot = rotation.kind === 'root';
  const ends = rotation.step === 'issuing';
  // Peers find a new intermediate through the root that they have.
  if (!isOfRoot && !ends) return { count: 0, identities: [] };
  const root = rotation.next.find(({ name }) => generationKindOf(name) === 'root')?.name ?? '';
  const former = rotation.former
    .map(({ name }) => name)
    .filter((name) => generationKindOf(name) === 'intermediate');
  const found = db
    .selectFrom('identity')
    .innerJoin('certificate', 'certificate.identity_id', 'identity.id')
    .where('certificate.authority_id', 'is', null)
    .where('certificate.not_after', '>', nowMs)
    .leftJoin('root_receipt', 'root_receipt.identity_id', 'identity.id')
    .groupBy(['identity.id', 'identity.kind', 'identity.name', 'identity.last_seen_at'])
    .having((eb) => {
      const lacksRoot = sql<boolean>`max(case when root_receipt.root = ${root} then 1 else 0 end) = 0`;
      const isFormer = sql<boolean>`min(case when coalesce(certificate.issuer, ${INTERMEDIATE}) in (${sql.join(former)}) then 1 else 0 end) = 1`;
      return eb.or([...(isOfRoot ? [lacksRoot] : []), ...(ends ? [isFormer] : [])]);
    });
  const { count } = await db
    .selectFrom(found.select('identity.id').as('found'))
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  const rows = await found
    .select(['identity.id', 'identity.kind', 'identity.name', 'identity.last_seen_at'])
    .orderBy(sql`coalesce(identity.last_seen_at, 0)`, 'desc')
    .orderBy('identity.id')
    .limit(limit)
    .execute();
  return {
    count: Number(count),
    identities: rows.map(({ id, kind, name, last_seen_at: at }) => ({
      id,
      kind,
      name,
      lastSeenAtMs: at === null ? null : Number(at),
    })),
  };
}

/** Takes certificates of former intermediates away, at most `limit` of them. Returns the identities that had them. */
export async function dropFormerCertificates(
  trx: Queries,
  { former }: Rotation<Generation>,
  limit: number,
): Promise<readonly string[]> {
  const names = former.map(({ name }) => name).filter((name) => generationKindOf(name) === 'intermediate');
  const rows = await trx
    .selectFrom('certificate')
    .select(['fingerprint', 'identity_id'])
    .where('authority_id', 'is', null)
    .where(sql<string>`coalesce(issuer, ${INTERMEDIATE})`, 'in', names)
    .limit(limit)
    .execute();
  if (rows.length === 0) return [];
  const fingerprints = rows.map(({ fingerprint }) => fingerprint);
  await trx.deleteFrom('certificate').where('fingerprint', 'in', fingerprints).execute();
  return [...new Set(rows.map((row) => row.identity_id))];
}
