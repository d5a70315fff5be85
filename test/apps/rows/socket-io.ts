import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PublicApp } from '../row.ts';

const SERVER = `
  import { Server } from 'socket.io';
  const io = new Server(Number(process.argv[2]), { cors: { origin: false } });
  io.on('connection', (socket) => {
    socket.on('echo', (data, answer) => answer(data));
    socket.on('join', async (room, answer) => { await socket.join(room); answer(); });
    socket.on('say', (room, text) => io.to(room).emit('said', text));
  });
`;

/** Two clients: one begins with polling and upgrades, the other only polls. */
const CLIENT = `
  import assert from 'node:assert/strict';
  import { once } from 'node:events';
  import { HttpsProxyAgent } from 'https-proxy-agent';
  import { io } from 'socket.io-client';
  const agent = new HttpsProxyAgent(process.env.HTTPS_PROXY);
  const [upgrading, polling] = [['polling', 'websocket'], ['polling']].map((transports) => io(process.argv[2], { agent, transports }));
  const upgraded = new Promise((resolve) => upgrading.io.engine.once('upgrade', resolve));
  await Promise.all([upgrading, polling].map((socket) => socket.emitWithAck('join', 'room')));
  const { name } = await upgraded;
  assert.equal(name, 'websocket');
  const bytes = Buffer.alloc(500_000, 7);
  for (const socket of [upgrading, polling]) assert.ok(bytes.equals(await socket.emitWithAck('echo', bytes)));
  const said = [upgrading, polling].map((socket) => new Promise((resolve) => socket.once('said', resolve)));
  polling.emit('say', 'room', 'hello');
  assert.deepEqual(await Promise.all(said), ['hello', 'hello']);
  for (const socket of [upgrading, polling]) socket.disconnect();
`;

export const app: PublicApp = {
  name: 'socket-io',
  shows: 'polling and the upgrade to a WebSocket, binary messages of 500 kB both ways, and a room',
  npm: ['socket.io@4.8.1', 'socket.io-client@4.8.1', 'https-proxy-agent@7.0.6'],
  program: ({ folder, port }) => {
    writeFileSync(join(folder, 'server.mjs'), SERVER);
    return { command: process.execPath, args: ['server.mjs', String(port)] };
  },
  check: async (share, { folder }) => {
    writeFileSync(join(folder, 'client.mjs'), CLIENT);
    await share.run(process.execPath, [join(folder, 'client.mjs'), share.origin]);
  },
};
