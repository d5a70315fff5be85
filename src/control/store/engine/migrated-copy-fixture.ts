/**
 * New embedded stores for tests. Each is a copy of a migrated database, because migrations have tests of their own and took
 * most of the time of opening a store. The migrated database is made once for a test run, or once for a process that is
 * started by itself.
 */
import { copyFileSync, existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import type { Log } from '#base';
import { openStore } from './open-store.ts';
import type { Store } from './store.ts';

let own: string | undefined;
let template: Promise<string> | undefined;
let count = 0;

/** Opens a new, empty store, which the caller closes. */
export async function openEmbedded(options: { readonly log?: Log } = {}): Promise<Store> {
  template ??= migratedDatabase();
  count += 1;
  const path = join(ownFolder(), `${count}.db`);
  copyFileSync(await template, path);
  const store = await openStore({ path, ...options });
  const close = store.close.bind(store);
  return Object.assign(store, {
    async close(): Promise<void> {
      await close();
      rmSync(path, { force: true });
    },
  });
}

async function migratedDatabase(): Promise<string> {
  const kept = join(process.env['FRONTDOOR_TEST_FOLDER'] ?? ownFolder(), 'migrated.db');
  if (existsSync(kept)) return kept;
  const made = join(ownFolder(), 'migrated-here.db');
  await (await openStore({ path: made })).close();
  // Several processes may do this at once; each of the files is as good as another.
  copyFileSync(made, `${kept}.${process.pid}`);
  renameSync(`${kept}.${process.pid}`, kept);
  return kept;
}

function ownFolder(): string {
  if (own === undefined) {
    const folder = mkdtempSync(join(process.env['FRONTDOOR_TEST_FOLDER'] ?? tmpdir(), 'stores-'));
    own = folder;
    // The runner removes the folder of its run.
    if (process.env['FRONTDOOR_TEST_FOLDER'] === undefined)
      process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  }
  return own;
}
