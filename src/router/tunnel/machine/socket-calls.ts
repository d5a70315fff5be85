/**
 * Calls of the C library for sockets that Node cannot open or read by itself, through `node:ffi` (ADR 0039). Linux only; the
 * layouts are those of 64-bit systems.
 */
import type { WrappedFunctionFromSignature } from 'node:ffi';
import { endianness } from 'node:os';
import { FrontdoorError, lazy } from '#base';

export const AF_INET = 2;
/** `struct sockaddr_in6`, the largest name of a socket. */
export const SOCKADDR_IN6_BYTES = 28;
const MAPPED_PREFIX = Buffer.from('00000000000000000000ffff', 'hex');

const CALLS = {
  socket: { arguments: ['i32', 'i32', 'i32'], return: 'i32' },
  setsockopt: { arguments: ['i32', 'i32', 'i32', 'buffer', 'u32'], return: 'i32' },
  bind: { arguments: ['i32', 'buffer', 'u32'], return: 'i32' },
  getsockname: { arguments: ['i32', 'buffer', 'buffer'], return: 'i32' },
  // Lengths of datagrams are below 2^16, so the lower half of what it returns is enough.
  recvmsg: { arguments: ['i32', 'pointer', 'i32'], return: 'i32' },
  close: { arguments: ['i32'], return: 'i32' },
} as const;

export type SocketCalls = {
  readonly [K in keyof typeof CALLS]: WrappedFunctionFromSignature<(typeof CALLS)[K]>;
};

export interface SocketAddress {
  readonly address: string;
  readonly port: number;
}

/** @throws FrontdoorError `unavailable` on systems without these calls. */
export const socketCalls: () => Promise<SocketCalls> = lazy(loadCalls);

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

/** Reads a `sockaddr_in` or `sockaddr_in6`. An IPv4 address that is written as IPv6 is returned as IPv4. */
export function readSocketAddress(name: Buffer): SocketAddress {
  const port = name.readUInt16BE(2);
  if (name.readUInt16LE(0) === AF_INET) return { address: dotted(name, 4), port };
  if (name.compare(MAPPED_PREFIX, 0, MAPPED_PREFIX.length, 8, 20) === 0)
    return { address: dotted(name, 20), port };
  const groups = Array.from({ length: 8 }, (_, index) => name.readUInt16BE(8 + index * 2).toString(16));
  return { address: new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1), port };
}

function dotted(name: Buffer, at: number): string {
  return `${name[at]}.${name[at + 1]}.${name[at + 2]}.${name[at + 3]}`;
}
