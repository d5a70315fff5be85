import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PublicApp } from '../row.ts';

export const app: PublicApp = {
  name: 'nginx',
  shows:
    'a site below /app with its redirects and cookies, answers of the gateway and maintenance, and nothing beside it',
  needs: { nginx: 'nginx' },
  path: '/app',
  options: ['--host-header', 'target'],
  program: ({ folder, port }) => {
    for (const [name, text] of [
      ['app/index.html', 'start'],
      ['app/dir/index.html', 'inner'],
      ['secret.txt', 'secret'],
    ] as const) {
      mkdirSync(join(folder, 'site', name, '..'), { recursive: true });
      writeFileSync(join(folder, 'site', name), text);
    }
    const settings = join(folder, 'nginx.conf');
    const lines = [
      `daemon off; pid ${folder}/pid; error_log stderr; events {}`,
      `http { access_log off; client_body_temp_path ${folder}/b; proxy_temp_path ${folder}/p;`,
      `fastcgi_temp_path ${folder}/f; uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;`,
      `server { listen 127.0.0.1:${port}; root ${folder}/site;`,
      `location /app/ { add_header Set-Cookie "seen=1; Path=/app/"; }`,
      `location = /app/moved { return 302 /app/dir/; } } }`,
    ];
    writeFileSync(settings, lines.join('\n'));
    return { command: 'nginx', args: ['-e', 'stderr', '-c', settings] };
  },
  check: async (share) => {
    const start = await share.ask('/');
    assert.deepEqual([start.status, start.text], [200, 'start']);
    assert.deepEqual(start.headers['set-cookie'], ['seen=1; Path=/']);
    assert.equal((await share.ask('/dir')).headers.location, `${share.origin}/dir/`);
    assert.equal((await share.ask('/moved')).headers.location, `${share.origin}/dir/`);
    for (const path of [
      '/../secret.txt',
      '/%2e%2e/secret.txt',
      '/..%2fsecret.txt',
      '/dir/..%2f..%2fsecret.txt',
    ])
      assert.equal((await share.ask(path)).status, 400, path);
    await share.change('--maintenance');
    assert.equal((await share.ask('/')).status, 503);
    await share.change('--no-maintenance', '--answer', '/robots.txt=User-agent: *');
    assert.equal((await share.ask('/robots.txt')).text, 'User-agent: *');
  },
};
