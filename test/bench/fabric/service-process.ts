// The private service at the end of every chain: the first byte of a connection asks for an endless download (D) or an
// echo (E). With the argument `"udp"`, it returns every datagram instead. Prints its port.
import { createSocket } from 'node:dgram';
import { createServer, type AddressInfo, type Socket } from 'node:net';

const HOST = '127.0.0.1';
const PIECE = Buffer.alloc(256 * 1024, 'frontdoor fabric ');
const DATAGRAM_BUFFER_BYTES = 4 * 1024 * 1024;

function download(socket: Socket): void {
  const fill = (): void => {
    while (!socket.destroyed && socket.write(PIECE));
  };
  socket.on('drain', fill);
  fill();
}

function returnDatagrams(): void {
  const [recvBufferSize, sendBufferSize] = [DATAGRAM_BUFFER_BYTES, DATAGRAM_BUFFER_BYTES];
  const socket = createSocket({ type: 'udp4', recvBufferSize, sendBufferSize });
  socket.on('message', (datagram, { port, address }) => socket.send(datagram, port, address));
  socket.bind(0, HOST, () => console.log(socket.address().port));
}

function serveConnections(): void {
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
}

if (JSON.parse(process.argv[2]!) === 'udp') returnDatagrams();
else serveConnections();
