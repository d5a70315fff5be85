import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { PublicApp } from '../row.ts';

export const app: PublicApp = {
  name: 'jupyter',
  shows: 'its API and the WebSocket of events, with --host-header localhost; without it the host is refused',
  needs: { python3: 'python3-venv' },
  pip: ['jupyter_server==2.17.0'],
  program: ({ folder, port }) => ({
    command: join(folder, 'python', 'bin', 'python'),
    args: [
      ...['-m', 'jupyter_server', '--no-browser', '--allow-root', '--IdentityProvider.token=secret'],
      ...[`--ServerApp.port=${port}`, '--ServerApp.port_retries=0', `--ServerApp.root_dir=${folder}`],
    ],
  }),
  check: async (share) => {
    const headers = { authorization: 'token secret' };
    assert.equal((await share.ask('/api/contents', { headers })).status, 403);
    await share.change('--host-header', 'localhost');
    assert.equal((await share.ask('/api/contents', { headers })).status, 200);
    await share.opened('/api/events/subscribe', headers);
  },
};
