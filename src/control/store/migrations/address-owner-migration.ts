/**
 * An e-mail address belongs to a person of an organization, and not to the installation: one that somebody uses in another
 * organization is nobody's to find out or to take. SQLite cannot drop a constraint, so the table is made again.
 */
import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { owned, required, textType } from './migration-dialect.ts';

const FORMER = 'person_password';
const MADE = 'person_password_made';
const COLUMNS = [
  ...(['person_id', 'email', 'password_hash', 'failed_attempts', 'locked_until', 'updated_at'] as const),
  ...(['link_hmac', 'link_expires_at', 'link_maker_kind', 'link_maker_id', 'link_maker_credential'] as const),
];

export const addressOwners: Migration = {
  async up(db: Kysely<unknown>) {
    const { schema } = db;
    const text = textType(db);
    let made = schema
      .createTable(MADE)
      .addColumn('person_id', text, (column) => owned('person.id')(column).primaryKey())
      .addColumn('organization_id', text, required)
      .addColumn('email', text, required)
      .addColumn('password_hash', text, required)
      .addColumn('failed_attempts', 'integer', (column) => column.notNull().defaultTo(0))
      .addColumn('locked_until', 'bigint')
      .addColumn('updated_at', 'bigint', required)
      .addColumn('link_hmac', text)
      .addColumn('link_expires_at', 'bigint');
    for (const column of COLUMNS.slice(-3)) made = made.addColumn(column, text);
    await made.execute();
    const own = COLUMNS.map((name) => sql.ref(`${FORMER}.${name}`));
    await sql`insert into ${sql.table(MADE)} (${sql.join(COLUMNS.map((name) => sql.ref(name)))}, organization_id)
      select ${sql.join(own)}, person.organization_id
      from ${sql.table(FORMER)} inner join person on person.id = ${sql.ref(`${FORMER}.person_id`)}`.execute(
      db,
    );
    await schema.dropTable(FORMER).execute();
    await schema.alterTable(MADE).renameTo(FORMER).execute();
    const unique = {
      person_password_by_link: ['link_hmac'],
      person_password_by_address: ['email', 'organization_id'],
    };
    for (const [name, columns] of Object.entries(unique))
      await schema.createIndex(name).on(FORMER).columns(columns).unique().execute();
  },
};
