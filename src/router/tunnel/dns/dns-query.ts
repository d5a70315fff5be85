/**
 * DNS queries (RFC 1035, EDNS by RFC 6891) as far as a forwarder needs them: header, question and the OPT record. Other
 * records are skipped, and the bytes of a query are forwarded as they are. One object is filled again for each query,
 * because a name server decodes each query before it does anything else.
 */

export const HEADER_BYTES = 12;
/** Type and class of a question, after its name. */
const QUESTION_TAIL_BYTES = 4;
/** Type, class, TTL and length of a record, after its name. */
const RECORD_TAIL_BYTES = 10;
const MAX_LABEL_BYTES = 63;
const MAX_NAME_BYTES = 255;
const POINTER_BITS = 0xc0;
const TYPE_OPT = 41;
/** Transfers of zones consist of many messages. */
export const TRANSFER_TYPES: readonly number[] = [251, 252];
export const CLASS_IN = 1;
/** Maximum records after the question of a query. OPT and a signature are common. */
const MAX_EXTRA_RECORDS = 16;
/** Maximum bytes of an answer over UDP without EDNS. */
const PLAIN_UDP_BYTES = 512;

const FLAG_RESPONSE = 0x80;
const OPCODE_BITS = 0x78;

export const Rcode = {
  NoError: 0,
  FormErr: 1,
  ServFail: 2,
  NxDomain: 3,
  NotImp: 4,
  Refused: 5,
  BadVers: 16,
} as const;
export type RcodeValue = (typeof Rcode)[keyof typeof Rcode];

export class DnsQuery {
  /** The name of the question as a wire name. */
  name = '';
  type = 0;
  class = 0;
  /** Position behind the question. */
  questionEnd = 0;
  hasEdns = false;
  /** Maximum bytes of an answer over UDP. */
  maxUdpBytes = PLAIN_UDP_BYTES;

  /**
   * Reads a query. Returns undefined if it is one, a response code if that is the answer, and `ignored` for messages
   * that get no answer: responses, which could otherwise go back and forth without end, and those without a header.
   */
  decode(message: Buffer): RcodeValue | 'ignored' | undefined {
    this.questionEnd = HEADER_BYTES;
    this.hasEdns = false;
    this.maxUdpBytes = PLAIN_UDP_BYTES;
    if (message.length < HEADER_BYTES || (message[2]! & FLAG_RESPONSE) !== 0) return 'ignored';
    if ((message[2]! & OPCODE_BITS) !== 0) return Rcode.NotImp;
    if (message.readUInt16BE(4) !== 1) return Rcode.FormErr;
    const end = plainNameEnd(message, HEADER_BYTES);
    if (end < 0 || end + QUESTION_TAIL_BYTES > message.length) return Rcode.FormErr;
    // Bytes of length are below those of letters, so they remain as they are.
    this.name = message.toString('latin1', HEADER_BYTES, end - 1).toLowerCase();
    this.type = message.readUInt16BE(end);
    this.class = message.readUInt16BE(end + 2);
    this.questionEnd = end + QUESTION_TAIL_BYTES;
    return this.#readRecords(message);
  }

  /** Reads the records after the question, of which one can be OPT. */
  #readRecords(message: Buffer): RcodeValue | undefined {
    const others = message.readUInt16BE(6) + message.readUInt16BE(8);
    const records = others + message.readUInt16BE(10);
    if (records > MAX_EXTRA_RECORDS) return Rcode.FormErr;
    let version = 0;
    for (let index = 0, at = this.questionEnd; index < records; index += 1) {
      const tail = nameEnd(message, at);
      if (tail < 0 || tail + RECORD_TAIL_BYTES > message.length) return Rcode.FormErr;
      const end = tail + RECORD_TAIL_BYTES + message.readUInt16BE(tail + 8);
      if (end > message.length) return Rcode.FormErr;
      if (message.readUInt16BE(tail) === TYPE_OPT) {
        if (this.hasEdns || index < others || message[at] !== 0) return Rcode.FormErr;
        this.hasEdns = true;
        this.maxUdpBytes = Math.max(PLAIN_UDP_BYTES, message.readUInt16BE(tail + 2));
        version = message[tail + 5]!;
      }
      at = end;
    }
    return version === 0 ? undefined : Rcode.BadVers;
  }
}

/** Returns the position behind a name without compression, or -1 if it is malformed. */
function plainNameEnd(message: Buffer, start: number): number {
  let at = start;
  for (;;) {
    const length = message[at];
    if (length === undefined || length > MAX_LABEL_BYTES) return -1;
    at += 1 + length;
    if (at - start > MAX_NAME_BYTES) return -1;
    if (length === 0) return at;
  }
}

/** Returns the position behind a name that can end in a pointer, which is not followed; -1 if it is malformed. */
function nameEnd(message: Buffer, start: number): number {
  let at = start;
  for (;;) {
    const length = message[at];
    if (length === undefined) return -1;
    if (length >= POINTER_BITS) return at + 2;
    if (length > MAX_LABEL_BYTES) return -1;
    at += 1 + length;
    if (at - start > MAX_NAME_BYTES) return -1;
    if (length === 0) return at;
  }
}
