/**
 * The time of an HTTPS server whose certificate may not be trusted, as when the clock of this machine is wrong. It is shown to
 * people, and nothing is decided by it.
 */
import { bareHost } from '#base';
import type { Socket } from 'node:net';
import { connect } from 'node:tls';
import type { OutwardDialer } from '../outward/outward-dialer.ts';
import { serverNameOf } from '../server-name.ts';

const TIMEOUT_MS = 3_000;
const MAX_HEAD_BYTES = 16_384;

/** Returns milliseconds since 1970, or undefined if the server does not answer in time. Never rejects. */
export async function serverDateOf(
  origin: string,
  outward: OutwardDialer,
  timeoutMs = TIMEOUT_MS,
): Promise<number | undefined> {
  const { hostname, host, port } = new URL(origin);
  const name = bareHost(hostname);
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const tcp = await outward.connect({ host: name, port: Number(port || 443) }, { signal });
    // Only the time is read, and nothing secret is sent.
    const socket = connect({
      socket: tcp,
      servername: serverNameOf(name),
      ALPNProtocols: ['http/1.1'],
      rejectUnauthorized: false,
    });
    socket.write(`HEAD / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    const head = await headOf(socket, signal);
    const ms = Date.parse(/^date:(.*)$/im.exec(head)?.[1] ?? '');
    return Number.isNaN(ms) ? undefined : ms;
  } catch {
    return undefined;
  }
}

function headOf(socket: Socket, signal: AbortSignal): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let head = '';
  const end = (): void => {
    socket.destroy();
    resolve(head);
  };
  socket.on('data', (chunk: Buffer) => {
    head += chunk.toString('latin1');
    if (head.includes('\r\n\r\n') || head.length > MAX_HEAD_BYTES) end();
  });
  socket.on('error', end).on('close', end);
  signal.addEventListener('abort', end, { once: true });
  return promise;
}
