// The private WebSocket service: `ws` sends every message back. Prints its port.
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';

const server = new WebSocketServer({
  port: 0,
  host: '127.0.0.1',
  perMessageDeflate: false,
  maxPayload: 65_536,
});
server.on('connection', (socket) => {
  socket.on('error', () => socket.terminate());
  socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }));
});
server.on('listening', () => console.log((server.address() as AddressInfo).port));
