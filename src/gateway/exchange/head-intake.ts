/** Reads the heads of one client's requests, within the bounds of one head and the budget of all. */
import { callerAddress } from '../access/rate-limits.ts';
import { refusedHead, type RefusedHead } from '../answers/cookie-bomb.ts';
import { askedUnread } from '../answers/asked-answer.ts';
import { failureOfRequest, type Failure } from '../answers/failure-table.ts';
import { HeadBuffer } from '../http/head-buffer.ts';
import { readRequestHead, refusalOfStart } from '../http/request-head-policy.ts';
import { HeadAllowance } from '../limits/head-budget.ts';
import type { GatewayContext } from './gateway-context.ts';
import type { RequestClients } from './request-clients.ts';

/** For a head of which too little arrived. */
export function unread(failure: Failure): RefusedHead {
  return { failure, lines: [], asked: askedUnread() };
}

export class HeadIntake {
  readonly #context: GatewayContext;
  readonly #clients: RequestClients;
  readonly #heads: HeadBuffer;
  readonly #allowance: HeadAllowance;

  /** `evict` is called when an unfinished head has to make room for those of others. */
  constructor(context: GatewayContext, clients: RequestClients, evict: (refused: RefusedHead) => void) {
    const { limits, headBudget } = context;
    this.#context = context;
    this.#clients = clients;
    const allowance = new HeadAllowance(
      () => callerAddress(clients.connection.address),
      () => evict(unread(failureOfRequest('too-many-heads'))),
    );
    this.#allowance = allowance;
    const account = (bytes: number): boolean => {
      if (bytes > 0) return headBudget.hold(allowance, bytes);
      headBudget.finish(allowance);
      return true;
    };
    this.#heads = new HeadBuffer(limits.maxHeadBytes, limits.maxRequestLineBytes, { account });
  }

  /** Whether a part of a head has arrived. */
  get isPartial(): boolean {
    return this.#heads.isPartial;
  }

  /** Bytes that followed the head in the last piece. */
  get rest(): Buffer | undefined {
    return this.#heads.rest;
  }

  /** Returns true when the context's scratch object has the head, false if more bytes are needed, or why there is none. */
  take(bytes: Buffer): RefusedHead | boolean {
    const heads = this.#heads;
    const start = heads.isPartial ? undefined : refusalOfStart(bytes[0]!, this.#clients.connection.isSecure);
    if (start !== undefined) return unread(failureOfRequest(start));
    if (!heads.push(bytes)) return false;
    const { headBudget, limits, requestHead, table } = this.#context;
    const refusal =
      heads.refusal ??
      readRequestHead(heads.text, limits.maxFields, requestHead) ??
      (headBudget.serve(this.#allowance, heads.text.length) ? undefined : 'too-many-heads');
    if (refusal === undefined) return true;
    const isServed = (host: string): boolean => table.find(host) !== undefined;
    return refusedHead(refusal, heads.text, isServed, this.#clients.isSecure(heads.text));
  }

  /** The request is over, or the connection is. */
  forget(): void {
    this.#heads.clear();
    this.#context.headBudget.served(this.#allowance);
  }
}
