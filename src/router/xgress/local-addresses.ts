/** The addresses of local connections, and how the other side of a circuit receives them. */
import { formatHostPort, utf8 } from '#base';
import { headerId } from '#wire';

const { peerData } = headerId;

export interface LocalAddresses {
  readonly localAddress?: string | undefined;
  readonly localPort?: number | undefined;
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
}

/** Returns the addresses of a local connection as the far end receives them. */
export function initiatorAddresses(connection: LocalAddresses): Map<number, Uint8Array> {
  return new Map([
    [peerData.initiatorLocalAddress, addressOf(connection.localAddress, connection.localPort)],
    [peerData.initiatorRemoteAddress, addressOf(connection.remoteAddress, connection.remotePort)],
  ]);
}

/** Returns the peer data of a connection to a service. */
export function terminatorAddresses(connection: LocalAddresses): Map<number, Uint8Array> {
  const { localAddress, localPort, remoteAddress, remotePort } = connection;
  return new Map([
    [peerData.terminatorLocalAddress, addressOf(localAddress, localPort)],
    [peerData.terminatorRemoteAddress, addressOf(remoteAddress, remotePort)],
  ]);
}

function addressOf(host: string | undefined, port: number | undefined): Uint8Array {
  return utf8(formatHostPort(host ?? '', port ?? 0));
}
