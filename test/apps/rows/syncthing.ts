import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { PublicApp } from '../row.ts';

export const app: PublicApp = {
  name: 'syncthing',
  shows: 'its pages, with --host-header localhost; without it the host is refused',
  needs: { syncthing: 'syncthing' },
  program: ({ folder, port }) => ({
    command: 'syncthing',
    args: [
      ...['--no-browser', '--no-restart', '--no-upgrade', `--home=${join(folder, 'home')}`],
      `--gui-address=127.0.0.1:${port}`,
    ],
    env: { HOME: folder },
  }),
  check: async (share) => {
    const refused = await share.ask('/');
    assert.equal(refused.status, 403);
    assert.match(refused.text, /^Host check error/);
    await share.change('--host-header', 'localhost');
    assert.match((await share.ask('/')).text, /Syncthing/);
  },
};
