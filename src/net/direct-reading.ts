/**
 * Reads a socket without Node's queue for readable streams. That queue plans another read after each chunk
 * (`maybeReadMore`), which costs as much as reading a request's head.
 */
import type { Socket } from 'node:net';
import { setHandlers } from '#base';
import { failAlone } from './containment.ts';

/**
 * Calls `onBytes` as a listener of `data` is called: in order, and not while the socket is paused. A chunk that comes while
 * nothing waits is handed over at once; others, and the end, go through the queue. An exception in it ends this connection alone.
 */
export function readDirectly(socket: Socket, onBytes: (bytes: Buffer) => void): void {
  // Node hands over what it has read, and null at the end, by this method of the socket.
  const take = (bytes: Buffer): void => {
    try {
      onBytes(bytes);
    } catch (error) {
      const id = `with ${socket.remoteAddress}:${socket.remotePort}`;
      failAlone({ kind: 'connection', id, fail: () => socket.destroy() }, error);
    }
  };
  const { push } = socket;
  setHandlers(socket, {
    push: (chunk: Buffer | null, encoding?: BufferEncoding): boolean => {
      if (chunk === null || socket.readableFlowing !== true || socket.readableLength > 0)
        return push.call(socket, chunk, encoding);
      take(chunk);
      return true;
    },
  });
  socket.on('data', take);
}
