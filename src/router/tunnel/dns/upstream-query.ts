/** A query on its way to an upstream, and how its answer is recognized. */
import { randomFillSync } from 'node:crypto';
import { HEADER_BYTES, Rcode } from './dns-query.ts';

export interface UpstreamQuery {
  /** The query as the client sent it. It is not changed. */
  readonly message: Buffer;
  /** Position behind the question. */
  readonly questionEnd: number;
  /** Whether the client can take an answer of any length. */
  readonly isStream: boolean;
}

/** Called once with an answer whose id is not that of the client, or with undefined if there is none. */
export type UpstreamAnswered = (answer: Buffer | undefined) => void;

const FLAG_RESPONSE = 0x80;
const FLAG_TRUNCATED = 0x02;
const RCODE_BITS = 0x0f;
const RANDOM_IDS = 1_024;

/** Random ids, of which one call to the system makes many. */
class RandomIds {
  readonly #ids = new Uint16Array(RANDOM_IDS);
  #next = RANDOM_IDS;

  next(): number {
    if (this.#next === RANDOM_IDS) {
      randomFillSync(this.#ids);
      this.#next = 0;
    }
    const id = this.#ids[this.#next]!;
    this.#next += 1;
    return id;
  }
}

const ids = new RandomIds();

/** Returns a random id that is not yet in use. */
export function randomId(used: ReadonlyMap<number, unknown>): number {
  for (;;) {
    const id = ids.next();
    if (!used.has(id)) return id;
  }
}

/** Returns a copy of a message with another id. */
export function withId(message: Buffer, id: number): Buffer {
  const copy = Buffer.allocUnsafe(message.length);
  message.copy(copy);
  copy.writeUInt16BE(id, 0);
  return copy;
}

/** Whether a message is a response to the question of the query. Its id is checked elsewhere. */
export function isAnswerTo({ message, questionEnd }: UpstreamQuery, answer: Buffer): boolean {
  return (
    answer.length >= questionEnd &&
    (answer[2]! & FLAG_RESPONSE) !== 0 &&
    answer.readUInt16BE(4) === 1 &&
    answer.compare(message, HEADER_BYTES, questionEnd, HEADER_BYTES, questionEnd) === 0
  );
}

export function isTruncated(answer: Buffer): boolean {
  return (answer[2]! & FLAG_TRUNCATED) !== 0;
}

export function rcodeOf(answer: Buffer): number {
  return answer[3]! & RCODE_BITS;
}

/** Ranks answers by their response code: the answer of the upstream that knows most is the best one. */
export function rankOf(answer: Buffer): number {
  const order: readonly number[] = [Rcode.Refused, Rcode.ServFail, Rcode.NxDomain, Rcode.NoError];
  return order.indexOf(rcodeOf(answer));
}
