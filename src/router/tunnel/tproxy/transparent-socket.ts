/**
 * Sockets that accept packets for any address, which Node cannot open by itself: they are made by calls of the C library,
 * and then given to Node by their descriptor. Linux only; the layouts are those of 64-bit systems.
 */
import type { WrappedFunctionFromSignature } from 'node:ffi';
import { endianness } from 'node:os';
import { FrontdoorError } from '#base';
import { parseAddress } from '#domain';

const AF_INET = 2;
const AF_INET6 = 10;
const SOCK_STREAM = 1;
const SOCK_DGRAM = 2;
const SOCK_NONBLOCK = 0o4000;
const SOCK_CLOEXEC = 0o2000000;
const SOL_SOCKET = 1;
const SO_REUSEADDR = 2;
const SO_RCVTIMEO = 20;
const SO_RCVBUF = 8;
const IPPROTO_IP = 0;
const IPPROTO_IPV6 = 41;
const IP_TRANSPARENT = 19;
const IP_RECVORIGDSTADDR = 20;
const IPV6_RECVORIGDSTADDR = 74;
const IPV6_TRANSPARENT = 75;
const IPV6_V6ONLY = 26;

const SOCKADDR_IN_BYTES = 16;
const SOCKADDR_IN6_BYTES = 28;
/** How often a receiving thread looks whether it shall end. */
const RECEIVE_TIMEOUT_MS = 500;
const RECEIVE_BUFFER_BYTES = 4 * 1024 * 1024;

const CALLS = {
  socket: { arguments: ['i32', 'i32', 'i32'], return: 'i32' },
  setsockopt: { arguments: ['i32', 'i32', 'i32', 'buffer', 'u32'], return: 'i32' },
  bind: { arguments: ['i32', 'buffer', 'u32'], return: 'i32' },
  getsockname: { arguments: ['i32', 'buffer', 'buffer'], return: 'i32' },
  recvmsg: { arguments: ['i32', 'buffer', 'i32'], return: 'i64' },
  close: { arguments: ['i32'], return: 'i32' },
} as const;

export type SocketCalls = {
  readonly [K in keyof typeof CALLS]: WrappedFunctionFromSignature<(typeof CALLS)[K]>;
};

export interface SocketAddress {
  readonly address: string;
  readonly port: number;
}

export interface TransparentSocket {
  readonly fd: number;
  readonly port: number;
}

let calls: Promise<SocketCalls> | undefined;

/** @throws FrontdoorError `unavailable` on systems without these calls. */
export function socketCalls(): Promise<SocketCalls> {
  calls ??= loadCalls();
  return calls;
}

async function loadCalls(): Promise<SocketCalls> {
  try {
    const { dlopen } = await import('node:ffi');
    if (endianness() !== 'LE') throw new Error('the system is big-endian');
    return dlopen(null, CALLS).functions;
  } catch (cause) {
    const message = `mode tproxy needs calls of the system's C library: ${(cause as Error).message}`;
    throw new FrontdoorError('unavailable', 'no-transparent-sockets', message, { cause });
  }
}

/** Returns a listening address for TCP, ready for `listen({ fd })`. */
export function openStreamSocket(c: SocketCalls, at: SocketAddress): TransparentSocket {
  return open(c, at, SOCK_STREAM | SOCK_NONBLOCK, () => {});
}

/**
 * Returns a socket that receives the datagrams of all sources, with their destinations, by blocking calls. The calls end
 * after a while without a datagram.
 */
export function openDatagramIntake(c: SocketCalls, at: SocketAddress): TransparentSocket {
  return open(c, at, SOCK_DGRAM, (set, family) => {
    if (family === AF_INET) set(IPPROTO_IP, IP_RECVORIGDSTADDR, flag(true));
    else set(IPPROTO_IPV6, IPV6_RECVORIGDSTADDR, flag(true));
    set(SOL_SOCKET, SO_RCVTIMEO, timeval(RECEIVE_TIMEOUT_MS));
    set(SOL_SOCKET, SO_RCVBUF, int(RECEIVE_BUFFER_BYTES));
  });
}

/** Returns a socket for the datagrams of one flow, bound to the address that its source sends to. */
export function openFlowSocket(c: SocketCalls, at: SocketAddress): TransparentSocket {
  return open(c, at, SOCK_DGRAM | SOCK_NONBLOCK, () => {});
}

function open(
  c: SocketCalls,
  { address, port }: SocketAddress,
  type: number,
  more: (set: (level: number, option: number, value: Buffer) => void, family: number) => void,
): TransparentSocket {
  const bytes = parseAddress(address)!;
  const family = bytes.length === 4 ? AF_INET : AF_INET6;
  const fd = c.socket(family, type | SOCK_CLOEXEC, 0);
  const fail = (call: string): never => {
    if (fd >= 0) c.close(fd);
    const message = `the system refused a transparent socket at ${address} port ${port} (${call})`;
    throw new FrontdoorError('unavailable', 'no-transparent-sockets', message);
  };
  if (fd < 0) fail('socket');
  const set = (level: number, option: number, value: Buffer): void => {
    if (c.setsockopt(fd, level, option, value, value.length) !== 0) fail(`setsockopt ${level}/${option}`);
  };
  set(SOL_SOCKET, SO_REUSEADDR, flag(true));
  if (family === AF_INET) set(IPPROTO_IP, IP_TRANSPARENT, flag(true));
  else {
    set(IPPROTO_IPV6, IPV6_TRANSPARENT, flag(true));
    set(IPPROTO_IPV6, IPV6_V6ONLY, flag(true));
  }
  more(set, family);
  const name = sockaddr(family, bytes, port);
  if (c.bind(fd, name, name.length) !== 0) fail('bind');
  const bound = Buffer.alloc(SOCKADDR_IN6_BYTES);
  if (c.getsockname(fd, bound, int(bound.length)) !== 0) fail('getsockname');
  return { fd, port: bound.readUInt16BE(2) };
}

function sockaddr(family: number, bytes: Uint8Array, port: number): Buffer {
  const name = Buffer.alloc(family === AF_INET ? SOCKADDR_IN_BYTES : SOCKADDR_IN6_BYTES);
  name.writeUInt16LE(family, 0);
  name.writeUInt16BE(port, 2);
  name.set(bytes, family === AF_INET ? 4 : 8);
  return name;
}

/** Reads a `sockaddr_in` or `sockaddr_in6`. */
export function readSocketAddress(name: Buffer): SocketAddress {
  const port = name.readUInt16BE(2);
  if (name.readUInt16LE(0) === AF_INET) return { address: name.subarray(4, 8).join('.'), port };
  const groups = Array.from({ length: 8 }, (_, index) => name.readUInt16BE(8 + index * 2).toString(16));
  return { address: new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1), port };
}

function flag(value: boolean): Buffer {
  return int(Number(value));
}

function int(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeInt32LE(value);
  return buffer;
}

function timeval(ms: number): Buffer {
  const buffer = Buffer.alloc(16);
  buffer.writeBigInt64LE(BigInt(Math.floor(ms / 1_000)), 0);
  buffer.writeBigInt64LE(BigInt((ms % 1_000) * 1_000), 8);
  return buffer;
}
