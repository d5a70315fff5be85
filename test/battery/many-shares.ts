/** An installation whose database already has many shares, in this process, so that the turns of its loop can be measured. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { silentLog } from '#base';
import type { Up } from '../../bin/up.ts';
import { startLocalUp } from '../support/local-up.ts';

export interface ManyShares {
  readonly up: Up;
  readonly frontdoorId: string;
  readonly authorization: string;
  /** The environment that hosts half of the shares. */
  readonly environmentId: string;
  close(): Promise<void>;
}

const LARGE_ENVIRONMENT = 'large-environment';
const DAY_MS = 86_400_000;
const DATABASE = 'control.db';

/** Half of the shares belong to one environment, the others to as many environments of a second organization. No agent runs. */
export async function startWithManyShares(count: number): Promise<ManyShares> {
  const folder = mkdtempSync(join(tmpdir(), 'frontdoor-many-'));
  const start = (): Promise<Up> => startLocalUp({ dataDir: folder, log: silentLog });
  const first = await start();
  const { frontdoorId, accountId, apiToken } = first.firstStart!;
  await first.close(0);
  fill(join(folder, DATABASE), frontdoorId, count);
  const up = await start();
  return {
    up,
    frontdoorId,
    authorization: `Basic ${btoa(`${accountId}:${apiToken}`)}`,
    environmentId: LARGE_ENVIRONMENT,
    async close() {
      await up.close(0);
      // Files of the database are removed after its worker has ended.
      await pause(0);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function fill(path: string, frontdoorId: string, count: number): void {
  const database = new DatabaseSync(path);
  const identity = database.prepare(
    "insert into identity (id, kind, frontdoor_id, name, agent_version, created_at) values (?, 'environment', ?, ?, '1.0.0', 1)",
  );
  const certificate = database.prepare(
    "insert into certificate (fingerprint, identity_id, spki_sha256, not_after, created_at) values (?, ?, 'x', ?, 1)",
  );
  const share = database.prepare(
    `insert into share (id, frontdoor_id, environment_id, token, name, share_mode, backend_mode, target, reserved,
     target_by_agent, epoch, created_at, updated_at)
     values (?, ?, ?, ?, ?, ?, 'proxy', 'http://127.0.0.1:3000', 1, 1, 1, ?, 1)`,
  );
  const frontend = database.prepare(
    'insert into share_frontend (share_id, frontend_id, token) select ?, id, ? from frontend limit 1',
  );
  database.exec('begin');
  database.exec("insert into organization (id, name, created_at) values ('second', 'second', 1)");
  database.exec(
    "insert into frontdoor (id, organization_id, name, created_at) values ('second', 'second', 'second', 1)",
  );
  identity.run(LARGE_ENVIRONMENT, frontdoorId, 'large');
  for (let n = 0; n < count; n += 1) {
    const [id, name] = [`many-${n}`, `name-${n}`];
    const isLarge = n % 2 === 0;
    const environmentId = isLarge ? LARGE_ENVIRONMENT : `small-${n}`;
    if (!isLarge) {
      identity.run(environmentId, 'second', environmentId);
      certificate.run(`${n}`, environmentId, Date.now() + (20 + (n % 60)) * DAY_MS);
    }
    const mode = n % 4 === 3 ? 'private' : 'public';
    share.run(id, isLarge ? frontdoorId : 'second', environmentId, name, name, mode, n);
    if (mode === 'public') frontend.run(id, name);
  }
  database.exec('commit');
  database.close();
}
