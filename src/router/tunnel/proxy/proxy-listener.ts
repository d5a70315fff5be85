/** One TCP port of mode `proxy`: each of its connections becomes a circuit to the service. */
import type { Socket } from 'node:net';
import { formatHostPort, messageOf, type Log } from '#base';
import { openTcpListener, type TcpListener } from '../../xgress/tcp-listener.ts';
import { resetConnection, WaitingConnections } from '../../xgress/waiting-connections.ts';
import type { TunnelDialer, TunnelDialRequest } from '../circuits/tunnel-circuits.ts';
import type { TunnelService } from '../services/tunnel-service.ts';
import type { ProxyTarget } from './proxy-target.ts';

/** Time limit for a circuit to the service. */
const DIAL_TIMEOUT_MS = 5_000;

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
      if (waiting.add(socket) !== undefined) void openCircuit(options, socket, waiting);
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

/** Dials the service of a port for one client. Rejects like the dialer, and if the service was lost. */
export async function dialTarget(
  { target, service, dialer, log }: ProxyListenerOptions,
  connection: TunnelDialRequest['connection'],
): Promise<void> {
  const { host, port, protocol, place } = target;
  const current = service();
  try {
    if (current === undefined) throw new Error('the service was lost');
    await dialer.dial({
      service: current,
      connection,
      protocol,
      // The address that the client dialed, as OpenZiti's proxies send it.
      appData: { dst_protocol: protocol, dst_ip: host, dst_port: String(port) },
      instanceId: '',
      connectTimeoutMs: DIAL_TIMEOUT_MS,
    });
  } catch (error) {
    const peer = formatHostPort(connection.remoteAddress ?? '', connection.remotePort ?? 0);
    log.info(
      { listener: place, protocol, peer, service: current?.name, err: messageOf(error) },
      'no circuit for a client',
    );
    throw error;
  }
}

async function openCircuit(
  options: ProxyListenerOptions,
  socket: Socket,
  waiting: WaitingConnections,
): Promise<void> {
  try {
    await dialTarget(options, socket);
  } catch {
    resetConnection(socket);
  }
  waiting.remove(socket);
}
