/** Which interim responses of a service are passed on: a few at once, and some a second. Further ones are dropped. */
import { encodeClientHead } from '../http/forward-head-codec.ts';
import type { ResponseHead } from '../http/response-head-policy.ts';
import type { GatewayLimits } from '../limits/gateway-limits.ts';
import type { RequestRecord } from './request-record.ts';
import type { SocketWriter } from './socket-writer.ts';

interface RateContext {
  readonly nowMs: number;
  readonly limits: Pick<GatewayLimits, 'interimBurst' | 'interimsPerS'>;
}

export class InterimRate {
  readonly #context: RateContext;
  #left: number;
  #sinceMs: number;

  constructor(context: RateContext) {
    this.#context = context;
    this.#left = context.limits.interimBurst;
    this.#sinceMs = context.nowMs;
  }

  /** What the client waits for (`isExpected`) is not dropped. HTTP/1.0 has no interim responses. */
  pass(head: ResponseHead, isExpected: boolean, record: RequestRecord, writer: SocketWriter): void {
    const isPassed = isExpected || (this.take() && !writer.isFull);
    if (isPassed && !record.isHttp10) writer.send(encodeClientHead(head, record, ''));
  }

  take(): boolean {
    const { nowMs, limits } = this.#context;
    const earned = ((nowMs - this.#sinceMs) * limits.interimsPerS) / 1_000;
    this.#left = Math.min(limits.interimBurst, this.#left + earned);
    this.#sinceMs = nowMs;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}
