/** UDP sockets: their families, how they bind, and how they send without an unbounded queue. */
import { createSocket, type Socket, type SocketType } from 'node:dgram';
import { lookup as lookupName } from 'node:dns';
import { isIP, isIPv6 } from 'node:net';
import { listenFailure } from '../listen-on.ts';

/** While the kernel has not accepted this number of datagrams, the next one waits. */
const MAX_UNSENT_DATAGRAMS = 64;
const RECEIVE_BUFFER_BYTES = 1024 * 1024;

/** The networks of addresses of datagrams; `udp` is either family. */
const UDP_NETWORKS = ['udp', 'udp4', 'udp6'] as const;
export type UdpNetwork = (typeof UDP_NETWORKS)[number];

export function openUdpSocket(type: SocketType, ipv6Only = false, reusePort = false): Socket {
  return createSocket({ type, ipv6Only, reusePort, recvBufferSize: RECEIVE_BUFFER_BYTES, lookup });
}

/** Resolves IP addresses at once, because otherwise each datagram would wait for a turn of the event loop. */
function lookup(
  host: string,
  family: unknown,
  done: (error: Error | null, address: string, family: number) => void,
): void {
  const known = isIP(host);
  if (known !== 0) done(null, host, known);
  else lookupName(host, { family: family as number }, done);
}

/**
 * Opens the socket of a listener. An empty host is all addresses, of both families where this machine has both.
 * Rejects with `conflict` if the port is taken, and `unavailable` if the address cannot be bound; `path` is part of
 * the message.
 */
export async function listenUdp(
  network: UdpNetwork,
  host: string,
  port: number,
  path: string,
  /** Whether other processes of this user that set it too share the port. */
  isShared = false,
): Promise<Socket> {
  const isSix = network === 'udp6' || (network === 'udp' && (host === '' || isIPv6(host)));
  try {
    return await bound(openUdpSocket(isSix ? 'udp6' : 'udp4', network === 'udp6', isShared), host, port);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EAFNOSUPPORT' && network === 'udp' && host === '')
      return listenUdp('udp4', '', port, path, isShared);
    throw listenFailure(error, { host, port, place: path });
  }
}

/** Binds the socket, and closes it if that fails. */
export async function bound(socket: Socket, host: string, port: number): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const onError = (error: Error): void => {
    socket.close();
    reject(error);
  };
  socket.once('error', onError);
  socket.bind({ ...(host === '' ? {} : { address: host }), port, exclusive: true }, () => {
    socket.off('error', onError);
    resolve(socket);
  });
  return promise;
}

/**
 * Sends a datagram: to `host` and `port`, or to the peer of a connected socket. Calls `sent` at once while the kernel
 * accepts datagrams, otherwise when it has accepted this one. A datagram that cannot be sent, such as one that is too
 * large, is lost like one on the network; `settled` receives the error, or null.
 */
export function sendDatagram(
  socket: Socket,
  datagram: Uint8Array,
  to: { readonly host: string; readonly port: number } | undefined,
  sent: () => void,
  settled: (error: Error | null) => void = ignore,
): void {
  const mustWait = socket.getSendQueueCount() >= MAX_UNSENT_DATAGRAMS;
  const done = mustWait ? (error: Error | null) => (settled(error), sent()) : settled;
  if (to === undefined) socket.send(datagram, done);
  else socket.send(datagram, to.port, to.host, done);
  if (!mustWait) sent();
}

function ignore(): void {}
