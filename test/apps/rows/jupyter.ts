import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PublicApp } from '../row.ts';

/** Runs a line of Python in a kernel, as pages of notebooks do. */
const CLIENT = `
const socket = new WebSocket(process.argv[2]);
const header = { msg_id: '1', session: 's', username: '', msg_type: 'execute_request', version: '5.3' };
const content = { code: 'print(6 * 7)', silent: false };
socket.onopen = () => socket.send(JSON.stringify({ channel: 'shell', header, parent_header: {}, metadata: {}, content }));
socket.onmessage = ({ data }) => {
  const message = JSON.parse(data);
  if (message.msg_type !== 'stream') return;
  console.log(message.content.text);
  socket.close();
};
`;

export const app: PublicApp = {
  name: 'jupyter',
  shows:
    'the page of JupyterLab, and Python in a kernel over its WebSocket, with --host-header localhost; without it the host is refused',
  needs: { python3: 'python3-venv' },
  pip: ['jupyterlab==4.4.10', 'ipykernel==6.31.0'],
  program: ({ folder, port }) => ({
    command: join(folder, 'python', 'bin', 'python'),
    args: [
      ...['-m', 'jupyterlab', '--no-browser', '--allow-root', '--IdentityProvider.token=secret'],
      ...[`--ServerApp.port=${port}`, '--ServerApp.port_retries=0', `--ServerApp.root_dir=${folder}`],
    ],
  }),
  check: async (share, { folder }) => {
    const headers = { authorization: 'token secret' };
    assert.equal((await share.ask('/api/contents', { headers })).status, 403);
    await share.change('--host-header', 'localhost');
    assert.match((await share.ask('/lab', { headers })).text, /JupyterLab/);
    await share.opened('/api/events/subscribe', headers);
    const made = await share.ask('/api/kernels', { method: 'POST', headers, body: '{}' });
    assert.equal(made.status, 201, made.text);
    const { id } = JSON.parse(made.text) as { id: string };
    writeFileSync(join(folder, 'client.mjs'), CLIENT);
    const url = `wss://${share.host}/api/kernels/${id}/channels?token=secret`;
    assert.match(await share.run(process.execPath, [join(folder, 'client.mjs'), url]), /42/);
  },
};
