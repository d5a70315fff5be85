/**
 * Decides what a query is answered: an address of a name of a service, what the upstreams answer, or the response code of
 * `dnsUnanswerable`. It is the hot path of the name server: an answer for a known name is made at once, without a promise
 * and without an object for the client.
 */
import { addressKey, messageOf, TokenBuckets, type Clock, type Log } from '#base';
import type { TunnelOptions } from '../../config/schema/tunnel-schema.ts';
import {
  encodeEmptyAnswer,
  encodeFailure,
  encodeNameAnswer,
  encodeTruncated,
  MAX_UDP_ANSWER_BYTES,
} from './dns-answer.ts';
import { CLASS_IN, DnsQuery, Rcode, TRANSFER_TYPES, type RcodeValue } from './dns-query.ts';
import type { InterceptedNames, NameRecord } from './intercepted-names.ts';
import { QueryForwarder } from './query-forwarder.ts';
import type { Upstreams } from './upstreams.ts';

/** The answer comes later: `answerLater` has to be called before the next query. */
export const LATER = Symbol('later');

export interface QueryClient {
  readonly address: string;
  /** Whether it can take an answer of any length. */
  readonly isStream: boolean;
}

/** Receives an answer, or undefined if there is none. */
export type Answered = (answer: Buffer | undefined) => void;

export interface QueryResponderOptions {
  readonly names: InterceptedNames;
  readonly upstreams: Upstreams;
  readonly unanswerable: TunnelOptions['dnsUnanswerable'];
  readonly clock: Clock;
  readonly log: Log;
}

/** Queries above this length are no queries of resolvers. */
const MAX_FORWARDED_BYTES = 4_096;
/** New names that one client may make from wildcards. */
const NEW_NAMES = { perSecond: 50, burst: 1_000 };
/** Maximum clients that wait for a name to get its address. */
const MAX_WAITING_FOR_NAMES = 1_024;
/** Log lines about names without an address. */
const LOG_LINES = { perSecond: 1 / 60, burst: 1 };

export class QueryResponder {
  readonly #options: QueryResponderOptions;
  readonly #forwarder: QueryForwarder;
  readonly #newNames: TokenBuckets;
  readonly #logLines: TokenBuckets;
  /** The query that `answer` read last. */
  readonly #query = new DnsQuery();
  /** Whether answers say that other names are answered, too. */
  readonly #isRecursive: boolean;
  #waitingForNames = 0;
  /** Functions to call when a query for a wire name arrives. */
  readonly #watched = new Map<string, () => void>();

  constructor(options: QueryResponderOptions) {
    const { upstreams, clock } = options;
    this.#options = options;
    this.#forwarder = new QueryForwarder(upstreams);
    this.#newNames = new TokenBuckets(NEW_NAMES, clock);
    this.#logLines = new TokenBuckets(LOG_LINES, clock);
    this.#isRecursive = !upstreams.isEmpty;
  }

  /** Returns the answer, undefined if the message has no answer, or `LATER`. */
  answer(message: Buffer): Buffer | undefined | typeof LATER {
    const query = this.#query;
    const rcode = query.decode(message);
    if (rcode === 'ignored') return undefined;
    if (rcode !== undefined) return this.#failure(message, rcode);
    if (query.class !== CLASS_IN || TRANSFER_TYPES.includes(query.type))
      return this.#failure(message, Rcode.Refused);
    const { names, upstreams } = this.#options;
    const record = names.find(query.name);
    if (record !== undefined && record.ready === undefined) return this.#local(message, record);
    if (record !== undefined || names.isCovered(query.name)) return LATER;
    const notice = this.#watched.get(query.name);
    if (notice !== undefined) {
      notice();
      return encodeEmptyAnswer(message, query, Rcode.NxDomain, this.#isRecursive);
    }
    if (upstreams.isEmpty) return this.#unanswerable(message);
    // A probe that comes back shows a loop, and must not go round again.
    if (upstreams.noticeQuery(query.name)) return this.#failure(message, Rcode.Refused);
    return message.length > MAX_FORWARDED_BYTES ? this.#failure(message, Rcode.FormErr) : LATER;
  }

  /** Calls `notice` when a query for a wire name arrives, until the returned function is called. */
  watch(name: string, notice: () => void): () => void {
    this.#watched.set(name, notice);
    return () => void this.#watched.delete(name);
  }

  /** Answers the message for which `answer` has just returned `LATER`. The message must not be changed afterwards. */
  answerLater(message: Buffer, client: QueryClient, answered: Answered): void {
    const query = this.#query;
    if (this.#options.names.isCovered(query.name)) {
      this.#answerName(message, client, answered);
      return;
    }
    const { maxUdpBytes } = query;
    this.#forwarder.forward(message, query, client, (answer) => {
      if (answer === undefined) answered(this.#again(message, () => this.#unanswerable(message)));
      else if (client.isStream || answer.length <= Math.min(maxUdpBytes, MAX_UDP_ANSWER_BYTES))
        answered(answer);
      else answered(this.#again(message, () => encodeTruncated(message, query, this.#isRecursive)));
    });
  }

  /** Gives a name its address, or waits until it has it. */
  #answerName(message: Buffer, client: QueryClient, answered: Answered): void {
    const record = this.#recordOf(message, client);
    if (Buffer.isBuffer(record)) {
      answered(record);
      return;
    }
    if (record.ready === undefined) {
      answered(this.#local(message, record));
      return;
    }
    if (this.#waitingForNames >= MAX_WAITING_FOR_NAMES) {
      answered(this.#failure(message, Rcode.ServFail));
      return;
    }
    this.#waitingForNames += 1;
    void record.ready.then(() => {
      this.#waitingForNames -= 1;
      answered(
        this.#again(message, () =>
          record.isLive ? this.#local(message, record) : this.#failure(message, Rcode.ServFail),
        ),
      );
    });
  }

  /** Returns the record of the name, which may be new, or the answer if it cannot have one. */
  #recordOf(message: Buffer, { address }: QueryClient): NameRecord | Buffer {
    const { names, log } = this.#options;
    const { name } = this.#query;
    const known = names.find(name);
    if (known !== undefined) return known;
    if (this.#newNames.take(addressKey(address)) > 0) return this.#failure(message, Rcode.ServFail);
    try {
      const record = names.assign(name);
      return record ?? encodeEmptyAnswer(message, this.#query, Rcode.NxDomain, this.#isRecursive);
    } catch (error) {
      if (this.#logLines.take('') === 0)
        log.error({ err: messageOf(error) }, 'a name of a service has no address');
      return this.#failure(message, Rcode.ServFail);
    }
  }

  /** Reads the message again, because other queries came in the meantime. */
  #again<T>(message: Buffer, answer: () => T): T {
    this.#query.decode(message);
    return answer();
  }

  #local(message: Buffer, record: NameRecord): Buffer {
    const query = this.#query;
    record.lastAskedMs = this.#options.clock.nowMs();
    return encodeNameAnswer(message, query, record.addressBytes, this.#isRecursive);
  }

  #failure(message: Buffer, rcode: RcodeValue): Buffer {
    return encodeFailure(message, this.#query, rcode, this.#isRecursive);
  }

  #unanswerable(message: Buffer): Buffer | undefined {
    const { unanswerable } = this.#options;
    if (unanswerable === 'timeout') return undefined;
    return this.#failure(message, unanswerable === 'servfail' ? Rcode.ServFail : Rcode.Refused);
  }
}
