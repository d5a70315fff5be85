/**
 * Log-ins at the console with the auth providers that they go through, which are rows of a front door: the only place where
 * credentials read them. Each use of a session reads the provider as it is now, in the statement that finds the session.
 */
import { sql, type RawBuilder } from 'kysely';
import type { Queries } from '../../store/mod.ts';

/** Precedes the id of the log-in in the text that names a credential. */
export const PROVIDER = 'provider ';
const UUID_CHARS = 36;

/** The log-ins with the name of their provider, which `auth_provider` names in further conditions. */
export function consoleLogInRows(db: Queries) {
  return db
    .selectFrom('console_log_in')
    .innerJoin('auth_provider', 'auth_provider.id', 'console_log_in.auth_provider_id')
    .selectAll('console_log_in')
    .select('auth_provider.name');
}

/** Returns the log-in through a provider, and the version of the provider. */
export async function presentLogIn(
  db: Queries,
  providerId: string,
): Promise<{ readonly id: string; readonly version: number } | undefined> {
  return db
    .selectFrom('console_log_in')
    .innerJoin('auth_provider', 'auth_provider.id', 'console_log_in.auth_provider_id')
    .select(['console_log_in.id', 'auth_provider.version'])
    .where('auth_provider.id', '=', providerId)
    .executeTakeFirst();
}

/** Returns the provider if it belongs to the organization. */
export async function providerOfOrganization(
  db: Queries,
  organizationId: string,
  id: string,
): Promise<{ readonly id: string; readonly name: string } | undefined> {
  return db
    .selectFrom('auth_provider')
    .innerJoin('frontdoor', 'frontdoor.id', 'auth_provider.frontdoor_id')
    .select(['auth_provider.id', 'auth_provider.name'])
    .where('auth_provider.id', '=', id)
    .where('frontdoor.organization_id', '=', organizationId)
    .executeTakeFirst();
}

/**
 * Whether the credential names a log-in through a provider that is enabled and unchanged. The id of the log-in is taken from
 * the text, so that the database finds its row by the key.
 */
export function isOfPresentProvider(credential: RawBuilder<string | null>): RawBuilder<boolean> {
  return sql<boolean>`exists (select 1 from console_log_in as entry
      inner join auth_provider as provider on provider.id = entry.auth_provider_id
      where entry.id = substr(${credential}, ${sql.lit(PROVIDER.length + 1)}, ${sql.lit(UUID_CHARS)})
        and provider.enabled = 1
        and ${credential} = 'provider ' || entry.id || ' ' || cast(provider.version as text))`;
}
