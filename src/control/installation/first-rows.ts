/**
 * The rows of an empty database at the first start: one organization with one frontdoor, one API account, one
 * OAuth client, the default frontend, the key of bearer tokens. One transaction, so that an interrupted start is
 * repeated completely.
 */
import { randomUUID } from 'node:crypto';
import { FrontdoorError, type Clock } from '#base';
import { randomToken, type Secrets } from '../secrets/mod.ts';
import { lockedByName, type Queries, type Store, type StoreTransaction, type Touch } from '../store/mod.ts';
import { createSigningKey, listSigningKeys } from '../credentials/oauth/mod.ts';

export interface FirstStartOptions {
  /** DNS zone of the default frontend: public shares are served as `<token>.<zone>`. */
  readonly zone: string;
  readonly clock: Clock;
  readonly publicName?: string;
  readonly organizationName?: string;
  readonly frontdoorName?: string;
}

/** Ids, and secrets that are shown once. */
export interface FirstStart {
  readonly organizationId: string;
  readonly frontdoorId: string;
  readonly accountId: string;
  readonly apiToken: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** Called last in the transaction that stores the first rows. If it throws, the database stays empty. */
export type WithFirstRows = (
  trx: StoreTransaction,
  touch: Touch,
  first: FirstStart,
  signingKeyId: string,
) => Promise<void>;

/** Scopes of an administrator's account. */
export const ADMIN_SCOPES = 'frontdoor.read frontdoor.write frontdoor.admin';
const CLIENT_SCOPES = 'frontdoor.read frontdoor.write';

/**
 * Returns undefined if the database was not empty. Throws `invalid` if its secrets were encrypted with another
 * key file.
 */
export async function seedFirstRows(
  store: Store,
  secrets: Secrets,
  options: FirstStartOptions,
  withRows?: WithFirstRows,
): Promise<FirstStart | undefined> {
  const nowMs = options.clock.nowMs();
  const first: FirstStart = {
    organizationId: randomUUID(),
    frontdoorId: randomUUID(),
    accountId: randomUUID(),
    apiToken: randomToken(),
    clientId: randomUUID(),
    clientSecret: randomToken(),
  };
  const isEmpty = await store.transaction(async (trx, touch) => {
    await lockedByName(trx, 'first start');
    if (await hasFirstRows(trx)) return false;
    const { organizationId } = first;
    await trx
      .insertInto('organization')
      .values({
        id: organizationId,
        name: options.organizationName ?? 'First organization',
        created_at: nowMs,
      })
      .execute();
    await trx
      .insertInto('frontdoor')
      .values({
        id: first.frontdoorId,
        organization_id: organizationId,
        name: options.frontdoorName ?? 'First frontdoor',
        created_at: nowMs,
      })
      .execute();
    await trx
      .insertInto('api_account')
      .values({
        id: first.accountId,
        organization_id: organizationId,
        name: 'First account',
        token_hmac: secrets.hmac(first.apiToken),
        scopes: ADMIN_SCOPES,
        created_at: nowMs,
        revoked_at: null,
      })
      .execute();
    await trx
      .insertInto('oauth_client')
      .values({
        id: first.clientId,
        organization_id: organizationId,
        name: 'First client',
        secret_hmac: secrets.hmac(first.clientSecret),
        scopes: CLIENT_SCOPES,
        created_at: nowMs,
        revoked_at: null,
      })
      .execute();
    await trx
      .insertInto('frontend')
      .values({
        id: randomUUID(),
        public_name: options.publicName ?? 'public',
        zone: options.zone.toLowerCase(),
        is_default: 1,
        created_at: nowMs,
      })
      .execute();
    const key = await createSigningKey(trx, touch, secrets, 'bearer', nowMs);
    touch('organization', organizationId);
    touch('frontdoor', first.frontdoorId);
    await withRows?.(trx, touch, first, key.id);
    return true;
  });
  if (isEmpty) return first;
  await checkKeyFile(store, secrets, nowMs);
  return undefined;
}

/** Whether an installation began in the database. */
export async function hasFirstRows(db: Queries): Promise<boolean> {
  return (await db.selectFrom('organization').select('id').limit(1).executeTakeFirst()) !== undefined;
}

/** Throws `invalid` if the database's secrets were encrypted with another key file. */
export async function checkKeyFile(store: Store, secrets: Secrets, nowMs: number): Promise<void> {
  try {
    await listSigningKeys(store.db, secrets, 'bearer', nowMs);
  } catch (cause) {
    if (!(cause instanceof FrontdoorError) || cause.code !== 'unseal-failed') throw cause;
    const message =
      'the database belongs to another secrets.key: put the key file back that it was used with';
    throw new FrontdoorError('invalid', 'key-file', message, { cause });
  }
}
