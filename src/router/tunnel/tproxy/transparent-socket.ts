/** Sockets that accept packets for any address. Node gets them by their descriptors. */
import {
  flag,
  int,
  openRawSocket,
  SO_RCVBUF,
  SO_RCVTIMEO,
  SOCK_DGRAM,
  SOCK_NONBLOCK,
  SOCK_STREAM,
  SOL_SOCKET,
  timeval,
  type RawSocket,
} from '../machine/raw-socket.ts';
import { AF_INET, type SocketAddress, type SocketCalls } from '../machine/socket-calls.ts';

const SO_REUSEADDR = 2;
const IPPROTO_IP = 0;
const IPPROTO_IPV6 = 41;
const IP_TRANSPARENT = 19;
const IP_RECVORIGDSTADDR = 20;
const IPV6_RECVORIGDSTADDR = 74;
const IPV6_TRANSPARENT = 75;
const IPV6_V6ONLY = 26;

/** How often a receiving thread looks whether it shall end. */
const RECEIVE_TIMEOUT_MS = 500;
const RECEIVE_BUFFER_BYTES = 4 * 1024 * 1024;

/** Returns a listening address for TCP, ready for `listen({ fd })`. */
export function openStreamSocket(c: SocketCalls, at: SocketAddress): RawSocket {
  return open(c, at, SOCK_STREAM | SOCK_NONBLOCK, () => {});
}

/**
 * Returns a socket that receives the datagrams of all sources, with their destinations, by blocking calls. The calls end
 * after a while without a datagram.
 */
export function openDatagramIntake(c: SocketCalls, at: SocketAddress): RawSocket {
  return open(c, at, SOCK_DGRAM, (set, family) => {
    if (family === AF_INET) set(IPPROTO_IP, IP_RECVORIGDSTADDR, flag(true));
    else set(IPPROTO_IPV6, IPV6_RECVORIGDSTADDR, flag(true));
    set(SOL_SOCKET, SO_RCVTIMEO, timeval(RECEIVE_TIMEOUT_MS));
    set(SOL_SOCKET, SO_RCVBUF, int(RECEIVE_BUFFER_BYTES));
  });
}

/** Returns a socket for the datagrams of one flow, bound to the address that its source sends to. */
export function openFlowSocket(c: SocketCalls, at: SocketAddress): RawSocket {
  return open(c, at, SOCK_DGRAM | SOCK_NONBLOCK, () => {});
}

function open(
  c: SocketCalls,
  at: SocketAddress,
  type: number,
  more: (set: (level: number, option: number, value: Buffer) => void, family: number) => void,
): RawSocket {
  return openRawSocket(c, at, {
    type,
    kind: 'transparent',
    setOptions: (set, family) => {
      set(SOL_SOCKET, SO_REUSEADDR, flag(true));
      if (family === AF_INET) set(IPPROTO_IP, IP_TRANSPARENT, flag(true));
      else {
        set(IPPROTO_IPV6, IPV6_TRANSPARENT, flag(true));
        set(IPPROTO_IPV6, IPV6_V6ONLY, flag(true));
      }
      more(set, family);
    },
  });
}
