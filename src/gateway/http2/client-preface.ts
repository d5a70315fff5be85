/**
 * Distinguishes HTTP/2 from HTTP/1.1 on a connection without TLS, by its first bytes: clients with prior knowledge begin with a
 * fixed text (RFC 9113 §3.4). `Upgrade: h2c` is never honoured.
 */
import type { Socket } from 'node:net';

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');

/** Calls `onKnown` once enough has arrived, with everything unread. A client that sends too little in time is cut off. */
export function readPreface(socket: Socket, timeoutMs: number, onKnown: (isHttp2: boolean) => void): void {
  let bytes: Buffer = Buffer.alloc(0);
  const timer = setTimeout(() => socket.destroy(), timeoutMs);
  const stop = (): void => {
    clearTimeout(timer);
    socket.off('data', onData).off('end', onEnd).off('error', onEnd).off('close', stop);
  };
  const onEnd = (): void => void socket.destroy();
  const onData = (chunk: Buffer): void => {
    bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk]);
    const length = Math.min(bytes.length, PREFACE.length);
    const isAlike = bytes.compare(PREFACE, 0, length, 0, length) === 0;
    if (isAlike && length < PREFACE.length) return;
    stop();
    socket.pause();
    socket.unshift(bytes);
    onKnown(isAlike);
    // A session of HTTP/2 reads what is there by itself.
    if (!isAlike) socket.resume();
  };
  socket.on('data', onData).on('end', onEnd).on('error', onEnd).on('close', stop);
}
