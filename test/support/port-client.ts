/** Clients of a port that a tunnel opens, which know nothing of the overlay, and a service of datagrams. */
import { createSocket, type Socket as DatagramSocket } from 'node:dgram';
import { connect } from 'node:net';
import { within } from './deadline.ts';

const WAIT_MS = 30_000;
const MOMENT_MS = 500;

/** Sends `text` with the end of the stream, and resolves with what came back until the end of the other direction. */
export function askPort(port: number, text: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
  let answer = '';
  socket.setEncoding('utf8');
  socket.on('data', (chunk) => (answer += String(chunk)));
  socket.on('end', () => resolve(answer));
  socket.on('error', reject);
  socket.on('close', () => reject(new Error('closed')));
  socket.end(text);
  return within('the answer', promise, WAIT_MS);
}

/** Sends `text`, resolves when it came back whole, and closes the connection. */
export function pingPort(port: number, text: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = connect({ host: '127.0.0.1', port });
  let answer = '';
  socket.setEncoding('utf8');
  socket.on('data', (chunk) => {
    answer += String(chunk);
    if (answer === text) resolve();
  });
  socket.on('error', reject);
  socket.on('close', () => reject(new Error(`closed after "${answer}"`)));
  socket.write(text);
  return within('the answer', promise, WAIT_MS).finally(() => socket.destroy());
}

export interface UdpClient {
  /** Resolves with the next datagram, or undefined after a moment without one. */
  exchange(port: number, text: string): Promise<string | undefined>;
  close(): void;
}

export async function udpClient(): Promise<UdpClient> {
  const socket = createSocket('udp4');
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return {
    exchange: (port, text) => {
      const { promise, resolve } = Promise.withResolvers<string | undefined>();
      const timer = setTimeout(() => resolve(undefined), MOMENT_MS);
      socket.once('message', (datagram) => resolve(String(datagram)));
      socket.send(text, port, '127.0.0.1');
      return promise.finally(() => clearTimeout(timer));
    },
    close: () => void socket.close(),
  };
}

/** On 127.0.0.1 at a free port; sends each datagram back. */
export async function startUdpEcho(): Promise<DatagramSocket> {
  const socket = createSocket('udp4', (datagram, { port, address }) => {
    socket.send(datagram, port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return socket;
}
