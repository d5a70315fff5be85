/** Fills the embedded database of a stopped product with shares like an existing one, in an environment of their own. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { UpProduct } from '../product.ts';

/** The environment is offline: nothing hosts these shares. */
export const FILLED_ENVIRONMENT = 'bench-environment';

type Row = Readonly<Record<string, string | number | bigint | null | Uint8Array>>;

/** Adds shares until there are `count`, each as public as the share with the name `like`. */
export function fillShares({ dataDir }: UpProduct, like: string, count: number): void {
  const db = new DatabaseSync(join(dataDir, 'control.db'));
  const share = db.prepare('select * from share where token = ?').get(like);
  if (share === undefined) throw new Error(`there is no share ${like}`);
  const frontend = db.prepare('select * from share_frontend where share_id = ?').get(share['id']!)!;
  const identity = db.prepare('select * from identity where id = ?').get(share['environment_id']!)!;
  const present = Number(db.prepare('select count(*) as n from share').get()!['n']);
  const isFilled = db.prepare('select 1 from identity where id = ?').get(FILLED_ENVIRONMENT) !== undefined;
  const insertShare = inserterOf(db, 'share', share);
  const insertFrontend = inserterOf(db, 'share_frontend', frontend);
  db.exec('begin');
  if (present < count && !isFilled) {
    const environment = { ...identity, id: FILLED_ENVIRONMENT, name: FILLED_ENVIRONMENT, created_at: 0 };
    inserterOf(db, 'identity', identity)(environment);
  }
  for (let n = present; n < count; n += 1) {
    const id = randomUUID();
    const token = `filled-${n}`;
    insertShare({ ...share, id, token, name: null, environment_id: FILLED_ENVIRONMENT });
    insertFrontend({ ...frontend, share_id: id, token });
  }
  db.exec('commit');
  db.close();
}

/** Returns what inserts rows with the columns of `like`. */
function inserterOf(db: DatabaseSync, table: string, like: Row): (row: Row) => void {
  const columns = Object.keys(like);
  const places = columns.map(() => '?').join(', ');
  const statement = db.prepare(`insert into ${table} (${columns.join(', ')}) values (${places})`);
  return (row) => void statement.run(...columns.map((column) => row[column]!));
}
