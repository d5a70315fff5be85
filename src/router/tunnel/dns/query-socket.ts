/**
 * Receives queries and sends answers by calls of the C library that read and write the same memory each time: Node's own
 * sockets make four objects for each datagram, which cost more than the query.
 */
import { SOCKADDR_IN6_BYTES, type SocketCalls } from '../machine/socket-calls.ts';
import { MAX_UDP_ANSWER_BYTES } from './dns-answer.ts';

const MSG_DONTWAIT = 0x40;
/** The largest payload of UDP. */
const MAX_DATAGRAM_BYTES = 65_535;

/** `struct msghdr`: name, its length, vectors, their number. Control data and flags follow. */
const MSGHDR_BYTES = 56;
const NAME_LENGTH_AT = 8;
const VECTORS_AT = 16;
const VECTOR_COUNT_AT = 24;
/** `struct iovec`: memory, its length. */
const IOVEC_BYTES = 16;
const VECTOR_LENGTH_AT = MSGHDR_BYTES + 8;

/** A `struct msghdr` with one vector. It keeps the memory that it points to. */
class MessageHeader {
  readonly pointer: bigint;
  readonly #bytes: Buffer = fixedMemory(MSGHDR_BYTES + IOVEC_BYTES);
  readonly data: Buffer;
  readonly name: Buffer;

  constructor({ pointerTo }: SocketCalls, name: Buffer, data: Buffer) {
    const bytes = this.#bytes;
    this.pointer = pointerTo(bytes);
    this.name = name;
    this.data = data;
    bytes.writeBigUInt64LE(pointerTo(name), 0);
    bytes.writeBigUInt64LE(this.pointer + BigInt(MSGHDR_BYTES), VECTORS_AT);
    bytes.writeBigUInt64LE(1n, VECTOR_COUNT_AT);
    bytes.writeBigUInt64LE(pointerTo(data), MSGHDR_BYTES);
    this.reset(data.length);
  }

  reset(dataBytes: number): void {
    this.#bytes.writeUInt32LE(SOCKADDR_IN6_BYTES, NAME_LENGTH_AT);
    this.#bytes.writeUInt32LE(dataBytes, VECTOR_LENGTH_AT);
  }
}

export class QuerySender {
  readonly #calls: SocketCalls;
  readonly #fd: number;
  readonly #header: MessageHeader;

  constructor(calls: SocketCalls, fd: number) {
    this.#calls = calls;
    this.#fd = fd;
    this.#header = new MessageHeader(
      calls,
      fixedMemory(SOCKADDR_IN6_BYTES),
      fixedMemory(2 * MAX_UDP_ANSWER_BYTES),
    );
  }

  /**
   * Sends an answer to a source of a query. One that the system does not take, such as for an address without a route, for
   * port 0 or while its memory is full, is lost like one on the network.
   */
  send(answer: Buffer, source: Buffer): void {
    const { name, data, pointer } = this.#header;
    if (answer.length > data.length) return;
    source.copy(name);
    answer.copy(data);
    this.#header.reset(answer.length);
    this.#calls.sendmsg(this.#fd, pointer, MSG_DONTWAIT);
  }
}

export class QueryReceiver {
  readonly #calls: SocketCalls;
  readonly #fd: number;
  readonly #header: MessageHeader;

  constructor(calls: SocketCalls, fd: number) {
    this.#calls = calls;
    this.#fd = fd;
    const source = fixedMemory(SOCKADDR_IN6_BYTES);
    this.#header = new MessageHeader(calls, source, fixedMemory(MAX_DATAGRAM_BYTES));
  }

  /** The source of the last query, until the next one is received. */
  get source(): Buffer {
    return this.#header.name;
  }

  /** Waits for a query. Its memory is used again for the next one. Returns undefined if none came within a time. */
  receive(): Buffer | undefined {
    const { data, pointer } = this.#header;
    this.#header.reset(data.length);
    const length = this.#calls.recvmsg(this.#fd, pointer, 0);
    return length < 0 ? undefined : data.subarray(0, length);
  }
}

/** Returns memory that stays where it is. */
function fixedMemory(bytes: number): Buffer {
  return Buffer.from(new ArrayBuffer(bytes));
}
