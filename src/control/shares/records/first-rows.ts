/**
 * The rows of an empty database at the first start: one organization with one frontdoor, one API account, one
 * OAuth client, the default frontend, the key of bearer tokens. One transaction, so that an interrupted start is
 * repeated completely.
 */
import type { Clock } from '#base';
import { ADMIN_SCOPES, createCaller } from '../../credentials/accounts/mod.ts';
import { checkKeyFile, createSigningKey } from '../../credentials/oauth/mod.ts';
import { createOrganization, firstOrganization } from '../../credentials/people/mod.ts';
import type { Secrets } from '../../secrets/mod.ts';
import { lockedByName, type Store, type StoreTransaction, type Touch } from '../../store/mod.ts';
import { createFrontdoor } from './frontdoor-store.ts';
import { createDefaultFrontend } from './frontend-store.ts';

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

const CLIENT_SCOPES = ['frontdoor.read', 'frontdoor.write'];

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
  const first = await store.transaction(async (trx, touch) => {
    await lockedByName(trx, 'first start');
    if ((await firstOrganization(trx)) !== undefined) return undefined;
    const { zone, publicName = 'public', organizationName = 'First organization' } = options;
    const organization = await createOrganization(trx, touch, { name: organizationName, nowMs });
    const of = { organizationId: organization.id, nowMs };
    const frontdoorName = options.frontdoorName ?? 'First frontdoor';
    const frontdoor = await createFrontdoor(trx, touch, { ...of, name: frontdoorName });
    const account = { ...of, kind: 'account', name: 'First account', scopes: ADMIN_SCOPES } as const;
    const { caller, secret: apiToken } = await createCaller(trx, touch, secrets, account);
    const client = { ...of, kind: 'client', name: 'First client', scopes: CLIENT_SCOPES } as const;
    const oauth = await createCaller(trx, touch, secrets, client);
    await createDefaultFrontend(trx, { publicName, zone: zone.toLowerCase(), nowMs });
    const key = await createSigningKey(trx, touch, secrets, 'bearer', nowMs);
    const made: FirstStart = {
      organizationId: organization.id,
      frontdoorId: frontdoor.id,
      accountId: caller.id,
      apiToken,
      clientId: oauth.caller.id,
      clientSecret: oauth.secret,
    };
    await withRows?.(trx, touch, made, key.id);
    return made;
  });
  if (first === undefined) await checkKeyFile(store, secrets, nowMs);
  return first;
}
