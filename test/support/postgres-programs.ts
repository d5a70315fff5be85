/** Finds the programs of PostgreSQL, and the user that they run as. */
import { spawnSync } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';

/** Debian keeps the server's programs out of PATH. */
export function findPrograms(): string | undefined {
  const packaged = globSync('/usr/lib/postgresql/*/bin').toSorted(
    (a, b) => Number(b.split('/')[4]) - Number(a.split('/')[4]),
  );
  const folders = [...packaged, ...(process.env['PATH'] ?? '').split(':')];
  return folders.find((folder) =>
    ['initdb', 'postgres', 'psql', 'pg_ctl'].every((name) => existsSync(join(folder, name))),
  );
}

/** The server refuses to run as root: then it runs as the user that its package made. */
export function ownerOf(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const idOf = (option: string): number =>
    Number(spawnSync('id', [option, 'postgres'], { encoding: 'utf8' }).stdout.trim() || 'none');
  const owner = { uid: idOf('-u'), gid: idOf('-g') };
  if (Number.isNaN(owner.uid)) throw new Error('there is no user postgres to run PostgreSQL as');
  return owner;
}
