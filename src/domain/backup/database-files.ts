/** Names of the files of a control plane's database, in its data directory and in that of the copies from before migrations. */

/** The embedded database. */
export const EMBEDDED_DATABASE = 'control.db';
/** Copies of a PostgreSQL database are backups, and named after this. */
const POSTGRES_COPY = 'frontdoor.backup';

/** What the copies of a database are named after. */
export function copiedFile(kind: 'embedded' | 'postgres'): string {
  return kind === 'embedded' ? EMBEDDED_DATABASE : POSTGRES_COPY;
}

/** The copy of a file from before a migration. */
export function migrationCopy(file: string, migration: string): string {
  return `${file}.before-${migration}`;
}
