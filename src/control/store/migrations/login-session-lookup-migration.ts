/**
 * Indexes for an owner's queries of sessions: by provider, newest first, and by person. The e-mail address, which
 * was only in the JSON of the identity, gets a column of its own.
 */
import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { textType } from './migration-dialect.ts';

/** Private to this migration, because the current tables may differ. */
interface Sessions {
  login_session: { id: string; identity: string; email: string | null };
}

const ROWS_A_STATEMENT = 500;
const INDEXES = {
  login_session_by_age: ['auth_provider_id', 'created_at', 'id'],
  login_session_by_email: ['auth_provider_id', 'email'],
  login_session_by_person: ['auth_provider_id', 'subject'],
} as const;

export const loginSessionLookup: Migration = {
  async up(db: Kysely<unknown>) {
    const { schema } = db;
    await schema.alterTable('login_session').addColumn('email', textType(db)).execute();
    await fillEmails(db);
    for (const [name, columns] of Object.entries(INDEXES))
      await schema
        .createIndex(name)
        .on('login_session')
        .columns([...columns])
        .execute();
    // The first of these begins with the same column.
    await schema.dropIndex('login_session_by_auth_provider_id').execute();
  },
};

async function fillEmails(db: Kysely<Sessions>): Promise<void> {
  for (let after = ''; ;) {
    const rows = await db
      .selectFrom('login_session')
      .select(['id', 'identity'])
      .where('id', '>', after)
      .orderBy('id')
      .limit(ROWS_A_STATEMENT)
      .execute();
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.id;
    const known = rows.flatMap(({ id, identity }) => {
      const { email } = JSON.parse(identity) as { email: string | null };
      return email === null ? [] : [sql`(${id}, ${email})`];
    });
    if (known.length === 0) continue;
    // Both databases name the columns of a list of values like this.
    await sql`update login_session set email = told.column2 from (values ${sql.join(known)}) as told
      where login_session.id = told.column1`.execute(db);
  }
}
