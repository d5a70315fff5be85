/** The client's connection, as an exchange uses it. */
import type { ErrorAnswer } from '../answers/asked-answer.ts';
import type { Failure } from '../answers/failure-table.ts';
import type { Upstream } from '../circuits/upstream.ts';
import type { ClientInput } from './client-input.ts';
import type { SocketWriter } from './socket-writer.ts';

/** What a relay needs of it. */
export interface RelayClient {
  readonly writer: SocketWriter;
  readonly input: ClientInput;
  deadlineIn(ms: number): void;
  exchangeBroken(failure: Failure, error?: unknown): void;
}

export interface ExchangeClient extends RelayClient {
  exchangeDone(keepAlive: boolean): void;
  exchangeFailed(failure: Failure, asked: ErrorAnswer, error?: unknown): void;
  /** `ending` completes the response so that it says what failed; '': it is cut. */
  exchangeBroken(failure: Failure, error?: unknown, ending?: string): void;
  exchangeUpgraded(upstream: Upstream, rest: Buffer | undefined): void;
}
