/** A TCP connection to a service: its options, and the wait until it is established, for any dialer of circuits. */
import type { Socket } from 'node:net';
import { FrontdoorError } from '#base';
import { dialFailure, dialTimeoutMs, type DialLimits } from './dial-outcome.ts';

const KEEP_ALIVE_MS = 15_000;

/** Both directions end separately, and the peer's loss is noticed. */
export const SERVICE_SOCKET_OPTIONS = {
  allowHalfOpen: true,
  noDelay: true,
  keepAlive: true,
  keepAliveInitialDelay: KEEP_ALIVE_MS,
} as const;

/**
 * Resolves when `socket` emits `event`. Otherwise destroys it and rejects: with `dial-timeout` when it is not established
 * in time, with `unrouted` when the circuit ended in the meantime, or with the reason of the failure.
 */
export function whenEstablished(
  socket: Socket,
  event: 'connect' | 'secureConnect',
  dial: DialLimits,
  connectTimeoutMs: number,
): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const timeoutMs = dialTimeoutMs(dial, connectTimeoutMs);
  const fail = (error: FrontdoorError): void => {
    socket.destroy();
    settle();
    reject(error);
  };
  const timer = setTimeout(() => {
    const text = `the service did not take the connection within ${Math.round(timeoutMs)} ms`;
    fail(new FrontdoorError('timeout', 'dial-timeout', text));
  }, timeoutMs);
  const onAbort = (): void => fail(new FrontdoorError('conflict', 'unrouted', 'the circuit was unrouted'));
  const onError = (error: NodeJS.ErrnoException): void => fail(dialFailure(error));
  const settle = (): void => {
    clearTimeout(timer);
    dial.signal.removeEventListener('abort', onAbort);
    socket.off('error', onError);
    // The circuit's own end handles later errors.
    socket.on('error', () => {});
  };
  dial.signal.addEventListener('abort', onAbort);
  socket.on('error', onError);
  socket.once(event, () => {
    settle();
    resolve(socket);
  });
  return promise;
}
