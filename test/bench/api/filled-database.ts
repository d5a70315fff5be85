/** Fills the database of a stopped control plane with auth providers, by statements: thousands a second are not the point. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Client } from 'pg';

export interface ProviderFill {
  readonly frontdoorId: string;
  readonly count: number;
}

/** Both databases take it: the frontdoor, the data of each provider, and how many there are. */
const FILL = `
  insert into auth_provider (id, frontdoor_id, name, type, enabled, data, secrets_sealed, version, created_at, updated_at)
  with recursive numbers (n) as (select 0 union all select n + 1 from numbers where n + 1 < $3)
  select $1 || '-' || n, $1, 'provider ' || (1000000 + n), 'OIDC', 1, $2, null, 1, n, n from numbers`;

const DATA = JSON.stringify({ issuer: 'https://idp.example.com', client_id: 'bench' });

/** `database` is a PostgreSQL URL; undefined: the embedded database. */
export async function fillProviders(
  dataDir: string,
  database: string | undefined,
  fills: readonly ProviderFill[],
): Promise<void> {
  if (database === undefined) {
    const db = new DatabaseSync(join(dataDir, 'control.db'));
    const insert = db.prepare(FILL);
    for (const { frontdoorId, count } of fills) insert.run({ $1: frontdoorId, $2: DATA, $3: count });
    db.close();
    return;
  }
  const client = new Client({ connectionString: database });
  await client.connect();
  for (const { frontdoorId, count } of fills) await client.query(FILL, [frontdoorId, DATA, count]);
  await client.query('vacuum analyze');
  await client.end();
}
