/**
 * Takes the PROXY header from a connection of a trusted proxy, before TLS and HTTP. A connection without one ends: an
 * address that the proxy should have named must not be replaced by the proxy's own.
 */
import type { Socket } from 'node:net';
import { decodeProxyHeader, type ProxyHeaderOutcome } from '#net';

export type ProxyHeader = Extract<ProxyHeaderOutcome, { kind: 'header' }>;

export interface ProxyHeaderTaking {
  readonly timeoutMs: number;
  /** The socket is paused, and its next bytes follow the header. */
  readonly onHeader: (header: ProxyHeader) => void;
  /** The connection was closed. */
  readonly onRefused: (cause: string) => void;
}

export function takeProxyHeader(socket: Socket, { timeoutMs, onHeader, onRefused }: ProxyHeaderTaking): void {
  let bytes: Buffer = Buffer.alloc(0);
  const refuse = (cause: string): void => {
    stop();
    socket.resetAndDestroy();
    onRefused(cause);
  };
  const timer = setTimeout(() => refuse('the PROXY header was not complete in time'), timeoutMs);
  const onEnd = (): void => refuse('the connection ended before its PROXY header was complete');
  const onData = (chunk: Buffer): void => {
    bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk]);
    const outcome = decodeProxyHeader(bytes);
    if (outcome.kind === 'incomplete') return;
    if (outcome.kind === 'refused') {
      refuse(outcome.cause);
      return;
    }
    stop();
    socket.pause();
    if (bytes.length > outcome.bytes) socket.unshift(bytes.subarray(outcome.bytes));
    onHeader(outcome);
  };
  const stop = (): void => {
    clearTimeout(timer);
    socket.off('data', onData).off('end', onEnd).off('close', stop);
  };
  socket.on('error', () => {});
  socket.on('data', onData).on('end', onEnd).on('close', stop);
}
