// Hosts a service with node:http: `node host-http.mjs IDENTITY_FILE SERVICE`. It opens no port. WebSockets are answered by `ws`.
import { createServer } from 'node:http';
import { openOverlay } from '@frontdoor-dev/frontdoor/sdk';
import { WebSocketServer } from 'ws';

const [identityFile, service] = process.argv.slice(2);
const overlay = await openOverlay({ identityFile });

const http = createServer((request, response) => {
  response.end(`hello from ${service}: ${request.method} ${request.url}\n`);
});
const sockets = new WebSocketServer({ server: http });
sockets.on('connection', (socket) => {
  socket.on('message', (data) => socket.send(`echo ${data}`));
});

const server = await overlay.bind(service);
server.on('connection', (stream) => http.emit('connection', stream));
console.log(`hosting ${service}`);

process.once('SIGTERM', () => void overlay.close());
