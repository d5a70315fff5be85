/** Sockets that calls of the C library open, with options that Node does not set. */
import { FrontdoorError } from '#base';
import { parseAddress } from '#domain';
import { AF_INET, SOCKADDR_IN6_BYTES, type SocketAddress, type SocketCalls } from './socket-calls.ts';

const AF_INET6 = 10;
export const SOCK_STREAM = 1;
export const SOCK_DGRAM = 2;
export const SOCK_NONBLOCK = 0o4000;
const SOCK_CLOEXEC = 0o2000000;
export const SOL_SOCKET = 1;
export const SO_RCVTIMEO = 20;
export const SO_RCVBUF = 8;
const SOCKADDR_IN_BYTES = 16;

/** A socket that the C library has opened. */
export interface RawSocket {
  readonly fd: number;
  readonly port: number;
}

type SetOption = (level: number, option: number, value: Buffer) => void;

/**
 * Opens a socket of a type, sets its options, and binds it. `kind` is part of messages.
 * @throws FrontdoorError `unavailable` if the system refuses one of it.
 */
export function openRawSocket(
  c: SocketCalls,
  { address, port }: SocketAddress,
  {
    type,
    kind,
    setOptions,
  }: { type: number; kind: string; setOptions(set: SetOption, family: number): void },
): RawSocket {
  const bytes = parseAddress(address)!;
  const family = bytes.length === 4 ? AF_INET : AF_INET6;
  const fd = c.socket(family, type | SOCK_CLOEXEC, 0);
  const fail = (call: string): never => {
    if (fd >= 0) c.close(fd);
    const message = `the system refused a ${kind} socket at ${address} port ${port} (${call})`;
    throw new FrontdoorError('unavailable', 'no-transparent-sockets', message);
  };
  if (fd < 0) fail('socket');
  setOptions((level, option, value) => {
    if (c.setsockopt(fd, level, option, value, value.length) !== 0) fail(`setsockopt ${level}/${option}`);
  }, family);
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

export function flag(value: boolean): Buffer {
  return int(Number(value));
}

export function int(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeInt32LE(value);
  return buffer;
}

export function timeval(ms: number): Buffer {
  const buffer = Buffer.alloc(16);
  buffer.writeBigInt64LE(BigInt(Math.floor(ms / 1_000)), 0);
  buffer.writeBigInt64LE(BigInt((ms % 1_000) * 1_000), 8);
  return buffer;
}
