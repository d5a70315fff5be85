/** Receives datagrams with their sources and original destinations by `recvmsg`. Used in a thread of its own, which it blocks. */
import { getRawPointer } from 'node:ffi';
import { readSocketAddress, type SocketAddress, type SocketCalls } from '../machine/socket-calls.ts';

const MSG_DONTWAIT = 0x40;
const MSG_TRUNC = 0x20;
const IPPROTO_IP = 0;
const IPPROTO_IPV6 = 41;
const IP_ORIGDSTADDR = 20;
const IPV6_ORIGDSTADDR = 74;

/** The largest payload of UDP. */
const MAX_DATAGRAM_BYTES = 65_535;
const NAME_BYTES = 28;
const CONTROL_BYTES = 256;
/** `struct msghdr`: name, its length, vectors, their number, control data, its length, flags. */
const MSGHDR_BYTES = 56;
const NAME_LENGTH_AT = 8;
const CONTROL_LENGTH_AT = 40;
const FLAGS_AT = 48;
/** `struct cmsghdr`: length, level, type; data follows. */
const CMSG_HEADER_BYTES = 16;

export interface InterceptedDatagram {
  readonly data: Uint8Array;
  readonly source: SocketAddress;
  /** The address that the source sent it to. */
  readonly destination: SocketAddress;
}

export class DatagramReader {
  readonly #calls: Pick<SocketCalls, 'recvmsg'>;
  readonly #fd: number;
  readonly #data = Buffer.alloc(MAX_DATAGRAM_BYTES);
  readonly #name = Buffer.alloc(NAME_BYTES);
  readonly #control = Buffer.alloc(CONTROL_BYTES);
  readonly #vector = Buffer.alloc(16);
  readonly #header = Buffer.alloc(MSGHDR_BYTES);

  constructor(calls: Pick<SocketCalls, 'recvmsg'>, fd: number) {
    this.#calls = calls;
    this.#fd = fd;
    this.#vector.writeBigUInt64LE(getRawPointer(this.#data), 0);
    this.#vector.writeBigUInt64LE(BigInt(MAX_DATAGRAM_BYTES), 8);
    this.#header.writeBigUInt64LE(getRawPointer(this.#name), 0);
    this.#header.writeBigUInt64LE(getRawPointer(this.#vector), 16);
    this.#header.writeBigUInt64LE(1n, 24);
    this.#header.writeBigUInt64LE(getRawPointer(this.#control), 32);
  }

  /**
   * Returns the next datagram; undefined if none came within the socket's time, or is there now if `waits` is false. One
   * whose destination the system does not report is skipped.
   */
  next(waits: boolean): InterceptedDatagram | undefined {
    for (;;) {
      this.#header.writeUInt32LE(NAME_BYTES, NAME_LENGTH_AT);
      this.#header.writeBigUInt64LE(BigInt(CONTROL_BYTES), CONTROL_LENGTH_AT);
      const length = this.#calls.recvmsg(this.#fd, this.#header, waits ? 0 : MSG_DONTWAIT);
      if (length < 0) return undefined;
      const destination = this.#destination();
      if (destination === undefined || (this.#header.readUInt32LE(FLAGS_AT) & MSG_TRUNC) !== 0) continue;
      const data = new Uint8Array(length);
      data.set(this.#data.subarray(0, length));
      return { data, source: readSocketAddress(this.#name), destination };
    }
  }

  #destination(): SocketAddress | undefined {
    const end = Number(this.#header.readBigUInt64LE(CONTROL_LENGTH_AT));
    for (let at = 0; at + CMSG_HEADER_BYTES <= end;) {
      const length = Number(this.#control.readBigUInt64LE(at));
      const level = this.#control.readInt32LE(at + 8);
      const type = this.#control.readInt32LE(at + 12);
      const isOurs =
        (level === IPPROTO_IP && type === IP_ORIGDSTADDR) ||
        (level === IPPROTO_IPV6 && type === IPV6_ORIGDSTADDR);
      if (isOurs) return readSocketAddress(this.#control.subarray(at + CMSG_HEADER_BYTES, at + length));
      // Entries are aligned to eight bytes.
      at += Math.max(CMSG_HEADER_BYTES, (length + 7) & ~7);
    }
    return undefined;
  }
}
