/** One TCP port of mode `proxy`: each of its connections becomes a circuit to the service. */
import type { Socket } from 'node:net';
import { messageOf, type Log } from '#base';
import { openTcpListener, type TcpListener } from '../../xgress/tcp-listener.ts';
import { resetConnection, WaitingConnections } from '../../xgress/waiting-connections.ts';
import type { TunnelDialer } from '../circuits/tunnel-circuits.ts';
import type { TunnelService } from '../services/tunnel-service.ts';
import type { ProxyTarget } from './proxy-target.ts';

/** Time limit for a circuit to the service. */
export const DIAL_TIMEOUT_MS = 5_000;

export interface ProxyListenerOptions {
  readonly target: ProxyTarget;
  /** Returns the current state of the service; undefined if it was lost. */
  service(): TunnelService | undefined;
  readonly dialer: TunnelDialer;
  readonly log: Log;
}

/** An open port. */
export interface ProxyListener {
  readonly port: number;
  /** Accepts no more connections, and closes those that wait for a circuit. Circuits remain. */
  close(): void;
}

/** Rejects with `conflict` when the port is in use, and `unavailable` when it cannot be opened. */
export async function openProxyTcpListener(options: ProxyListenerOptions): Promise<ProxyListener> {
  const { target, log } = options;
  const waiting = new WaitingConnections(target.place, log);
  const listener: TcpListener = await openTcpListener({
    ...target,
    log,
    onConnection: (socket) => {
      const peer = waiting.add(socket);
      if (peer !== undefined) void openCircuit(options, socket, waiting, peer);
    },
  });
  return {
    port: listener.port,
    close: () => {
      listener.close();
      waiting.close();
    },
  };
}

/** The data for the host: the address that the client dialed, as OpenZiti's proxies send it. */
export function proxyAppData({ host, port, protocol }: ProxyTarget): Record<string, string> {
  return { dst_protocol: protocol, dst_ip: host, dst_port: String(port) };
}

async function openCircuit(
  { target, service, dialer, log }: ProxyListenerOptions,
  socket: Socket,
  waiting: WaitingConnections,
  peer: string,
): Promise<void> {
  const current = service();
  try {
    if (current === undefined) throw new Error('the service was lost');
    await dialer.dial({
      service: current,
      connection: socket,
      protocol: 'tcp',
      appData: proxyAppData(target),
      instanceId: '',
      connectTimeoutMs: DIAL_TIMEOUT_MS,
    });
  } catch (error) {
    log.info(
      { listener: target.place, peer, service: current?.name, err: messageOf(error) },
      'no circuit for a connection',
    );
    resetConnection(socket);
  }
  waiting.remove(socket);
}
