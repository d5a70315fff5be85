import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { test } from 'node:test';
import { WebSocketServer } from 'ws';
import { within } from '../../support/deadline.ts';
import { clientMessage, serverMessage, upgradeRequest } from './websocket-frames.ts';

test('a real WebSocket server upgrades the load and its echo is what the load compares with', async (t) => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
  t.after(() => server.close());
  server.on('connection', (socket) =>
    socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary })),
  );
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = connect(port, '127.0.0.1');
  t.after(() => client.destroy());
  client.write(upgradeRequest('x.example', '/echo', { 'x-api-key': 'k' }));
  const [head] = (await within('the upgrade', once(client, 'data'))) as [Buffer];
  assert.match(head.toString('latin1'), /^HTTP\/1\.1 101 [\s\S]*\r\n\r\n$/);
  client.write(clientMessage('there and back'));
  const [answer] = (await within('the echo', once(client, 'data'))) as [Buffer];
  assert.deepEqual(answer, serverMessage('there and back'));
});

test('a message too long for the short form is refused', () => {
  assert.throws(() => clientMessage('x'.repeat(126)), RangeError);
});
