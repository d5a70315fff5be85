import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PublicApp } from '../row.ts';

/** Signs in over the WebSocket and asks for the configuration. */
const CLIENT = `
const [, , url, access_token] = process.argv;
const socket = new WebSocket(url);
socket.onmessage = ({ data }) => {
  const message = JSON.parse(data);
  if (message.type === 'auth_required') socket.send(JSON.stringify({ type: 'auth', access_token }));
  if (message.type === 'auth_ok') socket.send(JSON.stringify({ id: 1, type: 'get_config' }));
  if (message.type === 'result') { console.log(message.result.state); socket.close(); }
};
`;

export const app: PublicApp = {
  name: 'home-assistant',
  shows: 'its page, first account, sign-in and WebSocket, with use_x_forwarded_for and trusted_proxies',
  needs: { 'python3.11': 'python3.11-venv' },
  python: 'python3.11',
  pip: ['homeassistant==2024.3.3', 'josepy==1.15.0'],
  program: ({ folder, port }) => {
    const config = join(folder, 'config');
    rmSync(config, { recursive: true, force: true });
    mkdirSync(config);
    const http = [`server_host: 127.0.0.1`, `server_port: ${port}`];
    const forwarded = ['use_x_forwarded_for: true', 'trusted_proxies: [127.0.0.1]'];
    const lines = ['http:', ...[...http, ...forwarded].map((line) => `  ${line}`), 'frontend:', 'api:'];
    writeFileSync(join(config, 'configuration.yaml'), `${lines.join('\n')}\n`);
    return { command: join(folder, 'python', 'bin', 'hass'), args: ['-c', config] };
  },
  check: async (share, { folder }) => {
    assert.match((await share.ask('/onboarding.html')).text, /Home Assistant/);
    const client_id = `${share.origin}/`;
    const person = { name: 'Ann', username: 'ann', password: 'a long password', language: 'en' };
    const json = { method: 'POST', headers: { 'content-type': 'application/json' } };
    const made = await share.ask('/api/onboarding/users', {
      ...json,
      body: JSON.stringify({ client_id, ...person }),
    });
    assert.equal(made.status, 200, made.text);
    const { auth_code: code } = JSON.parse(made.text) as { auth_code: string };
    const token = await share.ask('/auth/token', {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: String(new URLSearchParams({ client_id, grant_type: 'authorization_code', code })),
    });
    assert.equal(token.status, 200, token.text);
    const { access_token } = JSON.parse(token.text) as { access_token: string };
    writeFileSync(join(folder, 'client.mjs'), CLIENT);
    const args = [join(folder, 'client.mjs'), `wss://${share.host}/api/websocket`, access_token];
    assert.match(await share.run(process.execPath, args), /RUNNING|NOT_RUNNING|STARTING/);
  },
};
