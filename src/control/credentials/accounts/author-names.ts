/** The authors of changes by name: people, API accounts and OAuth clients, also revoked ones. */
import { sql, type RawBuilder } from 'kysely';
import { containsIn } from '../../store/mod.ts';

/** A query of the ids of authors with the text in the name: those of an organization, or all of them for ''. */
export function authorsNamed(organizationId: string, text: string): RawBuilder<unknown> {
  const tables = [
    ['person', ['name', 'email']],
    ['api_account', ['name']],
    ['oauth_client', ['name']],
  ] as const;
  const each = tables.map(([table, names]) => {
    const hasName = containsIn(
      names.map((name) => sql.ref(name)),
      text,
    );
    const isOwn = organizationId === '' ? sql`true` : sql`organization_id = ${organizationId}`;
    return sql`select id from ${sql.table(table)} where ${isOwn} and ${hasName}`;
  });
  return sql`${sql.join(each, sql` union all `)}`;
}
