import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PublicApp } from '../row.ts';

export const app: PublicApp = {
  name: 'webpack-dev-server',
  shows: 'its pages, bundle and hot updates, with --host-header localhost; without it the host is refused',
  npm: ['webpack@5.102.1', 'webpack-cli@6.0.1', 'webpack-dev-server@5.2.2'],
  program: ({ folder, port }) => {
    for (const name of ['src', 'public']) mkdirSync(join(folder, name), { recursive: true });
    writeFileSync(join(folder, 'src', 'index.js'), 'document.title = "hello";');
    writeFileSync(join(folder, 'public', 'index.html'), '<script src="/main.js"></script>hello');
    const bin = join(folder, 'node_modules', 'webpack', 'bin', 'webpack.js');
    const args = [bin, 'serve', '--mode', 'development', '--host', '127.0.0.1', '--port', String(port)];
    return { command: process.execPath, args };
  },
  check: async (share) => {
    const refused = await share.ask('/');
    assert.match(refused.text, /Invalid Host header/);
    await share.change('--host-header', 'localhost');
    const page = await share.ask('/');
    assert.equal(page.status, 200);
    assert.match(page.text, /hello/);
    assert.match((await share.ask('/main.js')).text, /hello/);
    assert.match(await share.firstMessage('/ws'), /"type"/);
  },
};
