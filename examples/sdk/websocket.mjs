// Opens a WebSocket to a service with ws: `node websocket.mjs IDENTITY_FILE SERVICE TEXT`.
import { once } from 'node:events';
import { openOverlay } from '@frontdoor-dev/frontdoor/sdk';
import WebSocket from 'ws';

const [identityFile, service, text] = process.argv.slice(2);
const overlay = await openOverlay({ identityFile });

const stream = await overlay.dial(service, { signal: AbortSignal.timeout(10_000) });
const socket = new WebSocket(`ws://${service}/`, { createConnection: () => stream });
await once(socket, 'open');
socket.send(text);
const [answer] = await once(socket, 'message');
console.log(String(answer));
socket.close();
await once(socket, 'close');
await overlay.close();
