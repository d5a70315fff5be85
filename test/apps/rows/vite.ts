import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PublicApp } from '../row.ts';

export const app: PublicApp = {
  name: 'vite',
  shows: 'its pages, modules and hot updates, with --host-header localhost; without it the host is refused',
  npm: ['vite@7.1.12'],
  program: ({ folder, port }) => {
    writeFileSync(join(folder, 'index.html'), '<script type="module" src="/main.js"></script>hello');
    writeFileSync(join(folder, 'main.js'), 'export const n = 1; import.meta.hot?.accept();');
    const bin = join(folder, 'node_modules', 'vite', 'bin', 'vite.js');
    return {
      command: process.execPath,
      args: [bin, '--host', '127.0.0.1', '--port', String(port), '--strictPort'],
    };
  },
  check: async (share) => {
    const refused = await share.ask('/');
    assert.equal(refused.status, 403);
    assert.match(refused.text, /Blocked request/);
    await share.change('--host-header', 'localhost');
    const page = await share.ask('/', { headers: { accept: 'text/html' } });
    assert.equal(page.status, 200);
    assert.match(page.text, /hello/);
    assert.match((await share.ask('/main.js')).text, /const n = 1/);
    const client = await share.ask('/@vite/client');
    const token = /wsToken = "([^"]+)"/.exec(client.text)?.[1];
    assert.ok(token);
    const protocol = { 'sec-websocket-protocol': 'vite-hmr' };
    assert.match(await share.firstMessage(`/?token=${token}`, protocol), /"connected"/);
  },
};
