/** Downloads through a share whose readers take a fixed number of bytes a second each. */
import { connect, type Socket } from 'node:net';

const STEPS_PER_S = 10;

export interface SlowDownloads {
  /** Those whose connection is open. */
  readonly openCount: number;
  readonly receivedBytes: number;
  close(): void;
}

export function openSlowDownloads(
  gatewayUrl: string,
  host: string,
  path: string,
  { count, bytesPerS }: { readonly count: number; readonly bytesPerS: number },
): SlowDownloads {
  const open = new Set<Socket>();
  let receivedBytes = 0;
  for (let index = 0; index < count; index += 1) {
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(gatewayUrl).port) });
    socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    // With a listener, and without reading, the stream fills up to its mark and then stops the connection.
    socket.on('readable', () => {});
    socket.on('error', () => {});
    socket.on('close', () => open.delete(socket));
    open.add(socket);
  }
  const timer = setInterval(() => {
    for (const socket of open) {
      const bytes = Math.min(socket.readableLength, bytesPerS / STEPS_PER_S);
      if (bytes > 0) receivedBytes += (socket.read(bytes) as Buffer).length;
    }
  }, 1_000 / STEPS_PER_S);
  return {
    get openCount() {
      return open.size;
    },
    get receivedBytes() {
      return receivedBytes;
    },
    close: () => {
      clearInterval(timer);
      for (const socket of open) socket.destroy();
    },
  };
}
