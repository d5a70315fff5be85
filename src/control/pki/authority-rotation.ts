/**
 * The steps of a rotation in the database, each inside its caller's transaction: the next generation of an authority, its
 * earlier time to issue, and the end of the former one. Each can be repeated after a crash.
 */
import { X509Certificate } from 'node:crypto';
import { FrontdoorError } from '#base';
import type { Secrets } from '../secrets/mod.ts';
import type { Queries } from '../store/mod.ts';
import { authorityOf, makeAuthority, type AuthoritySeed } from './certificate-authority.ts';
import {
  generationNumber,
  INTERMEDIATE,
  kindOf,
  ROOT,
  rotationAt,
  SPREAD_MS,
  type AuthorityKind,
  type Generation,
  type Rotation,
} from './generation-policy.ts';

const DAY_MS = 86_400_000;
/** The longest life of a certificate, after which a former generation ends by itself. */
export const LONGEST_LIFE_DAYS = 365;
/** Certificates of agents, gateways and routers that were away for this time have expired. */
const ROOT_OVERLAP_MS = 30 * DAY_MS;
const DAYS: Readonly<Record<AuthorityKind, number>> = { root: 7_300, intermediate: 3_650 };

export interface RotationParts {
  readonly secrets: Pick<Secrets, 'seal' | 'unseal'>;
  readonly trustDomain: string;
  readonly nowMs: number;
}

/** The common name and lifetime of a generation. */
export function seedOf(
  name: string,
  trustDomain: string,
  nowMs: number,
): Pick<AuthoritySeed, 'commonName' | 'lifetimeDays' | 'nowMs'> {
  const kind = kindOf(name);
  const number = generationNumber(name);
  const commonName = `${trustDomain} ${kind}${number === 1 ? '' : ` ${number}`}`;
  return { commonName, lifetimeDays: DAYS[kind], nowMs };
}

/** Reads every generation, also those that ended. */
export async function readGenerations(db: Queries): Promise<Generation[]> {
  const rows = await db
    .selectFrom('authority')
    .select(['name', 'parent', 'issues_at', 'ends_at'])
    .select((eb) => eb('key_sealed', '!=', '').as('has_key'))
    .execute();
  return rows.map((row) => ({
    name: row.name,
    parent: row.parent ?? (kindOf(row.name) === 'root' ? undefined : ROOT),
    issuesAtMs: row.issues_at,
    endsAtMs: row.ends_at ?? undefined,
    hasKey: Boolean(row.has_key),
  }));
}

export interface AuthorityView extends Generation {
  readonly kind: AuthorityKind;
  readonly certificate: X509Certificate;
}

/** Reads every generation with its certificate, in the order of their numbers, roots first. */
export async function readAuthorities(db: Queries): Promise<AuthorityView[]> {
  const rows = await db.selectFrom('authority').select(['name', 'certificate_pem']).execute();
  const pems = new Map(rows.map(({ name, certificate_pem: pem }) => [name, pem]));
  const generations = await readGenerations(db);
  return generations
    .flatMap((one) => {
      const pem = pems.get(one.name);
      return pem === undefined
        ? []
        : [{ ...one, kind: kindOf(one.name), certificate: new X509Certificate(pem) }];
    })
    .toSorted(
      (a, b) =>
        Number(b.kind === 'root') - Number(a.kind === 'root') ||
        generationNumber(a.name) - generationNumber(b.name),
    );
}

/**
 * Stores the next generation, which issues after `afterMs`; for a root, an intermediate below it, too. Of two at once, one
 * is stored. Throws `conflict` while another rotation is not done.
 */
