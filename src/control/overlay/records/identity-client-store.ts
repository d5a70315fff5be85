/** What the clients of identities last reported about themselves when they logged in. */
import { jsonReader, Part } from '#base/shapes';
import type { Queries } from '../../store/mod.ts';

const readTexts = jsonReader(Part.mapOf(Part.text()));

/** Fields are texts by name; none if the client reported nothing. */
export interface IdentityClient {
  /** The machine. */
  readonly envInfo: Readonly<Record<string, string>>;
  /** The program. */
  readonly sdkInfo: Readonly<Record<string, string>>;
}

export const UNKNOWN_CLIENT: IdentityClient = { envInfo: {}, sdkInfo: {} };

/** Stores what differs from the stored description, and writes nothing otherwise. An empty part leaves the stored one. */
export async function putIdentityClient(
  trx: Queries,
  identityId: string,
  { envInfo, sdkInfo }: IdentityClient,
): Promise<void> {
  if (isEmpty(envInfo) && isEmpty(sdkInfo)) return;
  const stored = await rowsOf(trx).where('identity_id', '=', identityId).executeTakeFirst();
  const changed = {
    env_info: isEmpty(envInfo) && stored !== undefined ? stored.env_info : JSON.stringify(envInfo),
    sdk_info: isEmpty(sdkInfo) && stored !== undefined ? stored.sdk_info : JSON.stringify(sdkInfo),
  };
  if (stored?.env_info === changed.env_info && stored.sdk_info === changed.sdk_info) return;
  await trx
    .insertInto('identity_client')
    .values({ identity_id: identityId, ...changed })
    .onConflict((conflict) => conflict.column('identity_id').doUpdateSet(changed))
    .execute();
}

export async function findIdentityClient(db: Queries, identityId: string): Promise<IdentityClient> {
  const row = await rowsOf(db).where('identity_id', '=', identityId).executeTakeFirst();
  return row === undefined ? UNKNOWN_CLIENT : clientOf(row);
}

/** Returns the descriptions of all identities that have one, by id. */
export async function identityClients(db: Queries): Promise<ReadonlyMap<string, IdentityClient>> {
  const rows = await rowsOf(db).execute();
  return new Map(rows.map((row) => [row.identity_id, clientOf(row)]));
}

function rowsOf(db: Queries) {
  return db.selectFrom('identity_client').selectAll();
}

function clientOf(row: { readonly env_info: string; readonly sdk_info: string }): IdentityClient {
  return {
    envInfo: readTexts(row.env_info),
    sdkInfo: readTexts(row.sdk_info),
  };
}

function isEmpty(fields: Readonly<Record<string, string>>): boolean {
  return Object.keys(fields).length === 0;
}
