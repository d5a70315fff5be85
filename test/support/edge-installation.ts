/** An installation with the edge management API, in this process, and an administrator of that API. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '#base';
import type { FirstStart } from '#control';
import type { Up } from '../../bin/up.ts';
import { callCommand } from './command-line.ts';
import { EdgeManagementClient } from './edge-management-client.ts';
import { startLocalUp } from './local-up.ts';

export const CREDENTIALS = { username: 'root', password: 'a password of an administrator' };

export interface EdgeInstallation {
  readonly folder: string;
  readonly up: Up;
  /** The credentials of the first account. */
  readonly credentials: FirstStart;
  /** Logs in at the edge management API. */
  logIn(): Promise<EdgeManagementClient>;
  /** Writes a file of the folder and returns its path. */
  write(name: string, text: string): string;
  /** Ends everything and removes the folder. */
  close(): Promise<void>;
}

export async function openEdgeInstallation(): Promise<EdgeInstallation> {
  const folder = mkdtempSync(join(tmpdir(), 'frontdoor-edge-'));
  const dataDir = join(folder, 'data');
  const start = (): Promise<Up> =>
    startLocalUp({ dataDir, access: { edgeManagement: true }, log: silentLog });
  const first = await start();
  const credentials = first.firstStart!;
  await first.close(0);
  const write = (name: string, content: string): string => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };
  await callCommand([
    'admins',
    'create',
    '--data-dir',
    dataDir,
    '--username',
    CREDENTIALS.username,
    '--password-file',
    write('password', `${CREDENTIALS.password}\n`),
    '--out',
    join(folder, 'admin.json'),
  ]);
  const up = await start();
  return {
    folder,
    up,
    credentials,
    write,
    logIn: () => EdgeManagementClient.logIn(up.control.edgeApiUrl, CREDENTIALS),
    async close() {
      await up.close(0);
      rmSync(folder, { recursive: true });
    },
  };
}