export async function beginRotation(
  trx: Queries,
  parts: RotationParts,
  kind: AuthorityKind,
  afterMs: number | undefined,
): Promise<Rotation<Generation>> {
  const { nowMs, secrets, trustDomain } = parts;
  const before = await readGenerations(trx);
  if (rotationAt(before, nowMs) !== undefined) throw unfinished();
  const issuesAtMs = nowMs + Math.max(SPREAD_MS, afterMs ?? (kind === 'root' ? ROOT_OVERLAP_MS : 0));
  const nextName = (base: string): string => {
    const numbers = before.filter(({ name }) => kindOf(name) === kindOf(base));
    return `${base}-${1 + Math.max(...numbers.map(({ name }) => generationNumber(name)))}`;
  };
  const insert = async (name: string, parent: string | undefined) => {
    const pairOfParent = parent === undefined ? undefined : await pairOf(trx, secrets, parent);
    const above = pairOfParent && authorityOf(pairOfParent);
    const { certificatePem, keyPem } = await makeAuthority({
      ...seedOf(name, trustDomain, nowMs),
      parent: above,
    });
    const inserted = await trx
      .insertInto('authority')
      .values({
        name,
        parent: parent ?? null,
        certificate_pem: certificatePem,
        key_sealed: secrets.seal(keyPem),
        issues_at: issuesAtMs,
        created_at: nowMs,
      })
      .onConflict((conflict) => conflict.column('name').doNothing())
      .executeTakeFirst();
    if (inserted.numInsertedOrUpdatedRows !== 1n) throw unfinished();
    return name;
  };
  const root = kind === 'root' ? await insert(nextName(ROOT), undefined) : newest(before, nowMs, 'root').name;
  await insert(nextName(INTERMEDIATE), root);
  const former = before.filter(
    (one) => one.endsAtMs === undefined && (kind === 'root' || kindOf(one.name) === kind),
  );
  await endAt(trx, former, issuesAtMs + LONGEST_LIFE_DAYS * DAY_MS);
  return rotationAt(await readGenerations(trx), nowMs)!;
}

/** The new generation issues as soon as every control plane knows that. */
export async function issueSoon(
  trx: Queries,
  { next, former }: Rotation<Generation>,
  nowMs: number,
): Promise<void> {
  const issuesAtMs = nowMs + SPREAD_MS;
  for (const { name, issuesAtMs: planned } of next)
    if (planned > issuesAtMs)
      await trx
        .updateTable('authority')
        .set({ issues_at: issuesAtMs })
        .where('name', '=', name)
        .where('issues_at', '>', issuesAtMs)
        .execute();
  await endAt(trx, former, issuesAtMs + LONGEST_LIFE_DAYS * DAY_MS);
}

/** The former generation ends as soon as every control plane knows that, and its key is deleted. */
export async function endSoon(trx: Queries, { former }: Rotation<Generation>, nowMs: number): Promise<void> {
  await endAt(trx, former, nowMs + SPREAD_MS);
  const names = former.map(({ name }) => name);
  await trx.updateTable('authority').set({ key_sealed: '' }).where('name', 'in', names).execute();
}

async function endAt(trx: Queries, former: readonly Generation[], endsAtMs: number): Promise<void> {
  const names = former.map(({ name }) => name);
  await trx
    .updateTable('authority')
    .set({ ends_at: endsAtMs })
    .where('name', 'in', names)
    .where((eb) => eb.or([eb('ends_at', 'is', null), eb('ends_at', '>', endsAtMs)]))
    .execute();
}

function newest(all: readonly Generation[], nowMs: number, kind: AuthorityKind): Generation {
  const found = all
    .filter(({ name, endsAtMs }) => kindOf(name) === kind && (endsAtMs === undefined || endsAtMs > nowMs))
    .toSorted((a, b) => generationNumber(a.name) - generationNumber(b.name))
    .at(-1);
  if (found === undefined) throw new RangeError(`there is no ${kind} authority`);
  return found;
}

async function pairOf(trx: Queries, secrets: RotationParts['secrets'], name: string) {
  const row = await trx
    .selectFrom('authority')
    .select(['certificate_pem', 'key_sealed'])
    .where('name', '=', name)
    .executeTakeFirstOrThrow();
  return { certificatePem: row.certificate_pem, keyPem: secrets.unseal(row.key_sealed) };
}

function unfinished(): FrontdoorError {
  return new FrontdoorError(
    'conflict',
    'conflict',
    'An authority is being replaced already: "frontdoor pki show" says what is missing for the next step',
  );
}
