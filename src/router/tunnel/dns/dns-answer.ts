/** DNS answers that the name server makes itself. Each begins with header and question of the query that it answers. */
import { CLASS_IN, HEADER_BYTES, Rcode, type DnsQuery, type RcodeValue } from './dns-query.ts';

/** Seconds for which clients may keep the address of a name, and that a name has no other records. */
export const ANSWER_TTL_SECONDS = 60;
/** Maximum bytes of an answer over UDP. Larger ones are often lost in fragments, and would serve to flood others. */
export const MAX_UDP_ANSWER_BYTES = 1232;

const FLAG_RESPONSE = 0x80;
const FLAG_AUTHORITATIVE = 0x04;
const FLAG_TRUNCATED = 0x02;
/** Opcode and RD, which an answer repeats. */
const REPEATED_BITS = 0x79;
const FLAG_RECURSION_AVAILABLE = 0x80;
/** CD, which an answer repeats. */
const FLAG_CHECKING_DISABLED = 0x10;
/** A pointer to the name of the question. */
const QUESTION_POINTER = 0xc0_00 + HEADER_BYTES;
const TYPE_A = 1;
const TYPE_SOA = 6;
const TYPE_OPT = 41;
const A_RECORD_BYTES = 16;
const OPT_RECORD_BYTES = 11;
/** Numbers of a start of authority: serial, refresh, retry, expire, minimum. */
const SOA_NUMBERS = [1, 3600, 600, 86_400, ANSWER_TTL_SECONDS] as const;
const SOA_DATA_BYTES = 2 + 2 + 4 * SOA_NUMBERS.length;
const SOA_RECORD_BYTES = 12 + SOA_DATA_BYTES;

/** Returns the answer for a name of this server that has an IPv4 address, which is four bytes. */
export function encodeNameAnswer(
  message: Buffer,
  query: DnsQuery,
  address: Uint8Array,
  isRecursive: boolean,
): Buffer {
  return query.type === TYPE_A
    ? encodeAddressAnswer(message, query, address, isRecursive)
    : encodeEmptyAnswer(message, query, Rcode.NoError, isRecursive);
}

function encodeAddressAnswer(
  message: Buffer,
  query: DnsQuery,
  address: Uint8Array,
  isRecursive: boolean,
): Buffer {
  const answer = begin(message, query, A_RECORD_BYTES, isRecursive, FLAG_AUTHORITATIVE, Rcode.NoError);
  answer[7] = 1;
  const at = writeRecordHead(answer, query.questionEnd, TYPE_A, 4);
  answer[at] = address[0]!;
  answer[at + 1] = address[1]!;
  answer[at + 2] = address[2]!;
  answer[at + 3] = address[3]!;
  return answer;
}

/**
 * Returns an answer without records for a name of this server: of another type than A with `NoError`, or one that does
 * not exist. Its start of authority limits how long clients keep that.
 */
export function encodeEmptyAnswer(
  message: Buffer,
  query: DnsQuery,
  rcode: RcodeValue,
  isRecursive: boolean,
): Buffer {
  const answer = begin(message, query, SOA_RECORD_BYTES, isRecursive, FLAG_AUTHORITATIVE, rcode);
  answer[9] = 1;
  let at = writeRecordHead(answer, query.questionEnd, TYPE_SOA, SOA_DATA_BYTES);
  // Server and mailbox are the name itself.
  at = answer.writeUInt16BE(QUESTION_POINTER, at);
  at = answer.writeUInt16BE(QUESTION_POINTER, at);
  for (const number of SOA_NUMBERS) at = answer.writeUInt32BE(number, at);
  return answer;
}

/** Returns an answer with nothing but a response code. `query` was decoded as far as it is correct. */
export function encodeFailure(
  message: Buffer,
  query: DnsQuery,
  rcode: RcodeValue,
  isRecursive: boolean,
): Buffer {
  const answer = begin(message, query, 0, isRecursive, 0, rcode);
  if (query.questionEnd === HEADER_BYTES) answer[5] = 0;
  return answer;
}

/** Returns an answer that asks the client to repeat its query over TCP. */
export function encodeTruncated(message: Buffer, query: DnsQuery, isRecursive: boolean): Buffer {
  return begin(message, query, 0, isRecursive, FLAG_TRUNCATED, Rcode.NoError);
}

function begin(
  message: Buffer,
  query: DnsQuery,
  recordBytes: number,
  isRecursive: boolean,
  flags: number,
  rcode: RcodeValue,
): Buffer {
  const { questionEnd, hasEdns } = query;
  const answer = Buffer.allocUnsafe(questionEnd + recordBytes + (hasEdns ? OPT_RECORD_BYTES : 0));
  message.copy(answer, 0, 0, questionEnd);
  answer[2] = FLAG_RESPONSE | (message[2]! & REPEATED_BITS) | flags;
  answer[3] =
    (message[3]! & FLAG_CHECKING_DISABLED) | (isRecursive ? FLAG_RECURSION_AVAILABLE : 0) | (rcode & 0x0f);
  answer[4] = 0;
  answer[5] = 1;
  answer.fill(0, 6, HEADER_BYTES);
  if (hasEdns) writeOpt(answer, rcode);
  return answer;
}

/** Writes OPT at the end of an answer, where the records before it do not reach. */
function writeOpt(answer: Buffer, rcode: RcodeValue): void {
  let at = answer.length - OPT_RECORD_BYTES;
  answer[11] = 1;
  answer[at] = 0;
  at = answer.writeUInt16BE(TYPE_OPT, at + 1);
  at = answer.writeUInt16BE(MAX_UDP_ANSWER_BYTES, at);
  answer.fill(0, at);
  answer[at] = rcode >> 4;
}

function writeRecordHead(answer: Buffer, start: number, type: number, dataBytes: number): number {
  let at = answer.writeUInt16BE(QUESTION_POINTER, start);
  at = answer.writeUInt16BE(type, at);
  at = answer.writeUInt16BE(CLASS_IN, at);
  at = answer.writeUInt32BE(ANSWER_TTL_SECONDS, at);
  return answer.writeUInt16BE(dataBytes, at);
}
