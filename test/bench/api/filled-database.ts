/** Fills the database of a stopped control plane with auth providers, by statements: thousands a second are not the point. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Client } from 'pg';

export interface ProviderFill {
  readonly frontdoorId: string;
  readonly count: number;
}

const DATA = JSON.stringify({ issuer: 'https://idp.example.com', client_id: 'bench' });

export async function fillProviders(
  dataDir: string,
  database: string | undefined,
  fills: readonly ProviderFill[],
): Promise<void> {
  if (database === undefined) fillEmbedded(join(dataDir, 'control.db'), fills);
  else await fillPostgres(database, fills);
}

function fillEmbedded(path: string, fills: readonly ProviderFill[]): void {
  const db = new DatabaseSync(path);
  const insert = db.prepare(
    `insert into auth_provider (id, frontdoor_id, name, type, enabled, data, secrets_sealed, version, created_at, updated_at)
     values (?, ?, ?, 'OIDC', 1, ?, null, 1, ?, ?)`,
  );
  db.exec('begin');
  for (const { frontdoorId, count } of fills) {
    for (let n = 0; n < count; n += 1) insert.run(randomUUID(), frontdoorId, nameOf(n), DATA, n, n);
  }
  db.exec('commit');
  db.close();
}

async function fillPostgres(url: string, fills: readonly ProviderFill[]): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  for (const { frontdoorId, count } of fills) {
    await client.query(
      `insert into auth_provider (id, frontdoor_id, name, type, enabled, data, secrets_sealed, version, created_at, updated_at)
       select gen_random_uuid()::text, $1, 'provider ' || lpad(n::text, 7, '0'), 'OIDC', 1, $2, null, 1, n, n
       from generate_series(0, $3 - 1) as n`,
      [frontdoorId, DATA, count],
    );
  }
  await client.query('vacuum analyze');
  await client.end();
}

function nameOf(n: number): string {
  return `provider ${String(n).padStart(7, '0')}`;
}
