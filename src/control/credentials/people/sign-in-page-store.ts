/** How the sign-in pages of an organization look: the name and the logo that its administrators have set (ADR 0116). */
import { lockedForUpdate, type Queries } from '../../store/mod.ts';
import { findOrganization, firstOrganization } from './organization-store.ts';

export interface SignInPageRecord {
  /** Null: the name of the organization at the console, and none elsewhere. */
  readonly title: string | null;
  /** A PNG image in base64; null: none. */
  readonly logo: string | null;
}

/** What a page shows. */
export interface SignInLook {
  readonly name: string | undefined;
  /** A PNG image in base64. */
  readonly logo: string | undefined;
}

const NOTHING_SET: SignInPageRecord = { title: null, logo: null };

export async function findSignInPage(db: Queries, organizationId: string): Promise<SignInPageRecord> {
  return (await rowOf(db, organizationId).executeTakeFirst()) ?? NOTHING_SET;
}

/** Returns it locked until the transaction ends. The organization must be locked before. */
export async function lockedSignInPage(trx: Queries, organizationId: string): Promise<SignInPageRecord> {
  return (await lockedForUpdate(trx, rowOf(trx, organizationId)).executeTakeFirst()) ?? NOTHING_SET;
}

export async function putSignInPage(
  trx: Queries,
  organizationId: string,
  { title, logo }: SignInPageRecord,
): Promise<void> {
  await trx
    .insertInto('sign_in_page')
    .values({ organization_id: organizationId, title, logo })
    .onConflict((conflict) => conflict.column('organization_id').doUpdateSet({ title, logo }))
    .execute();
}

/** The look of the pages at the console of an organization, or of the oldest one. One that does not exist has none. */
export async function signInLook(db: Queries, organizationId: string | undefined): Promise<SignInLook> {
  const id = organizationId ?? (await firstOrganization(db));
  const organization = id === undefined ? undefined : await findOrganization(db, id);
  if (organization === undefined) return { name: undefined, logo: undefined };
  const { title, logo } = await findSignInPage(db, organization.id);
  return { name: title ?? organization.name, logo: logo ?? undefined };
}

function rowOf(db: Queries, organizationId: string) {
  return db
    .selectFrom('sign_in_page')
    .select(['title', 'logo'])
    .where('organization_id', '=', organizationId);
}
