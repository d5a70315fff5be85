/** The gateway's own responses to a client: failure pages and local answers. Each is reported to the observer once. */
import { performance } from 'node:perf_hooks';
import { messageOf } from '#base';
import { failAlone } from '#net';
import type { OwnAnswer, AccessRefusal } from '../access/access.ts';
import type { RequestHead } from '../http/request-head-policy.ts';
import { askedOf, type ErrorAnswer } from '../answers/asked-answer.ts';
import { encodeErrorAnswer } from '../answers/error-page.ts';
import { FAILURES, type Failure } from '../answers/failure-table.ts';
import { recordFailure, recordGone, type ClientOutcome } from './failure-record.ts';
import type { GatewayContext } from './gateway-context.ts';
import { encodeLocalAnswer, type LocalAnswer } from '../answers/local-answer.ts';
import { addedToOwn } from '../answers/policy-headers.ts';
import type { PageHelp } from '../answers/page-help.ts';
import type { RequestRecord } from './request-record.ts';
import type { SocketWriter } from './socket-writer.ts';

export class ClientAnswers {
  readonly #context: GatewayContext;
  readonly #writer: SocketWriter;
  readonly #address: string;

  constructor(context: GatewayContext, writer: SocketWriter, address: string) {
    this.#context = context;
    this.#writer = writer;
    this.#address = address;
  }

  /**
   * Returns whether the connection may be kept. `record` is undefined if no request could be read; `lines` are
   * added to the head.
   */
  failure(
    record: RequestRecord | undefined,
    failure: Failure,
    asked: ErrorAnswer,
    lines: readonly string[] = [],
    error?: unknown,
    help?: PageHelp,
  ): boolean {
    const errorId = record?.id ?? this.#context.records.nextId();
    const keepAlive = asked.keepAlive && !this.#context.draining;
    this.reportFailure(record, failure, { status: failure.status, errorId }, error);
    const contact = record?.route?.rules.rules.contact ?? null;
    const all = [...lines, ...addedToOwn(record?.policyHeaders)];
    const page = ownPageOf(record, failure);
    this.#write(
      encodeErrorAnswer(failure, errorId, { ...asked, keepAlive }, all, { ...help, contact, page }),
    );
    return keepAlive;
  }

  /** Answers a request that is not forwarded. It counts as traffic of its share. */
  verdict(record: RequestRecord, head: RequestHead, verdict: AccessRefusal | OwnAnswer): boolean {
    const asked = askedOf(head);
    if (verdict.type === 'answer') return this.#own(record, verdict.answer, asked);
    const { failure, lines, help } = verdict;
    // A request on another share's connection counts for no share.
    const isMisdirected = failure.status === 421;
    this.#context.observer.refused(record, head);
    if (!isMisdirected) record.route?.slot.traffic.answered(failure.status, 0);
    const kept = { ...asked, keepAlive: asked.keepAlive && !isMisdirected };
    return this.failure(record, failure, kept, lines, undefined, help);
  }

  #own(record: RequestRecord, answer: LocalAnswer, asked: ErrorAnswer): boolean {
    const keepAlive = asked.keepAlive && !this.#context.draining;
    record.status = answer.status;
    record.doneMs = performance.now();
    record.route?.slot.traffic.answered(answer.status, record.doneMs - record.startedMs);
    this.#context.observer.served(record);
    const lines = [...answer.lines, ...addedToOwn(record.policyHeaders)];
    this.#write(encodeLocalAnswer({ ...answer, lines }, { isHead: asked.isHead, keepAlive }));
    return keepAlive;
  }

  reportFailure(
    record: RequestRecord | undefined,
    failure: Failure,
    outcome: ClientOutcome,
    error?: unknown,
  ): void {
    const { counters, log, observer } = this.#context;
    counters.failures += 1;
    recordFailure(log, failure, { route: record?.route, client: this.#clientOf(record), ...outcome });
    if (failure.code === FAILURES.internal.code)
      failAlone({ kind: 'request', id: record?.id ?? 'without a head', log }, error ?? failure.cause);
    if (record === undefined) return;
    if (typeof outcome.status === 'number') record.status = outcome.status;
    else record.isBrokenOff = true;
    record.doneMs = performance.now();
    observer.failed(record, failure);
  }

  /** Reports a request whose client disconnected before its answer, unless it failed before. */
  reportUnanswered(record: RequestRecord | undefined): void {
    if (record === undefined || record.doneMs > 0) return;
    record.doneMs = performance.now();
    this.#context.observer.gone(record);
  }

  /** Reports an exception in the gateway's own code. */
  reportFault(record: RequestRecord | undefined, error: unknown): void {
    const failure = { ...FAILURES.internal, cause: messageOf(error) };
    this.reportFailure(record, failure, { status: 'broken off' }, error);
  }

  reportEnd(record: RequestRecord | undefined, cause: string): void {
    recordGone(this.#context.log, cause, record?.route, this.#clientOf(record));
  }

  #clientOf(record: RequestRecord | undefined): string {
    return record?.client.address ?? this.#address;
  }

  #write(bytes: Uint8Array): void {
    this.#writer.batch.view(bytes);
    this.#writer.written();
  }
}

/** Only callers that the access rules admit see it. Maintenance is decided after them. */
function ownPageOf(record: RequestRecord | undefined, { code }: Failure): string | undefined {
  const isAdmitted = record?.admission !== undefined || code === 'maintenance';
  return isAdmitted ? record?.route?.share.upstream?.errorPage : undefined;
}
