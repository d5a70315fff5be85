/**
 * What is known of one request while it goes on, for whoever tells of it afterwards: access log, metrics, the owner's
 * records. One small object a request; times are monotonic milliseconds, 0 for what was not reached.
 */
import { performance } from 'node:perf_hooks';
import type { CallerIdentity } from '#domain';
import type { AccessAdmission } from '../access/access.ts';
import type { Failure } from '../answers/failure-table.ts';
import type { FieldLines } from '../http/head-decoder.ts';
import type { RequestHead } from '../http/request-head-policy.ts';
import type { ClientFacts } from '../circuits/route-decision.ts';
import type { GatewayRoute } from '../circuits/upstream.ts';

export class RequestRecord {
  /** Also the error id on a page. */
  readonly id: string;
  readonly client: ClientFacts;
  readonly method: string;
  readonly target: string;
  readonly host: string;
  readonly isHttp10: boolean;
  /** Length of its `Cookie` lines. */
  readonly cookieBytes: number;
  /** `traceparent` as it came, when it is well-formed; else ''. */
  readonly traceParent: string;
  readonly startedMs = performance.now();
  route: GatewayRoute | undefined;
  admission: AccessAdmission | undefined;
  /** Who it is, let in or not. */
  identity: CallerIdentity | undefined;
  /** Of what was not admitted: why. */
  decision = '';
  decidedMs = 0;
  circuitMs = 0;
  firstByteMs = 0;
  doneMs = 0;
  /** That the client saw; 0: none. */
  status = 0;
  /** The answer was cut after it had begun. */
  isBrokenOff = false;
  bytesIn = 0;
  bytesOut = 0;
  /** Follows the bytes of a request that its owner asked to see. */
  tap: ExchangeTap | undefined;

  constructor(id: string, client: ClientFacts, head: RequestHead, traceParent: string) {
    this.id = id;
    this.client = client;
    this.method = head.method;
    this.target = head.target;
    this.host = head.host;
    this.isHttp10 = head.http10;
    this.cookieBytes = head.cookieBytes;
    this.traceParent = traceParent;
  }
}

/** Views are valid during the call only. */
export interface ExchangeTap {
  requestBytes(view: Uint8Array): void;
  answerHead(status: number, fields: FieldLines): void;
  answerBytes(view: Uint8Array): void;
}

export interface RequestObserver {
  /** The request is admitted and about to be sent; may set `record.tap`. */
  began(record: RequestRecord, head: RequestHead): void;
  /** The request is not admitted; `failed` follows. */
  refused(record: RequestRecord, head: RequestHead): void;
  /** A whole answer went out, of the service or of the gateway. After an upgrade: when it was granted. */
  served(record: RequestRecord): void;
  /** It was refused, or ended without a whole answer. */
  failed(record: RequestRecord, failure: Failure): void;
  /** Its client was gone before there was a whole answer; neither of the two above is called. */
  gone(record: RequestRecord): void;
  /** Called about four times a second. */
  flush(): void;
}
