/** Fills the embedded database of a stopped control plane with shares like an existing one, in an environment of their own. */
import { randomUUID } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';

/** The environment is offline: nothing hosts these shares. */
export const FILLED_ENVIRONMENT = 'bench-environment';

/** Adds shares until there are `count`, each as public as the share with the name `like`. */
export function fillShares(path: string, like: string, count: number): void {
  const db = new DatabaseSync(path);
  const share = db.prepare('select * from share where token = ?').get(like);
  if (share === undefined) throw new Error(`there is no share ${like}`);
  const frontend = db.prepare('select * from share_frontend where share_id = ?').get(share['id']!)!;
  const identity = db.prepare('select * from identity where id = ?').get(share['environment_id']!)!;
  const present = Number(db.prepare('select count(*) as n from share').get()!['n']);
  db.exec('begin');
  if (
    present < count &&
    db.prepare('select 1 from identity where id = ?').get(FILLED_ENVIRONMENT) === undefined
  ) {
    insert(db, 'identity', { ...identity, id: FILLED_ENVIRONMENT, name: FILLED_ENVIRONMENT, created_at: 0 });
  }
  for (let n = present; n < count; n += 1) {
    const id = randomUUID();
    const token = `filled-${n}`;
    insert(db, 'share', { ...share, id, token, name: null, environment_id: FILLED_ENVIRONMENT });
    insert(db, 'share_frontend', { ...frontend, share_id: id, token });
  }
  db.exec('commit');
  db.close();
}

const statements = new WeakMap<DatabaseSync, Map<string, ReturnType<DatabaseSync['prepare']>>>();

function insert(
  db: DatabaseSync,
  table: string,
  row: Record<string, string | number | bigint | null | Uint8Array>,
): void {
  const ofDatabase = statements.get(db) ?? new Map<string, ReturnType<DatabaseSync['prepare']>>();
  statements.set(db, ofDatabase);
  let statement = ofDatabase.get(table);
  if (statement === undefined) {
    const columns = Object.keys(row);
    const places = columns.map(() => '?').join(', ');
    statement = db.prepare(`insert into ${table} (${columns.join(', ')}) values (${places})`);
    ofDatabase.set(table, statement);
  }
  statement.run(...Object.values(row));
}
