/** Waits for the end of a connection that tests do not end themselves. */
import type { Socket } from 'node:net';

/** Resolves once it is closed, also when it was reset on the way: `once` would reject then. */
export function closeOf(socket: Socket): Promise<void> {
  // It may still report its error, and nobody else need listen for it.
  socket.on('error', () => {});
  if (socket.closed) return Promise.resolve();
  return new Promise((resolve) => socket.once('close', () => resolve()));
}
