/**
 * What opened sessions, and who made invitations and links, so that they end with it (ADR 0059). What earlier versions stored
 * about people is enough for their sessions. It is not for sessions of API accounts, invitations and links, which end here.
 */
import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { textType } from './migration-dialect.ts';

/** Private to this migration, because the current tables may differ. */
interface Tables {
  console_session: { credential: string | null };
  invitation: object;
  person_password: { link_hmac: string | null; link_expires_at: number | null };
}

export const credentialEnds: Migration = {
  async up(db: Kysely<unknown>) {
    await nameSecrets(db);
    await addColumns(db, 'console_session', ['credential']);
    await addColumns(db, 'invitation', ['maker_kind', 'maker_id', 'maker_credential']);
    await addColumns(db, 'person_password', ['link_maker_kind', 'link_maker_id', 'link_maker_credential']);
    await nameCredentials(db);
    const tables = db as Kysely<Tables>;
    await tables.deleteFrom('console_session').where('credential', 'is', null).execute();
    await tables.deleteFrom('invitation').execute();
    await tables.updateTable('person_password').set({ link_hmac: null, link_expires_at: null }).execute();
  },
};

async function addColumns(db: Kysely<unknown>, table: string, columns: readonly string[]): Promise<void> {
  for (const column of columns) await db.schema.alterTable(table).addColumn(column, textType(db)).execute();
}

/** A secret in its overlap is the first one, because bearer tokens of earlier versions count as those of the first. */
async function nameSecrets(db: Kysely<unknown>): Promise<void> {
  for (const table of ['api_account', 'oauth_client']) {
    await db.schema
      .alterTable(table)
      .addColumn('secret_id', textType(db), (column) => column.notNull().defaultTo('first'))
      .execute();
    await addColumns(db, table, ['previous_id']);
    await sql`update ${sql.table(table)} set secret_id = 'second', previous_id = 'first'
      where previous_hmac is not null`.execute(db);
  }
}

async function nameCredentials(db: Kysely<unknown>): Promise<void> {
  await sql`update console_session set credential =
    (select 'password ' || cast(own.updated_at as text) from person_password as own
      where own.person_id = console_session.person_id)
    where person_id is not null and auth_provider_id is null and second_factor = 0`.execute(db);
  await sql`update console_session set credential =
    (select 'factor ' || cast(own.updated_at as text) || ' ' || cast(factor.enrolled_at as text)
      from person_password as own inner join person_totp as factor on factor.person_id = own.person_id
      where own.person_id = console_session.person_id)
    where person_id is not null and auth_provider_id is null and second_factor = 1`.execute(db);
  await sql`update console_session set credential =
    (select 'provider ' || entry.id || ' ' || cast(provider.version as text)
      from console_log_in as entry inner join auth_provider as provider on provider.id = entry.auth_provider_id
      where provider.id = console_session.auth_provider_id)
    where auth_provider_id is not null`.execute(db);
}
