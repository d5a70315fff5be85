// The private service at the end of every chain: the first byte of a connection asks for an endless download (D) or an
// echo (E). Prints its port.
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
    if (first[0] === 0x44) {
      socket.resume();
      download(socket);
      return;
    }
    if (first.length > 1) socket.write(first.subarray(1));
    socket.pipe(socket);
  });
});
server.listen(0, HOST, () => console.log((server.address() as AddressInfo).port));
