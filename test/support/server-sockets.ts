/** Servers of tests that end with all their connections, also with those that nothing reads. */
import type { Server, Socket } from 'node:net';

/** Call it before the server listens, and the answer to close it and to destroy what it has accepted. */
export function closerOf(
  server: Pick<Server, 'close'> & { on(event: 'connection', listener: (socket: Socket) => void): unknown },
): () => void {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
}
