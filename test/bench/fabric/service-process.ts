// The private service at the end of every chain: the first byte of a connection asks for an endless download (D), for
// nothing in return (U), for two bytes for each one (Q), or for an echo (E). Prints its port.
import { createServer, type AddressInfo, type Socket } from 'node:net';

const HOST = '127.0.0.1';
const PIECE = Buffer.alloc(256 * 1024, 'frontdoor fabric ');

function download(socket: Socket): void {
  const fill = (): void => {
    while (!socket.destroyed && socket.write(PIECE));
  };
  socket.on('drain', fill);
  fill();
}

const server = createServer({ noDelay: true }, (socket) => {
  socket.on('error', () => socket.destroy());
  socket.once('data', (first: Buffer) => {
    const asked = String.fromCharCode(first[0]!);
    const answer = (bytes: Buffer): void => {
      if (bytes.length > 0) socket.write(asked === 'Q' ? Buffer.alloc(2 * bytes.length, 'a') : bytes);
    };
    if (asked === 'D' || asked === 'U') socket.resume();
    else answer(first.subarray(1));
    if (asked === 'D') download(socket);
    if (asked === 'Q') socket.on('data', answer);
    if (asked === 'E') socket.pipe(socket);
  });
});
server.listen(0, HOST, () => console.log((server.address() as AddressInfo).port));
